"""The record size: what it gains, or that it gains nothing."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.bench import knee
from apps.bench.rules import shapes
from apps.bench.rules.base import (
    NO_CHANGE,
    RECOMMENDATION,
    Evidence,
    FindingDraft,
    Proof,
    Proposal,
    Trend,
    of_files,
)
from apps.bench.rules.layers.fullness import BEYOND, FULL_NETWORK
from apps.bench.rules.layers.verdicts import Verdict, cached_in
from apps.bench.rules.shapes import CLIENTS, way_of
from apps.bench.rules.storage import ends, memory
from apps.bench.rules.storage.collapses import collapses
from apps.bench.rules.storage.common import METRICS, TOOLS, is_in_order, name_of, rate, subject_of
from apps.bench.rules.storage.differing import with_other_sizes
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

RULE, VERSION = "storage-record-size", 11
# Fewer sizes, or such that differ by less than this factor, show no absence of an effect.
LEAST_SIZES, LEAST_RANGE = 3, 4
# The law of one record at a time is told if it is this near to what was measured.
NEAR = 0.10
# Records whose transfer takes this many times their latency give nine tenths of the rate: b / (T + b / C) = 0.9 C.
TIMES, NINE_TENTHS = 9, 0.9
# The size to take gives at least this share of the best one's rate.
ENOUGH = 0.93
# and where nothing shows a plateau, nearly all of it.
AS_GOOD = 0.97
_LIMITS = {
    True: _("Measured in order; with several records under way at once the effect is smaller."),
    False: _("Measured at random places; with several records under way at once the effect is smaller."),
}
# So sure it is of a rate that is beyond what the disks are described to give.
DOUBTED = 0.45


@dataclass(frozen=True)
class Wait:
    """One record after the other: each takes `latency` (s) and then goes at `rate` (B/s): X = b / (T + b / C)."""

    latency: float
    rate: float


def conclude(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
    """Return what the record size does to each file system's rates: not of what a cache gave (`cache-effect`)."""
    drafts: dict[str, FindingDraft] = {}
    cached = cached_in(verdicts)
    for trend, curve in shapes.shaped(evidence, factor=shapes.RECORD):
        if trend.metric not in METRICS or (trend.tool and trend.tool not in TOOLS):
            continue
        facts = evidence.file_systems.get(trend.file_system)
        disk = facts.disk_rates.get(trend.metric) if facts else None
        ceiling = _ceiling_of(evidence, verdicts, trend, curve)
        max_rate = max([*(curve.means.values() if curve else ()), trend.best or 0.0])
        if cached & set(trend.trials) or (ceiling and max_rate > BEYOND * ceiling):
            continue
        draft = _draft(trend, curve, ceiling, disk)
        if draft and draft.subject not in drafts:
            drafts[draft.subject] = memory.with_doubt(with_other_sizes(draft, evidence, trend, curve, cached), curve)
    for draft in collapses(evidence, RULE, VERSION, cached):
        drafts.setdefault(draft.subject, draft)
    return list(drafts.values())


def _ceiling_of(
    evidence: Evidence, verdicts: Sequence[Verdict], trend: Trend, curve: shapes.Curve | None
) -> float | None:
    """Return what the network carries (B/s) for as many clients as measured; None where that is not known."""
    clients = ends.clients_of(evidence, trend, curve)
    count = trend.fixed.get(CLIENTS) or len(clients)
    verdict = ends.verdict_of(verdicts, trend, clients)
    return ends.ceilings_of(evidence, trend, clients, verdict).get(count)


def find_wait(means: Mapping[float, float]) -> Wait | None:
    """Return latency and rate of the law X = b / (T + b / C) if it fits within a tenth everywhere, else None.

    b / X is linear in b; least squares with weights X / b make the errors relative ones.
    """
    points = [(float(size), value) for size, value in means.items() if size > 0 and value > 0]
    if len(points) < 3:
        return None
    weights = [(value / size) ** 2 for size, value in points]
    total = math.fsum(weights)
    mean_b = math.fsum(w * size for w, (size, _x) in zip(weights, points, strict=True)) / total
    mean_t = math.fsum(w * size / x for w, (size, x) in zip(weights, points, strict=True)) / total
    spread = math.fsum(w * (size - mean_b) ** 2 for w, (size, _x) in zip(weights, points, strict=True))
    joint = math.fsum(w * (size - mean_b) * (size / x - mean_t) for w, (size, x) in zip(weights, points, strict=True))
    slope = joint / spread if spread else 0.0
    latency = mean_t - slope * mean_b
    if slope <= 0 or latency <= 0:
        return None
    errors = (abs(size / (latency + slope * size) / x - 1) for size, x in points)
    return Wait(latency, 1 / slope) if max(errors) <= NEAR else None


