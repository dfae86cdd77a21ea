"""Who measured a trend of a file system, and what network and disks beneath it give to so many of them."""

from collections.abc import Sequence

from apps.bench.rules import shapes
from apps.bench.rules.base import Evidence, Trend
from apps.bench.rules.layers.beneath import Beneath, Network
from apps.bench.rules.layers.days import near_in
from apps.bench.rules.layers.disks_beneath import disk_beneath
from apps.bench.rules.layers.links import shared_rate, stated_rate
from apps.bench.rules.layers.verdicts import Verdict, judge_all
from apps.bench.rules.readings import read_once
from apps.bench.rules.shapes import CLIENTS, THREADS, described


def clients_of(evidence: Evidence, trend: Trend, curve: shapes.Curve | None) -> tuple[str, ...]:
    """Return the clients of a trend: those of its points, or those with a path to the file system's servers."""
    if curve:
        return curve.roles.get("client", ()) or curve.roles.get("node", ())
    facts = evidence.file_systems.get(trend.file_system)
    servers = set(facts.servers) if facts else set()
    own_points = [p for p in evidence.points if p.file_system == trend.file_system and p.roles.get("client")]
    if own_points:
        return max((point.roles["client"] for point in own_points), key=len)
    ends = [
        one if other in servers else other for one, other in evidence.paths if (one in servers) != (other in servers)
    ]
    return tuple(dict.fromkeys(ends))


def most_of(evidence: Evidence, trend: Trend) -> float | None:
    """Return the largest number for which a figure of the file system stands beside a printed trend."""
    counts = [
        described(point, evidence).get(trend.factor)
        for point in evidence.points
        if point.file_system == trend.file_system and point.values(trend.metric)
    ]
    return max((float(count) for count in counts if count), default=trend.knee)


def verdict_of(verdicts: Sequence[Verdict], trend: Trend, clients: tuple[str, ...]) -> Verdict | None:
    """Return what the layers say of a trend's file system, metric and clients, None where they say nothing."""
    own = verdicts_of(verdicts, trend)
    return next((verdict for verdict in own if {*verdict.level.clients} == {*clients}), None)


def verdicts_of(verdicts: Sequence[Verdict], trend: Trend) -> list[Verdict]:
    """Return what the layers say of a trend's file system and metric, with whichever clients it was the best."""
    subject = (trend.file_system, trend.metric)
    return [verdict for verdict in verdicts if (verdict.question.facts.name, verdict.question.metric) == subject]


def ceilings_of(
    evidence: Evidence, trend: Trend, clients: tuple[str, ...], verdict: Verdict | None
) -> dict[int, float]:
    """Return what the network carries (B/s) for one client, for two, and so on.

    By their links; for all of them what was measured where the layers are told apart by that.
    """
    facts = evidence.file_systems.get(trend.file_system)
    if not facts or not facts.servers:
        return {}
    ceilings = {count: stated_rate(evidence, clients[:count], facts) for count in range(1, len(clients) + 1)}
    network = verdict.network if verdict else None
    if network and not (network.is_stated or network.swing or network.flows or network.times > 1):
        ceilings[len(clients)] = network.value
    return {count: value for count, value in ceilings.items() if value}


def shared_of(evidence: Evidence, trend: Trend, clients: tuple[str, ...], carried: dict[int, float]) -> float | None:
    """Return what the network carries (B/s) though more take part; None where they share none.

    More threads share the links of the same clients; more clients only what lies behind their own.
    """
    if trend.factor == THREADS:
        count = trend.fixed.get(CLIENTS)
        return carried.get(count if isinstance(count, int) else len(clients))
    facts = evidence.file_systems.get(trend.file_system)
    return shared_rate(evidence, clients, facts) if facts and facts.servers else None


@read_once
def carried_for(evidence: Evidence, name: str, metric: str, clients: tuple[str, ...]) -> float | None:
    """Return what the network carries (B/s) for these clients alone, over any number of connections; None: not known.

    By their links, or as TCP showed: what the layers say.
    """
    for place, verdict in enumerate(judge_all(evidence)):
        question = verdict.question
        if (question.facts.name, question.metric) == (name, metric) and question.clients.issuperset(clients):
            carried = _network_under(evidence, place).carried(clients)
            return carried.value if carried else None
    return None


@read_once
def _network_under(evidence: Evidence, place: int) -> Network:
    """Return the network beneath the verdict at this place, as it was when its level was measured."""
    verdict = judge_all(evidence)[place]
    return Network(near_in(evidence, verdict.level.when), verdict.question)


def disk_of(evidence: Evidence, verdicts: Sequence[Verdict], trend: Trend) -> Beneath | None:
    """Return what the disks beneath a file system gave alone when all were asked what a trend's best was, or None."""
    for verdict in verdicts:
        question = verdict.question
        if (question.facts.name, question.metric) != (trend.file_system, trend.metric):
            continue
        level = next((item for item in question.levels() if {*item.trials} & {*trend.trials}), verdict.level)
        disk = disk_beneath(near_in(evidence, level.when), question, level)
        if disk:
            return None if disk.is_stated or disk.is_floor else disk
    return None
