"""A file system's rate that grows with clients or tasks: whether what lies beneath leaves room for more of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from apps.bench import statistics
from apps.bench.rules.base import NETWORK, Evidence, FindingDraft, Trend
from apps.bench.rules.layers.beneath import Beneath
from apps.bench.rules.layers.fullness import BEYOND, FULL, FULL_NETWORK
from apps.bench.rules.layers.verdicts import Verdict
from apps.bench.rules.shapes import CLIENTS, TASKS, THREADS, Curve, interval_at, way_of
from apps.bench.rules.storage import ends
from apps.bench.rules.storage.common import rate
from apps.bench.rules.weight import MOST
from apps.bench.text import Message, _
from apps.bench.units import percent

# Where each of the last ones adds less than this share of what each of the first has, growth comes to an end.
BENT = 0.5
_NEARLY_FULL = _("%(best)s (%(way)s) is %(share)s %% of the %(ceiling)s that the network carries: nearly all of it.")


class Case(NamedTuple):
    """A trend, the means where they were measured, and what the network carries for so many clients (B/s).

    `shared` is what it carries though more take part (None: they share no link), `disk` what the disks gave alone,
    `is_held` that an end was at its limit at the last number, `interval` what the rate there may really be. `own` is
    what it carries for the fewest that were measured, by their links or as TCP showed; `is_undecided` that the layers
    beneath do not tell whether the network is the limit.
    """

    trend: Trend
    means: Mapping[float, float]
    clients: tuple[str, ...]
    ceilings: Mapping[int, float]
    kind: str = ""
    max_count: float | None = None
    interval: tuple[float, float] | None = None
    shared: float | None = None
    disk: Beneath | None = None
    is_held: bool = False
    own: float | None = None
    is_undecided: bool = False

    @property
    def ceiling(self) -> float | None:
        """Return what the network carries for all of them."""
        return max(self.ceilings.values(), default=None)

    @property
    def bound(self) -> float | None:
        """Return what the network carries though more take part: more tasks on the same nodes share their links."""
        return self.ceiling if self.shared is None and self.trend.factor != CLIENTS else self.shared


def case_of(evidence: Evidence, verdicts: Sequence[Verdict], trend: Trend, curve: Curve | None) -> Case:
    """Return a trend, with its curve if it was measured, beside what network and disks beneath it give."""
    clients = ends.clients_of(evidence, trend, curve)
    verdict = ends.verdict_of(verdicts, trend, clients)
    ceilings = ends.ceilings_of(evidence, trend, clients, verdict)
    facts = evidence.file_systems.get(trend.file_system)
    case = Case(
        trend,
        curve.means if curve else {},
        clients,
        ceilings,
        kind=facts.kind if facts else "",
        shared=ends.shared_of(evidence, trend, clients, ceilings),
        disk=ends.disk_of(evidence, verdicts, trend),
        is_undecided=any(
            one.layer != NETWORK for one in ([verdict] if verdict else ends.verdicts_of(verdicts, trend))
        ),
    )
    if curve is None:
        return case._replace(max_count=ends.most_of(evidence, trend))
    fewest = clients[: int(min(curve.means))] if trend.factor == CLIENTS else ()
    return case._replace(
        interval=interval_at(curve, max(curve.means), max(ceilings.values(), default=None)),
        is_held=max(curve.means) in curve.held_values,
        own=ends.carried_for(evidence, trend.file_system, trend.metric, fewest) if fewest else None,
    )


def is_of_cache(case: Case) -> bool:
    """Return whether a rate is beyond what the network carries for so many: a cache gave it."""
    if not case.means:
        return False
    ceilings = (
        case.ceilings if case.trend.factor == CLIENTS else dict.fromkeys(map(int, case.means), case.ceiling or 0.0)
    )
    return any(
        value > BEYOND * ceilings[int(count)] for count, value in case.means.items() if ceilings.get(int(count))
    )


def full(case: Case) -> list[Message]:
    """Return what of all that lies beneath is nearly used up, so that more gain little; [] for nothing."""
    best, reasons = case.trend.best or 0.0, []
    if fills(best, case.bound, FULL):
        reasons.append(
            Message(_NEARLY_FULL, {"best": rate(best), "way": way_of(case.trend), **share_of(best, case.bound)})
        )
    if case.disk and not case.disk.swing and fills(best, case.disk.value, FULL) and (reasons or _is_alike(case)):
        text = _(
            "%(best)s (%(way)s) is %(share)s %% of the %(disk)s that the disks beneath it gave alone:"
            " nearly all of it."
        )
        params = {"best": rate(best), "disk": rate(case.disk.value), "share": percent(best / case.disk.value)}
        params["way"] = way_of(case.trend)
        reasons.append(Message(text, params))
    return reasons


def with_scatter(draft: FindingDraft, curve: Curve | None) -> FindingDraft:
    """Return a finding; of growth that repetitions which contradict each other bear out it says how far they lie."""
    if curve is None or not curve.is_scattered:
        return draft
    (least, first), *_between, (most, last) = ((count, [*cell.values()]) for count, cell in curve.cells.items())
    text = _(
        "Repetitions scatter far: each run with %(most)s had %(low)s or more, each with %(least)s %(high)s or less."
        " That is ×%(least_gain)s to ×%(most_gain)s."
    )
    params = {
        "most": f"{most:g}",
        "least": f"{least:g}",
        "low": rate(min(last)),
        "high": rate(max(first)),
        "least_gain": f"{min(last) / max(first):.2f}",
        "most_gain": f"{max(last) / min(first):.2f}",
    }
    return replace(
        draft,
        why=(*draft.why, Message(text, params)),
        limits=(Message(_("They scatter too far to tell where growth ends.")),),
        confidence=min(draft.confidence, MOST),
    )


def law_of(case: Case) -> list[Message]:
    """Return by what law each further one costs the others, [] where none fits; no maximum lies below one of them."""
    if len(case.means) < 3 or min(case.means.values()) <= 0 or min(case.means) < 1:
        return []
    laws = statistics.fit_scaling(*zip(*case.means.items(), strict=True))
    for law in laws:
        if law.peak is None or law.error >= 0.15:
            continue
        text = _(
            "By the Universal Scalability Law each further one costs the others (k = %(k)s); the maximum is at"
            " %(peak)s."
        )
        params = {"k": f"{law.k:.3g}", "peak": f"{law.peak:.1f}"}
        if law.peak < 1:
            text = _(
                "By the Universal Scalability Law each further one costs the others (k = %(k)s); of the number with"
                " the maximum these figures are not enough to tell."
            )
            del params["peak"]
        return [Message(text, params)]
    return []


def doubt_of(case: Case) -> str:
    """Return why growth so far says nothing of more than were measured: a msgid, "" if nothing speaks against it."""
    if case.disk and any(fills(case.trend.best, value, FULL) for value in (case.disk.least, case.disk.most)):
        return _(
            "It is nearly all that the disks gave to fewer at once: whether they give more to more is not known."
        )
    if fills(case.trend.best, case.ceiling, FULL) and not _bring_links(case):
        return _(
            "It is nearly all that the network carries for these: whether more would have links of their own is not"
            " known."
        )
    if case.is_held and case.trend.factor != CLIENTS:
        return _("An end was at its limit at the last number: more on the same nodes may add nothing.")
    if len(case.means) > 1 and min(case.means) > 0:
        first, *_between, before, last = [min(case.means), *case.means]
        if case.means[last] - case.means[before] < BENT * case.means[first] / first * (last - before):
            return _("The last ones added less than half of what each of the first has: something begins to limit.")
    return ""


def _bring_links(case: Case) -> bool:
    """Return whether more would add links to those that are full; where that is not known, it is not said."""
    return case.shared is not None and case.trend.factor != THREADS and len(case.clients) in case.ceilings


def _is_alike(case: Case) -> bool:
    """Return whether the disks were measured with as many tasks at once as the file system had at the last number."""
    max_count = max(case.means, default=case.max_count) or 1
    beside = case.trend.fixed.get(THREADS if case.trend.factor == CLIENTS else CLIENTS) or 1
    tasks = max_count if case.trend.factor == TASKS else max_count * beside
    return case.disk is None or case.disk.tasks is None or tasks <= case.disk.tasks


def of_network(case: Case, apiece: float | None) -> Message | None:
    """Return how much of the network is used where more of it is left, or more clients bring more of it."""
    best = case.trend.best
    if fills(best, case.ceiling, FULL):
        text = _(
            "%(best)s (%(way)s) is %(share)s %% of the %(ceiling)s that the links of these clients carry; more"
            " clients have links of their own."
        )
        return Message(text, {"best": rate(best or 0.0), "way": way_of(case.trend), **share_of(best, case.ceiling)})
    # What those measured have of their own is no bound of more, which bring theirs.
    if not apiece or not best or not case.bound or best >= case.bound:
        return None
    # Fewer cannot fill it; more may meet another limit first.
    text = _(
        "With %(most)s (%(way)s) %(best)s is %(share)s %% of the %(ceiling)s that the network carries; at"
        " %(apiece)s each it takes"
        " %(least)s or more to fill it, if neither servers nor disks are full before."
    )
    max_count = max(case.means, default=case.max_count) or 1
    params = {"best": rate(best), "apiece": rate(apiece), "least": math.ceil(case.bound / apiece)}
    params |= {"most": f"{max_count:g}", "way": way_of(case.trend)}
    return Message(text, {**params, **share_of(best, case.bound)})


def fills(best: float | None, ceiling: float | None, share: float = FULL_NETWORK) -> bool:
    """Return whether a rate is nearly all that the network carries; one above it contradicts the links."""
    return best is not None and ceiling is not None and share * ceiling <= best <= BEYOND * ceiling


def share_of(best: float | None, ceiling: float | None) -> dict[str, str]:
    """Return a rate's share of what the network carries, and that, for a message."""
    share = (best or 0.0) / (ceiling or 1.0)
    return {"share": percent(share), "ceiling": rate(ceiling or 0.0)}


def figures(case: Case) -> list[Message]:
    """Return what was measured of all together, or the best rate printed."""
    best, way = case.trend.best, way_of(case.trend)
    if case.means:
        params = ", ".join(f"{count:g}: {rate(value)}" for count, value in case.means.items())
        return [Message(_("Measured in all (%(way)s), by number: %(figures)s."), {"figures": params, "way": way})]
    return (
        [Message(_("The best rate printed is %(best)s (%(way)s)."), {"best": rate(best), "way": way})] if best else []
    )
