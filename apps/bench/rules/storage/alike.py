"""Clients of different kinds that see the same rates: what limits them is not in the clients."""

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from apps.bench import network
from apps.bench.rules.base import (
    ABOUT,
    DIAGNOSIS,
    FILE_SYSTEM,
    NO_CHANGE,
    SAMPLE,
    Evidence,
    FindingDraft,
    LinkFacts,
    Point,
)
from apps.bench.rules.layers.fullness import ROOM
from apps.bench.rules.layers.links import USUAL_MTU
from apps.bench.rules.shapes import CLIENTS, TASKS, described, nodes_of
from apps.bench.rules.storage.common import METRICS, rate
from apps.bench.rules.storage.differing import ToldCurve, conditions_of, differing
from apps.bench.text import Message, _
from apps.bench.units import percent

RULE, VERSION = "storage-clients-alike", 3
# Rates of two kinds of clients within this share of each other are alike.
ALIKE = 0.10


class Common(NamedTuple):
    """What two groups of clients had (B/s) with the same settings, by metric, and the points."""

    settings: Mapping[str, Any]
    rates: Mapping[str, tuple[float, float]]
    points: tuple[Point, Point]

    @property
    def is_alike(self) -> bool:
        """Return whether they had the same in every metric."""
        return all(abs(second / first - 1) <= ALIKE for first, second in self.rates.values())


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return the file systems of which disjoint groups of clients, measured alike, see the same in every metric."""
    groups: dict[Any, list[tuple[Mapping[str, Any], Point]]] = defaultdict(list)
    for point in evidence.points:
        if point.layer == FILE_SYSTEM and point.statistic in (SAMPLE, ABOUT) and nodes_of(point):
            parameters = {
                name: value for name, value in described(point, evidence).items() if name not in (CLIENTS, TASKS)
            }
            settings = tuple(sorted((name, repr(value)) for name, value in parameters.items()))
            groups[point.tool, point.file_system, settings].append((parameters, point))
    order: dict[tuple[str, ...], int] = {}
    for point in evidence.points:
        order.setdefault(nodes_of(point), len(order))
    pairs: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[Common]] = defaultdict(list)
    for (_tool, name, _settings), members in groups.items():
        for (settings_of, one), (_same, other) in itertools.combinations(members, 2):
            if common := _common(settings_of, *sorted((one, other), key=lambda point: order[nodes_of(point)])):
                pairs[name, nodes_of(common.points[0]), nodes_of(common.points[1])].append(common)
    drafts: dict[str, FindingDraft] = {}
    for (name, _one, _other), commons in pairs.items():
        if any(common.is_alike for common in commons):
            draft = _draft(evidence, name, commons)
            drafts.setdefault(draft.subject, draft)
    return list(drafts.values())


def _common(settings: Mapping[str, Any], one: Point, other: Point) -> Common | None:
    """Return what two groups that have no client in common had with the same settings; None without any."""
    if set(nodes_of(one)) & set(nodes_of(other)):
        return None
    rates = {
        metric: (first, second)
        for metric in METRICS
        if (first := one.mean(metric)) and (second := other.mean(metric))
    }
    return Common(settings, rates, (one, other)) if rates else None


def _draft(evidence: Evidence, name: str, commons: Sequence[Common]) -> FindingDraft:
    alike, apart = [item for item in commons if item.is_alike], [item for item in commons if not item.is_alike]
    one, other = alike[0].points
    ends: dict[str, object] = {"one": _names(one), "other": _names(other), "name": name}
    shares = [share for common in alike for share in _of_own_links(evidence, name, common)]
    is_held = any(share >= ROOM for share in shares)
    text = _("%(one)s and %(other)s see the same rates of %(name)s: the kind of client does not matter")
    if apart:
        text = _(
            "%(one)s and %(other)s see the same rates of %(name)s with some settings only: with others they differ"
        )
    elif is_held:
        text = _("%(one)s and %(other)s see the same rates of %(name)s: links of their own may be what holds them")
    elif not shares:
        text = _("%(one)s and %(other)s see the same rates of %(name)s")
    missing: list[Message] = []
    reasons = _compared(alike, apart)
    if is_held and not apart:
        text_held = _("Of what a link of its own carries up to %(share)s %% is used: it may be the limit of each.")
        reasons.append(Message(text_held, {"share": percent(max(shares))}))
    elif shares and not apart:
        # Their own links have room, and they are of different kinds.
        reasons.append(
            Message(_("So what limits them is what they share: the network between, the servers, or their disks."))
        )
    elif not apart:
        missing.append(Message(_("What each one's own link carries: it may be what holds it.")))
    trials = {
        trial for item in commons for point in item.points for metric in item.rates for trial in point.trials(metric)
    }
    is_repeated = all(
        len(point.values(metric)) > 1 for item in commons for point in item.points for metric in item.rates
    )
    is_even = not apart and not is_held and bool(shares)
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS if apart or is_held else NO_CHANGE,
        subject=f"{name}: {ends['one']} / {ends['other']}"[:200],
        title=Message(text, ends),
        why=tuple(reasons),
        formula=f"|X1 / X2 - 1| <= {ALIKE:g}",
        evidence=tuple(sorted(trials)),
        confidence=0.85 if is_repeated else 0.65 if is_even and len(alike[0].rates) > 1 else 0.5,
        applies_when=Message(_("Both were measured alike: the same files, record size and number of tasks.")),
        missing=tuple(missing),
        source="Global file system over a WAN (KISTI, PNU)",
    )


def _compared(alike: Sequence[Common], apart: Sequence[Common]) -> list[Message]:
    """Return the rates of both, of each setting in which they are alike, and of each in which they are not."""
    commons, within = [*alike, *apart], _("Within %(share)s %% of each other: %(figures)s.")
    share = f"{100 * ALIKE:.0f}"
    return [
        *(Message(within, {"share": share, "figures": _figures(common, commons)}) for common in alike),
        *(Message(_("They differ: %(figures)s."), {"figures": _figures(common, commons)}) for common in apart),
    ]


def _figures(common: Common, commons: Sequence[Common]) -> str:
    """Return the rates of both, with the settings in which what they have in common varies."""
    curves = [ToldCurve({}, item.settings) for item in commons]
    names = differing(curves)
    where = f"{conditions_of(ToldCurve({}, common.settings), names)}: " if names else ""
    return where + ", ".join(f"{name} {rate(one)} / {rate(other)}" for name, (one, other) in common.rates.items())


def _of_own_links(evidence: Evidence, name: str, common: Common) -> list[float]:
    """Return which share of its own link (one that the other does not use) each had; [] if one is not known."""
    facts = evidence.file_systems.get(name)
    ways = [_links(evidence, nodes_of(point), facts.servers if facts else ()) for point in common.points]
    shares = []
    for place, (own, rival) in enumerate(zip(ways, ways[::-1], strict=True)):
        links = [link for link in own if link.name not in {item.name for item in rival}]
        capacities = [link.capacity_bps for link in links]
        if not links or not all(capacities):
            return []
        most = min(network.tcp_ceiling_bps(link.capacity_bps, link.mtu or USUAL_MTU) or 0.0 for link in links) / 8
        count = len(nodes_of(common.points[place]))
        shares.append(max(rates[place] for rates in common.rates.values()) / (most * count) if most else 1.0)
    return shares


def _links(evidence: Evidence, nodes: Sequence[str], servers: Sequence[str]) -> tuple[LinkFacts, ...]:
    """Return the links of the first path from one of these nodes to a server."""
    paths = [evidence.path_between(node, server) for node in nodes for server in servers if node != server]
    return next((path.links for path in paths if path.links), ())


def _names(point: Point) -> str:
    nodes = nodes_of(point)
    return nodes[0] if len(nodes) == 1 else f"{nodes[0]} - {nodes[-1]}"
