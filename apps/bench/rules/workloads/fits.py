"""Which file system, used how, serves a described workload, and what it will get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.bench.rules.base import Evidence, Proposal
from apps.bench.rules.workloads.bases import BASES, BETWEEN, BEYOND, COMPUTED, MEASURED, Predicted
from apps.bench.rules.workloads.belief import distinct
from apps.bench.rules.workloads.described import READ, WRITE, Workload
from apps.bench.rules.workloads.prediction import predict, sharing_of
from apps.bench.rules.workloads.records import LIKE
from apps.bench.rules.workloads.supplies import Supply, supplies_of
from apps.bench.statistics.bounds import Within
from apps.bench.text import Message, _
from apps.bench.units import format_quantity
from apps.bench.units.days import day_of

# What can be said of the rate wanted; "" where none is.
SERVES, MAY_SERVE, NOT_KNOWN, TOO_SLOW = ANSWERS = ("serves", "may-serve", "not-known", "too-slow")
_CONFIDENCE = {MEASURED: 0.85, COMPUTED: 0.7, BETWEEN: 0.7}


@dataclass(frozen=True)
class Fit(Within):
    """A configuration for a workload: the rate of all its nodes (B/s) with its range, of each, and the time (s).

    `basis` is one of BASES: measured, computed of it, between or beyond what was measured. A lone figure has no range
    (`low` and `high` are None). `serves` says whether the rate wanted is had (None: not sure, or none is wanted),
    `answer`, one of ANSWERS, what can be said of it; `proposal` measures just this.
    """

    file_system: str
    settings: Mapping[str, Any]
    rate: float
    low: float | None
    high: float | None
    each: float
    seconds: float | None
    basis: str
    answer: str
    confidence: float
    trials: tuple[int, ...]
    why: tuple[Message, ...]
    doubts: tuple[Message, ...]
    proposal: Proposal | None

    @property
    def serves(self) -> bool | None:
        """Return whether the rate wanted is had, None where that is not sure or none is wanted."""
        return {SERVES: True, TOO_SLOW: False}.get(self.answer)


def fit(evidence: Evidence, workload: Workload) -> tuple[Fit, ...]:
    """Return the configurations that were measured, the best for the workload first: of likely equals the surer."""
    groups: dict[Any, list[Supply]] = {}
    is_shared = workload.shared if workload.shared or workload.nodes * workload.tasks > 1 else None
    for supply in supplies_of(evidence, workload.pattern):
        if workload.file_system in ("", supply.file_system):
            groups.setdefault((supply.file_system, supply.path, supply.way), []).append(supply)
    ways = [
        (item, is_shared is None or sharing_of(group[0]) is is_shared)
        for group in groups.values()
        if (item := _of_like_files(evidence, group, workload))
    ]
    alike = {item.file_system for item, is_alike in ways if is_alike}

    def order(way: tuple[Fit, bool]) -> tuple[bool, bool, float]:
        item, is_alike = way
        # Where one file for all was measured, a file for each tells less of it, and the other way round.
        return item.serves is not True, not is_alike and item.file_system in alike, -_likely(item)

    # What surely serves comes first; then what is likely, of which a wide range takes away.
    return tuple(item for item, _is_alike in sorted(ways, key=order))


def fit_of(evidence: Evidence, supply: Supply, workload: Workload) -> Fit | None:
    """Return what a workload will get of a supply, whatever the size of the files that were measured."""
    predicted = predict(evidence, supply, workload)
    return _fit(supply, predicted, workload) if predicted else None


def _of_like_files(evidence: Evidence, group: Sequence[Supply], workload: Workload) -> Fit | None:
    """Return the fit by the files most like the workload's, of supplies that differ in the size of files alone.

    Files no smaller than the workload's tell of it, the surer basis first, then the nearest size. Smaller ones may
    have stayed in a cache that the workload's do not: they are a doubt, the largest of them the least.
    """
    predictions = [(supply, predicted) for supply in group if (predicted := predict(evidence, supply, workload))]
    large = [item for item in predictions if item[0].file_size * LIKE >= workload.file_size]
    if large:
        return _fit(*min(large, key=lambda item: (BASES.index(item[1].basis), item[0].file_size)), workload)
    if not predictions:
        return None
    supply, predicted = max(predictions, key=lambda item: item[0].file_size)
    sizes = {"size": format_quantity(supply.file_size, "B"), "wanted": format_quantity(workload.file_size, "B")}
    doubt = Message(_("With files of which size it was measured is not known."))
    if supply.file_size:
        text = _("Measured with files of %(size)s, not of %(wanted)s: of smaller ones more may stay in a cache.")
        doubt = Message(text, sizes)
    return _fit(supply, replace(predicted, doubts=(*predicted.doubts, doubt)), workload)


def _likely(fit: Fit) -> float:
    """Return what orders fits (B/s); of a figure without a range half may be missing."""
    return (fit.rate + (fit.rate / 2 if fit.low is None else fit.low)) / 2


def _fit(supply: Supply, predicted: Predicted, workload: Workload) -> Fit:
    is_lone = predicted.n < 2
    confidence = _CONFIDENCE.get(predicted.basis, 0.4) - 0.1 * len(predicted.doubts) - 0.05 * is_lone
    why = predicted.why
    if supply.file_size:
        text = _("It was measured with files of %(size)s.")
        why = (*why, Message(text, {"size": format_quantity(supply.file_size, "B")}))
    why = (*why, *_when(supply, predicted))
    return Fit(
        file_system=supply.file_system,
        settings=supply.settings,
        rate=predicted.value,
        low=None if is_lone else predicted.low,
        high=None if is_lone else predicted.high,
        each=predicted.value / workload.nodes,
        seconds=workload.total / predicted.value if workload.total and predicted.value else None,
        basis=predicted.basis,
        answer=_answer(predicted, workload.wanted),
        confidence=round(min(max(confidence, 0.1), 0.95), 2),
        trials=predicted.trials,
        why=why,
        doubts=predicted.doubts,
        proposal=_proposal(supply, workload),
    )


def _when(supply: Supply, predicted: Predicted) -> tuple[Message, ...]:
    """Return on which days the figures that a rate rests on were measured, and what other campaigns had."""
    own = [amount for amount in supply.amounts if {*amount.trials} <= {*predicted.trials}]
    days = sorted({day_of(amount.at) for amount in own if amount.at is not None})
    on = (Message(_("It was measured on %(days)s."), {"days": ", ".join(days)}),) if days else ()
    return (*on, *distinct(message for amount in own for message in amount.beside))


def _answer(predicted: Predicted, wanted: float | None) -> str:
    """Return what can be said of the rate wanted (B/s): nothing is decided without an interval of what was measured.

    What lies beyond what was measured, or is doubtful, does not surely serve; what the network does not carry is not
    to be had.
    """
    if not wanted:
        return ""
    is_told = predicted.n > 1 and predicted.basis != BEYOND
    if (predicted.ceiling is not None and predicted.ceiling < wanted) or (is_told and predicted.high < wanted):
        return TOO_SLOW
    if is_told and not predicted.doubts and predicted.low >= wanted:
        return SERVES
    return MAY_SERVE if predicted.value >= wanted else NOT_KNOWN


def _proposal(supply: Supply, workload: Workload) -> Proposal | None:
    """Return the measurement of just this workload, if there are nodes enough; random access by fio."""
    if len(supply.ends) < workload.nodes:
        return None
    ends = {"client": supply.ends[: workload.nodes]}
    size = max(workload.file_size, 4096)
    if workload.pattern in (WRITE, READ):
        record = workload.record_size or 1024**2
        fixed: dict[str, Any] = {
            "record_size": record,
            "file_size": max(size // record, 1) * record,
            "threads": workload.tasks,
            "read": workload.pattern == READ,
        }
        return Proposal("iozone", fixed, {}, ends, supply.file_system)
    record = workload.record_size or 4096
    fixed = {
        "pattern": workload.pattern,
        "block_size": record,
        "file_size": max(size, record),
        "jobs": workload.tasks,
    }
    return Proposal("fio", fixed, {}, ends, supply.file_system)
