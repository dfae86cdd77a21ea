"""The lines of theory of a comparison: the ceiling and the BDP of each path that was measured."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from apps.bench import network, units
from apps.comparison.comparisons.contrast import Comparison
from apps.comparison.comparisons.figure_rows import Row
from apps.results import charts, queries
from apps.results.theory import CEILINGS, bdp_label
from apps.testbeds import queries as testbeds

# More paths than this would cover the chart with lines.
MOST_PATHS = 4
Line = dict[str, object]
Paths = dict[tuple[int, ...], tuple[network.Path, str]]


def lines_of(made: Comparison) -> list[Line]:
    """Return the lines of the chart; none where ratios are shown, or where too many paths were measured."""
    bits = charts.RATE_BITS.get(made.unit)
    by_window = made.axis.name == "window" and made.axis.numeric
    paths = dict(paths_of(made).values()) if bits or by_window else {}
    if len(paths) > MOST_PATHS:
        return []
    lines: dict[tuple[object, ...], Line] = {}
    for path, transport in paths.items():
        if path.bottleneck is None or path.capacity_bps is None:
            continue
        if bits and transport and not made.state.ratio:
            ceiling = (_ceiling(path, transport) or 0.0) / bits
            text = _("Ceiling of the path (%(link)s): %(rate)s") % {
                "link": path.bottleneck.name,
                "rate": units.format_quantity(ceiling, made.unit),
            }
            lines["y", ceiling] = {"axis": "y", "value": ceiling, "label": text}
        if by_window and path.rtt_s:
            bdp = network.bdp_bytes(path.capacity_bps, path.rtt_s) or 0
            lines["x", bdp] = {"axis": "x", "value": bdp, "label": bdp_label(path)}
    return list(lines.values())


def ceiling_of(made: Comparison, lanes: Iterable[int]) -> float | None:
    """Return what no figure of lanes exceeds, in the unit of the comparison; None where a path is not known."""
    bits = charts.RATE_BITS.get(made.unit)
    if not bits:
        return None
    found = paths_of(made)
    highest = 0.0
    for lane in set(lanes):
        path, transport = found.get(_ends_of(made, lane), (None, ""))
        rate = _ceiling(path, transport) if path else None
        if rate is None:
            return None
        highest = max(highest, rate / bits)
    return highest or None


def paths_of(made: Comparison) -> Paths:
    """Return {ends: (path, transport)} of the lanes that have figures, found once; one graph for each team."""
    if made.paths is None:
        made.paths = _paths(made)
    return made.paths


def _paths(made: Comparison) -> Paths:
    gathered = made.gathered
    pairs: dict[tuple[int, int], str] = {}
    for row in _each_lane(made):
        ends = _ends_of(made, row.lane)
        if len(ends) == 2 and all(node in gathered.nodes for node in ends):
            pairs[ends[0], ends[1]] = gathered.tool_of(row).transport
    if len(pairs) > 10 * MOST_PATHS:
        return {}
    graphs = {team: testbeds.graph(team) for team in {gathered.nodes[first].team_id for first, _second in pairs}}
    found: Paths = {}
    for (first, second), transport in pairs.items():
        a, b = gathered.nodes[first], gathered.nodes[second]
        path = graphs[a.team_id].path(a, b) if a.team_id == b.team_id else None
        if path:
            found[first, second] = path, transport
    return found


def _ends_of(made: Comparison, lane: int) -> tuple[int, ...]:
    """Return the first nodes of the roles on a lane."""
    found = made.gathered.lanes[lane]
    tool = made.gathered.tools[made.gathered.experiments[found.experiment_id].tool]
    return tuple(node for _role, node in queries.ends_of(found, tool))


def _ceiling(path: network.Path, transport: str) -> float | None:
    """Return what the path carries of a transport, in bit/s."""
    if path.bottleneck is None or path.capacity_bps is None or not transport:
        return None
    return CEILINGS[transport](path.capacity_bps, path.mtu or 1500)


def _each_lane(made: Comparison) -> Iterable[Row]:
    return {row.lane: row for rows in made.gathered.rows for row in rows}.values()
