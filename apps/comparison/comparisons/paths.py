"""The paths that were measured, and what no figure on them exceeds."""

from collections.abc import Collection, Iterable, Mapping

from apps.bench import network
from apps.comparison.comparisons.figure_rows import FigureRow, FigureRows
from apps.results import charts, queries
from apps.results.theory import ceiling_bps, length_of
from apps.testbeds import queries as testbeds
from apps.testbeds.models import Node

# Of more ends than this the paths are not looked for.
MOST_ENDS = 40
# A lane, and how long the datagrams are that were sent on it (B, None where nobody chose).
Load = tuple[int, int | None]
# The nodes of each role.
Ends = tuple[tuple[int, ...], ...]
# {lane: (paths that move data at once, transport)}.
Paths = Mapping[int, tuple[tuple[network.Path, ...], str]]
# {load: what no figure of it exceeds, None where that is not known}.
Ceilings = Mapping[Load, float | None]


def paths_of(figures: FigureRows) -> Paths:
    """Return the paths of the lanes that have figures, as far as they are known; one graph for each team."""
    lanes: dict[int, Ends] = {}
    casts: dict[Ends, str] = {}
    for row in {row.lane: row for rows in figures.rows for row in rows}.values():
        tool, lane = figures.tool_of(row), figures.lanes[row.lane]
        # Where a role has several nodes, all of them move data at once.
        ends = tuple(tuple(lane.roles[role]) for role, _node in queries.ends_of(lane, tool))
        if len(ends) == 2 and all(node in figures.nodes for nodes in ends for node in nodes):
            lanes[row.lane], casts[ends] = ends, tool.transport
    paths = described_paths(casts, figures.nodes)
    return {lane: (paths[ends], casts[ends]) for lane, ends in lanes.items() if ends in paths}


def described_paths(casts: Collection[Ends], nodes: Mapping[int, Node]) -> dict[Ends, tuple[network.Path, ...]]:
    """Return the paths that move data at once between the ends, of those that the inventory describes in full.

    None of more than MOST_ENDS. `nodes` are all that the ends name.
    """
    if len(casts) > MOST_ENDS:
        return {}
    graphs = {team: testbeds.graph(team) for team in {nodes[ends[0][0]].team_id for ends in casts}}
    paths: dict[Ends, tuple[network.Path, ...]] = {}
    for ends in casts:
        pairs = [(nodes[a], nodes[b]) for a, b in network.pairs_at_once(*ends)]
        team = nodes[ends[0][0]].team_id
        own = [graphs[team].path(a, b) for a, b in pairs if a.team_id == b.team_id == team]
        described = tuple(path for path in own if path)
        if described and len(described) == len(pairs):
            paths[ends] = described
    return paths


def loads_of(rows: Iterable[FigureRow]) -> list[Load]:
    """Return the lanes of rows, each with the lengths of the datagrams that were sent on it."""
    return list(dict.fromkeys((row.lane, length_of(row.parameters)) for row in rows))


def ceilings_of(loads: Iterable[Load], paths: Paths, unit: str) -> Ceilings:
    """Return what no figure of each load exceeds, in a unit of rates; {} of another unit."""
    bits = charts.RATE_BITS.get(unit)
    if not bits:
        return {}
    rates = {(lane, length): _rate(paths, lane, length) for lane, length in loads}
    return {load: None if rate is None else rate / bits for load, rate in rates.items()}


def ceiling_of(ceilings: Ceilings, loads: Iterable[Load]) -> float | None:
    """Return what no figure of several loads exceeds; None where that of any is not known."""
    own = [ceilings.get(load) for load in set(loads)]
    rates = [ceiling for ceiling in own if ceiling is not None]
    return max(rates) or None if rates and len(rates) == len(own) else None


def _rate(paths: Paths, lane: int, length: int | None) -> float | None:
    """Return what the paths of a lane carry at once (bit/s), in datagrams of a length."""
    own, transport = paths.get(lane, ((), ""))
    return ceiling_bps(own, transport, {length}) if own and own[0].bottleneck is not None else None
