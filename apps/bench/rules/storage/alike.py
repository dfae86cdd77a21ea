"""Clients of different kinds that see the same rates: what limits them is not in the clients."""

import itertools
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from apps.bench.rules.base import ABOUT, FILE_SYSTEM, NO_CHANGE, SAMPLE, Evidence, FindingDraft, Point
from apps.bench.rules.shapes import CLIENTS, TASKS, described, nodes_of
from apps.bench.rules.storage.common import METRICS, rate
from apps.bench.text import Message, _

RULE, VERSION = "storage-clients-alike", 1
# Rates of two kinds of clients within this share of each other are alike.
ALIKE = 0.10


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return the file systems of which disjoint groups of clients, measured alike, see the same in every metric."""
    drafts: dict[str, FindingDraft] = {}
    groups: dict[Any, list[Point]] = defaultdict(list)
    for point in evidence.points:
        if point.layer == FILE_SYSTEM and point.statistic in (SAMPLE, ABOUT) and nodes_of(point):
            parameters = {
                name: value for name, value in described(point, evidence).items() if name not in (CLIENTS, TASKS)
            }
            settings = tuple(sorted((name, repr(value)) for name, value in parameters.items()))
            groups[point.tool, point.file_system, settings].append(point)
    for (_tool, name, _settings), points in groups.items():
        for one, other in itertools.combinations(points, 2):
            draft = _compare(name, one, other)
            if draft:
                drafts.setdefault(draft.subject, draft)
    return list(drafts.values())


def _compare(name: str, one: Point, other: Point) -> FindingDraft | None:
    if set(nodes_of(one)) & set(nodes_of(other)):
        return None
    rates = {
        metric: (first, second)
        for metric in METRICS
        if (first := one.mean(metric)) and (second := other.mean(metric))
    }
    if not rates or any(abs(second / first - 1) > ALIKE for first, second in rates.values()):
        return None
    ends: Mapping[str, object] = {"one": _names(one), "other": _names(other), "name": name}
    figures = ", ".join(f"{metric} {rate(first)} / {rate(second)}" for metric, (first, second) in rates.items())
    trials = tuple(sorted({trial for point in (one, other) for metric in rates for trial in point.trials(metric)}))
    is_repeated = all(len(point.values(metric)) > 1 for point in (one, other) for metric in rates)
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE,
        subject=f"{name}: {ends['one']} / {ends['other']}"[:200],
        title=Message(
            _("%(one)s and %(other)s see the same rates of %(name)s: the kind of client does not matter"), ends
        ),
        why=(
            Message(
                _("Within %(share)s %% of each other: %(figures)s."),
                {"share": f"{100 * ALIKE:.0f}", "figures": figures},
            ),
            Message(_("So what limits them is what they share: the network between, the servers, or their disks.")),
        ),
        formula=f"|X1 / X2 - 1| <= {ALIKE:g}",
        evidence=trials,
        confidence=0.85 if is_repeated else 0.65 if len(rates) > 1 else 0.5,
        applies_when=Message(_("Both were measured alike: the same files, record size and number of tasks.")),
        source="Global file system over a WAN (KISTI, PNU)",
    )


def _names(point: Point) -> str:
    nodes = nodes_of(point)
    return nodes[0] if len(nodes) == 1 else f"{nodes[0]} - {nodes[-1]}"
