"""The lines of theory of a comparison: the ceiling and the BDP of each path that was measured."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from django.utils.translation import gettext as _

from apps.bench import network, units
from apps.comparison.comparisons.contrast import Comparison
from apps.comparison.comparisons.figure_rows import FigureRow
from apps.results import charts, queries
from apps.results.theory import bdp_label, ceiling_bps, length_of
from apps.testbeds import queries as testbeds

# More paths than this would cover the chart with lines.
MOST_PATHS = 4
Line = dict[str, object]
# A lane, and how long the datagrams are that were sent on it (B, None where nobody chose).
Load = tuple[int, int | None]
# The nodes of each role.
Ends = tuple[tuple[int, ...], ...]
Paths = dict[Ends, tuple[tuple[network.Path, ...], str]]


def lines_of(comparison: Comparison) -> list[Line]:
    """Return the lines of the chart; none where ratios are shown, or where too many paths were measured."""
    bits = charts.RATE_BITS.get(comparison.unit)
    by_window = comparison.axis.name == "window" and comparison.axis.numeric
    paths: dict[tuple[tuple[network.Path, ...], str], set[int | None]] = defaultdict(set)
    if bits or by_window:
        for lane, length in loads_of(row for rows in comparison.gathered.rows for row in rows):
            if own := paths_of(comparison).get(_ends_of(comparison, lane)):
                paths[own].add(length)
    if len(paths) > MOST_PATHS:
        return []
    lines: dict[tuple[object, ...], Line] = {}
    for (pairs, transport), lengths in paths.items():
        path = pairs[0]
        if path.bottleneck is None or path.capacity_bps is None:
            continue
        rate = _ceiling(pairs, transport, lengths)
        if bits and rate and not comparison.state.ratio:
            ceiling = rate / bits
            text = _("Ceiling of the path (%(link)s): %(rate)s") % {
                "link": path.bottleneck.name,
                "rate": units.format_quantity(ceiling, comparison.unit),
            }
            lines["y", ceiling] = {"axis": "y", "value": ceiling, "label": text}
        if by_window and path.rtt_s:
            bdp = network.bdp_bytes(path.capacity_bps, path.rtt_s) or 0
            lines["x", bdp] = {"axis": "x", "value": bdp, "label": bdp_label(path)}
    return list(lines.values())


def loads_of(rows: Iterable[FigureRow]) -> set[Load]:
    """Return the lanes of rows, each with the lengths of the datagrams that were sent on it."""
    return {(row.lane, length_of(row.parameters)) for row in rows}


def ceiling_of(comparison: Comparison, loads: Iterable[Load]) -> float | None:
    """Return what no figure of loads exceeds, in the unit of the comparison; None where a path is not known."""
    bits = charts.RATE_BITS.get(comparison.unit)
    if not bits:
        return None
    paths = paths_of(comparison)
    ceiling = 0.0
    for lane, length in set(loads):
        pairs, transport = paths.get(_ends_of(comparison, lane), ((), ""))
        rate = _ceiling(pairs, transport, {length}) if pairs else None
        if rate is None:
            return None
        ceiling = max(ceiling, rate / bits)
    return ceiling or None


def paths_of(comparison: Comparison) -> Paths:
    """Return {ends: (path, transport)} of the lanes that have figures, found once; one graph for each team."""
    if comparison.paths is None:
        comparison.paths = _paths(comparison)
    return comparison.paths


def _paths(comparison: Comparison) -> Paths:
    gathered = comparison.gathered
    casts: dict[Ends, str] = {}
    for row in _each_lane(comparison):
        ends = _ends_of(comparison, row.lane)
        if len(ends) == 2 and all(node in gathered.nodes for nodes in ends for node in nodes):
            casts[ends] = gathered.tool_of(row).transport
    if len(casts) > 10 * MOST_PATHS:
        return {}
    graphs = {team: testbeds.graph(team) for team in {gathered.nodes[ends[0][0]].team_id for ends in casts}}
    paths: Paths = {}
    for ends, transport in casts.items():
        pairs = [(gathered.nodes[a], gathered.nodes[b]) for a, b in network.pairs_at_once(*ends)]
        team = gathered.nodes[ends[0][0]].team_id
        own = [graphs[team].path(a, b) for a, b in pairs if a.team_id == b.team_id == team]
        known = tuple(path for path in own if path)
        if known and len(known) == len(pairs):
            paths[ends] = known, transport
    return paths


def _ends_of(comparison: Comparison, lane: int) -> Ends:
    """Return the nodes of the roles on a lane: where there are several, all of them move data at once."""
    lane_row = comparison.gathered.lanes[lane]
    tool = comparison.gathered.tools[comparison.gathered.experiments[lane_row.experiment_id].tool]
    return tuple(tuple(lane_row.roles[role]) for role, _node in queries.ends_of(lane_row, tool))


def _ceiling(pairs: Sequence[network.Path], transport: str, lengths: Collection[int | None]) -> float | None:
    """Return what the paths at once carry of a transport, in bit/s, in datagrams of these lengths."""
    return None if pairs[0].bottleneck is None else ceiling_bps(pairs, transport, lengths)


def _each_lane(comparison: Comparison) -> Iterable[FigureRow]:
    return {row.lane: row for rows in comparison.gathered.rows for row in rows}.values()
