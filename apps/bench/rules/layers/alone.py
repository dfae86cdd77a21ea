"""What each client of a file system had of the network by itself, as TCP was measured between it and a server."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from apps.bench.rules import pace
from apps.bench.rules.base import BELOW, DISK, MODE, NETWORK, Evidence, Point
from apps.bench.rules.layers.again import when_alike, with_others
from apps.bench.rules.layers.days import UNKNOWN, When
from apps.bench.rules.layers.flows import best_over, flows_of, least_flows_of, streams_of
from apps.bench.rules.layers.links import ceiling_of, stated_rate
from apps.bench.rules.layers.questions import WRITE, Level, Question, level_of
from apps.bench.rules.passed import Passed
from apps.bench.rules.tcp.path import fills_surely

# TCP that moves this share of what the links carry fills them; more streams that move no more than the inverse of the
# other as much as half of them show that no more goes through.
FULL_PATH, ALONE = 0.85, 0.95


class Alone(NamedTuple):
    """The best that one client measured of the network; `is_full` if no more goes there.

    `pair` and `total` are what the links carry (B/s) between its two ends, and between the client and all servers;
    `own` is the best over as many connections as the file system opens, None where nobody measured that; over
    these it surely has `sure` (B/s): streams that share a path have no more each than by themselves. `when` says when
    the best was met.
    """

    level: Level
    is_full: bool
    pair: float | None
    total: float | None
    own: Level | None = None
    sure: float = 0.0
    when: When = UNKNOWN


def client_rates(evidence: Evidence, question: Question) -> tuple[dict[str, Alone], bool]:
    """Return the best TCP goodput (B/s) of each client the way that the data go, and if only the other was measured.

    A publication that does not say which way it measured means both.
    """
    ways: tuple[dict[str, list[Level]], dict[str, list[Level]]] = ({}, {})
    for original in evidence.points:
        if original.layer not in (NETWORK, "") or "loss" in original.metrics or not joins(original, question):
            continue
        point = pace.undisturbed(original)
        client, is_sender = client_end(point, question)
        goes = is_sender != point.goes_back()
        for metric, way in (("goodput", goes), ("goodput_reverse", not goes)):
            rates = [rate / 8 for rate in point.values(metric)]
            if not rates or min(rates) <= 0 or point.statistic in (MODE, BELOW):
                continue
            level = level_of(point, metric, rates, point.statistic)
            is_own = way == (question.metric == WRITE)
            ways[is_own].setdefault(client, []).append(level)
            if "published" in point.observed and not point.parameters.get("direction"):
                ways[not is_own].setdefault(client, []).append(level)
    alone = {client: _alone(evidence, question, client, levels) for client, levels in ways[True].items()}
    return alone, bool(ways[False]) and not alone


def _alone(evidence: Evidence, question: Question, client: str, levels: Sequence[Level]) -> Alone:
    """Return the best of a client, and whether it is shown to be all: of the links, or of any number of streams."""
    best = with_others(max(levels, key=lambda level: level.value), levels)
    names = {name for role in ("client", "server") for name in best.point.roles.get(role, ())}
    server = next((name for name in question.facts.servers if name in names), "")
    path = evidence.path_between(client, server) if server else evidence.path
    pair = ceiling_of(evidence, [[path]]) if path.capacity_bps else None
    fewer = [level for level in levels if 2 * streams_of(level) <= streams_of(best)]
    levelled = max((level.value for level in fewer), default=0.0) >= ALONE * best.value
    # A publication that prints what the network gives alone means all that it gives.
    is_printed = "published" in best.point.observed
    # What an end held shows nothing of the links, however many streams there were.
    is_held = any(pace.flags_of(level.point) for level in levels if level.value >= ALONE * best.value)
    # Nor is it all where more came through the same way in another campaign.
    passed = passed_between(evidence, question, (client,), (server,))
    is_more = passed is not None and ALONE * passed.rate_bps > 8 * best.value
    is_full = not is_more and (
        fills_surely(best.value, pair)
        or (not is_held and (levelled or is_printed or (pair is not None and best.value >= FULL_PATH * pair)))
    )
    total = stated_rate(evidence, [client], question.facts)
    own, flows = best_over(levels, flows_of(question)), least_flows_of(question)
    shares = [level.value * min(1.0, flows / streams_of(level)) if flows else level.value for level in levels]
    when = when_alike(best, [level.point for level in levels if level.metric == best.metric])
    return Alone(best, is_full, pair, total, own and with_others(own, levels), max(shares), when)


def passed_between(
    evidence: Evidence, question: Question, clients: Iterable[str], servers: Iterable[str]
) -> Passed | None:
    """Return the most that came through the way that the data go in another campaign, between any of these."""
    pairs = [
        (client, server) if question.metric == WRITE else (server, client) for client in clients for server in servers
    ]
    rates = [evidence.elsewhere_between[pair] for pair in pairs if pair in evidence.elsewhere_between]
    return max(rates, key=lambda passed: passed.rate_bps, default=None)


def joins(point: Point, question: Question) -> bool:
    """Return whether a point was measured between a client of the question and a server."""
    ends = point.roles.get("client", ()), point.roles.get("server", ())
    if not all(ends):
        return not point.roles and point.layer != DISK
    servers, clients = set(question.facts.servers), question.clients

    def is_pair(client: set[str], server: set[str]) -> bool:
        far = bool(server & servers) if servers else not server & clients
        return far and (not clients or bool(client & clients))

    one, other = set(ends[0]), set(ends[1])
    return is_pair(one, other) or is_pair(other, one)


def client_end(point: Point, question: Question) -> tuple[str, bool]:
    """Return which end of a network point is the file system's client, and whether it is the tool's client, too."""
    client, server = point.roles.get("client", ("",))[0], point.roles.get("server", ("",))[0]
    is_client = client not in question.facts.servers and (
        client in question.clients or server not in question.clients
    )
    return (client, True) if is_client else (server, False)
