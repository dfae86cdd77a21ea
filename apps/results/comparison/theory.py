"""The lines of theory of a comparison: the ceiling and the BDP of each path that was measured."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from apps.bench import network, units
from apps.bench.tools.base import Tool
from apps.results import charts, queries
from apps.results.comparison.building import Comparison
from apps.testbeds import queries as testbeds

# More paths than this would cover the chart with lines.
MOST_PATHS = 4
Line = dict[str, object]


def lines_of(made: Comparison) -> list[Line]:
    """Return the lines of the chart; none where ratios are shown, or where too many paths were measured."""
    bits = charts.RATE_BITS.get(made.unit)
    by_window = made.axis.name == "window" and made.axis.numeric
    paths = _paths(made) if bits or by_window else {}
    if len(paths) > MOST_PATHS:
        return []
    lines: dict[tuple[object, ...], Line] = {}
    for path, transport in paths.items():
        if path.bottleneck is None or path.capacity_bps is None:
            continue
        if bits and transport and not made.state.ratio:
            ceiling = (charts.CEILINGS[transport](path.capacity_bps, path.mtu or 1500) or 0.0) / bits
            text = _("Ceiling of the path (%(link)s): %(rate)s") % {
                "link": path.bottleneck.name,
                "rate": units.format_quantity(ceiling, made.unit),
            }
            lines["y", ceiling] = {"axis": "y", "value": ceiling, "label": text}
        if by_window and path.rtt_s:
            bdp = network.bdp_bytes(path.capacity_bps, path.rtt_s) or 0
            text = _("BDP: %(size)s") % {"size": units.format_quantity(bdp, "B")}
            lines["x", bdp] = {"axis": "x", "value": bdp, "label": text}
    return list(lines.values())


def _paths(made: Comparison) -> dict[network.Path, str]:
    """Return {path: the transport measured on it} of the lanes that have figures; one graph for each team."""
    gathered = made.gathered
    pairs: dict[tuple[int, int], Tool] = {}
    for row in _each_lane(made):
        tool = gathered.tool_of(row)
        ends = [node for _role, node in queries.ends_of(gathered.lanes[row.lane], tool)]
        if len(ends) == 2 and all(node in gathered.nodes for node in ends):
            pairs[ends[0], ends[1]] = tool
    if len(pairs) > 10 * MOST_PATHS:
        return {}
    graphs = {team: testbeds.graph(team) for team in {gathered.nodes[first].team_id for first, _second in pairs}}
    found: dict[network.Path, str] = {}
    for (first, second), tool in pairs.items():
        a, b = gathered.nodes[first], gathered.nodes[second]
        path = graphs[a.team_id].path(a, b) if a.team_id == b.team_id else None
        if path:
            found[path] = tool.transport
    return found


def _each_lane(made: Comparison) -> Iterable:
    return {row.lane: row for rows in made.gathered.rows for row in rows}.values()
