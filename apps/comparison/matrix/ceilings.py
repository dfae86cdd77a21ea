"""What no figure of a matrix exceeds, as far as the inventory describes the path."""

from collections.abc import Mapping
from dataclasses import replace

from apps.bench.toolkit import Metric, Tool
from apps.campaigns.models import Lane
from apps.comparison.comparisons.paths import Ends, described_paths
from apps.comparison.matrix.cells import MatrixCell
from apps.results import charts, queries
from apps.results.theory import ceiling_bps, length_of
from apps.testbeds.models import Node

Pair = tuple[int, int]


def has_ceiling(tool: Tool, metric: Metric) -> bool:
    """Say whether a path holds the metric down: a rate that was reached, not one that was asked for or reckoned."""
    return metric.unit in charts.RATE_BITS and bool(metric.higher_is_better) and bool(tool.transport)


def attached(cells: Mapping[Pair, MatrixCell], tool: Tool, metric: Metric) -> dict[Pair, MatrixCell]:
    """Return the cells with their ceilings, of a metric that has one."""
    bits = charts.RATE_BITS.get(metric.unit)
    if not bits or not has_ceiling(tool, metric) or not cells:
        return dict(cells)
    lanes = Lane.objects.in_bulk([cell.lane for cell in cells.values()])
    node_ids = {pk for lane in lanes.values() for ids in lane.roles.values() for pk in ids}
    nodes = Node.objects.select_related("testbed").in_bulk(node_ids)
    ends = {pair: _ends(lanes[cell.lane], tool, nodes) for pair, cell in cells.items()}
    paths = described_paths({own for own in ends.values() if own}, nodes)

    def ceiling_of(pair: Pair, cell: MatrixCell) -> float | None:
        own = paths.get(ends[pair])
        if not own or own[0].bottleneck is None:
            return None
        rate = ceiling_bps(own, tool.transport, {length_of(cell.parameters)})
        return rate / bits if rate else None

    return {pair: replace(cell, ceiling=ceiling_of(pair, cell)) for pair, cell in cells.items()}


def _ends(lane: Lane, tool: Tool, nodes: Mapping[int, Node]) -> Ends:
    """Return the nodes of both ends, () where one is gone."""
    ends = tuple(tuple(lane.roles[role]) for role, _node in queries.ends_of(lane, tool))
    return ends if len(ends) == 2 and all(node in nodes for own in ends for node in own) else ()