def _draft(
    trend: Trend, curve: shapes.Curve | None, ceiling: float | None, disk: float | None
) -> FindingDraft | None:
    means = curve.means if curve else {}
    if trend.shape == shapes.FLAT:
        if means and (len(means) < LEAST_SIZES or max(means) < LEAST_RANGE * min(means)):
            return None
        return _no_effect(trend, means)
    if curve is None:
        return None
    first, largest = min(means), max(means)
    best = max(means, key=lambda size: means[size])
    at = {shapes.SATURATES: trend.knee, shapes.RISES: largest}.get(trend.shape) or best
    if trend.shape in (shapes.SATURATES, shapes.UNCLEAR):
        start, enough = (at, ENOUGH) if trend.shape == shapes.SATURATES else (first, AS_GOOD)
        at = min((size for size in means if size >= start and means[size] >= enough * means[best]), default=best)
    # Where records beyond the best were worse, going back to it from them is the gain.
    now = largest if trend.shape == shapes.FALLS and best == first else first
    if not means[at] > means[now] > 0:
        return None
    draft = _effect(trend, means, now, at, ceiling, disk)
    return dataclasses.replace(draft, predicted_interval=shapes.interval_at(curve, at, ceiling))


def _no_effect(trend: Trend, means: Mapping[float, float]) -> FindingDraft:
    params = {"name": name_of(trend), "metric": trend.metric, "way": way_of(trend)}
    reasons = []
    if trend.best:
        text = _("%(metric)s of %(name)s gives %(rate)s whatever the record size.")
        reasons.append(Message(text, {**params, "rate": rate(trend.best)}))
    if means:
        text = _("From %(least)s to %(most)s all rates are within 5 %% of each other.")
        shown_range = {"least": format_quantity(min(means), "B"), "most": format_quantity(max(means), "B")}
        reasons.append(Message(text, shown_range))
    else:
        reasons.append(Message(_("So it is printed; the figures are not.")))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE,
        subject=subject_of(trend),
        title=Message(_("The record size has no effect on %(name)s (%(way)s): keep the file system's block"), params),
        why=tuple(reasons),
        value=trend.best,
        unit="B/s" if trend.best else "",
        formula="max X <= 1.05 · min X",
        evidence=trend.trials,
        confidence=0.85 if len(trend.trials) > len(means) > 2 else 0.65,
        applies_when=Message(
            _("Large files, read and written in order.")
            if is_in_order(trend)
            else _("Large files, read and written at random places.")
        ),
        limits=(
            Message(
                _("Random access and small files are another matter: there the record size counts.")
                if is_in_order(trend)
                else _("Access in order and small files are another matter: there the record size may count.")
            ),
        ),
        source="Global file system over a WAN (KISTI, PNU)",
    )


def _missing(*, is_growing: bool) -> tuple[Message, ...]:
    if is_growing:
        return (Message(_("Larger records: the rate still grew at the largest tried.")),)
    return (Message(_("Larger records: with two sizes it is not known whether the rate goes on growing.")),)


def _against(best: float, disk: float | None) -> tuple[Message, ...]:
    """Return that a rate is beyond what the disks are described to give."""
    if not disk or best <= BEYOND * disk:
        return ()
    text = _("%(rate)s is more than the %(disk)s of the disks as described: memory may have had a part in it.")
    return (Message(text, {"rate": rate(best), "disk": rate(disk)}),)


def _formula(trend: Trend, means: Mapping[float, float], at: float) -> str:
    """Return how the size was chosen, which the form of the curve decides."""
    size, best = format_quantity(int(at), "B"), rate(max(means.values()))
    if trend.shape == shapes.FALLS:
        return f"b = {size}, the size of the highest X: {best}"
    if trend.shape == shapes.RISES:
        return f"b = {size}, the largest tried: X = {best}"
    if trend.shape == shapes.UNCLEAR:
        return f"b = {size}, the least with X >= {AS_GOOD} · {best}"
    if at == trend.knee:
        return f"b = {size}, the least with X >= {1 - knee.NEAR} · {rate(trend.best or means[at])}"
    return f"b = {size}, the least from the knee on with X >= {ENOUGH} · {best}"


