"""What the figures of a matrix are of: between which nodes, and at which setting."""

from collections.abc import Mapping
from dataclasses import replace

from apps.bench.toolkit import Metric, Tool, goes_back
from apps.campaigns.models import Experiment, Lane
from apps.comparison.history.points import label_of
from apps.comparison.matrix.cells import MatrixCell
from apps.results.ways import lane_ends
from apps.testbeds.models import Node

Pair = tuple[int, int]


def named(cells: Mapping[Pair, MatrixCell], tool: Tool, metric: Metric) -> dict[Pair, MatrixCell]:
    """Return the cells with their nodes and settings in words: who sent to whom, and what was varied."""
    lanes = Lane.objects.in_bulk([cell.lane for cell in cells.values()])
    node_ids = {pk for lane in lanes.values() for ids in lane.roles.values() for pk in ids}
    nodes = dict(Node.objects.filter(pk__in=node_ids).values_list("pk", "name"))
    rows = Experiment.objects.filter(pk__in={cell.experiment for cell in cells.values()}).order_by("pk")
    varied = list(
        dict.fromkeys(item["name"] for factors in rows.values_list("factors", flat=True) for item in factors)
    )
    return {
        pair: replace(
            cell,
            setting=label_of(tool, cell.parameters, varied),
            nodes=lane_ends(
                lanes[cell.lane].roles, tool, nodes, is_back=goes_back(tool, cell.parameters, metric.name)
            ),
        )
        for pair, cell in cells.items()
    }