def _fall(means: Mapping[float, float], at: float) -> Message:
    """Return what still larger records lose, for a curve that surely falls behind its best."""
    largest = max(means)
    text = _("Larger records lose: with %(size)s it is %(rate)s, %(share)s %% less.")
    params = {"size": format_quantity(int(largest), "B"), "rate": rate(means[largest])}
    return Message(text, {**params, "share": percent(1 - means[largest] / means[at])})


def _effect(
    trend: Trend, means: Mapping[float, float], now: float, at: float, ceiling: float | None, disk: float | None
) -> FindingDraft:
    size, name = format_quantity(int(at), "B"), name_of(trend)
    tool = trend.tool
    parameter = TOOLS[tool].record
    params = {"name": name, "metric": trend.metric, "way": way_of(trend), "size": size, "rate": rate(means[at])}
    text = _("Records of %(size)s give %(name)s its rate (%(way)s): %(rate)s")
    is_full = ceiling is not None and FULL_NETWORK * ceiling <= means[at] <= BEYOND * ceiling
    # Two sizes differ; only a third tells that the rate goes on growing.
    is_open = trend.shape == shapes.RISES and not is_full
    is_growing = is_open and len(means) >= LEAST_SIZES
    if is_growing:
        text = _("Larger records are faster on %(name)s (%(way)s): %(rate)s at %(size)s, and still growing")
    elif is_open:
        text = _("Of the two record sizes tried %(size)s is the faster on %(name)s (%(way)s): %(rate)s")
    reasons = [
        Message(
            _("With records of %(now)s it is %(present)s: this is ×%(gain)s of it."),
            {
                "now": format_quantity(int(now), "B"),
                "present": rate(means[now]),
                "gain": f"{means[at] / means[now]:.2f}",
            },
        )
    ]
    if trend.shape == shapes.FALLS and at > now:
        reasons.append(_fall(means, at))
    wait = find_wait(means) if trend.shape != shapes.FALLS else None
    formula = _formula(trend, means, at)
    record = TIMES * wait.latency * wait.rate if wait else 0.0
    # Where such records were measured to give less, the law is not told beside it.
    if wait and all(value >= NINE_TENTHS * max(means.values()) for b, value in means.items() if b >= record):
        text_wait = _(
            "Each record waits %(latency)s and then goes at %(rate)s; records of %(wanted)s give nine tenths."
        )
        shown_wait = {
            "latency": format_quantity(wait.latency, "s"),
            "rate": rate(wait.rate),
            "wanted": format_quantity(round(record), "B"),
        }
        reasons.append(Message(text_wait, shown_wait))
        formula += f"; X = b / (T + b / C), T = {format_quantity(wait.latency, 's')}, C = {rate(wait.rate)}"
    fixed = {key: value for key, value in trend.fixed.items() if key in TOOLS[tool].fixed}
    more = Proposal(
        tool, fixed, {parameter: ", ".join(f"{int(at * factor)}" for factor in (1, 2, 4))}, {}, trend.file_system
    )
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION,
        question=of_files(trend.file_system),
        subject=subject_of(trend),
        title=Message(text, params),
        why=tuple(reasons),
        value=at,
        unit="B",
        formula=formula,
        evidence=trend.trials,
        change=f"{tool} {TOOLS[tool].option}{int(at)}",
        undo=f"{tool} {TOOLS[tool].option}{int(now)}",
        present=means[now],
        predicted=means[at],
        predicted_unit="B/s",
        confidence=DOUBTED if _against(means[at], disk) else 0.8 if len(trend.trials) > len(means) else 0.6,
        applies_when=Message(_("The application chooses how much it reads or writes with each call.")),
        limits=(Message(_LIMITS[is_in_order(trend)]),),
        source="Global file system over a WAN (KISTI, PNU); BTIO on a Power 595",
        against=_against(means[at], disk),
        missing=_missing(is_growing=is_growing) if is_open else (),
        proposals=(more,) if is_open else (),
        proof=Proof(
            tool, trend.metric, {**fixed, parameter: int(now)}, {**fixed, parameter: int(at)}, trend.file_system
        ),
    )
