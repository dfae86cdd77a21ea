"""Which file system, used how, serves a described workload, and what it will get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench.rules.base import Evidence, Proposal
from apps.bench.rules.workloads.bases import BETWEEN, COMPUTED, MEASURED, Predicted
from apps.bench.rules.workloads.described import READ, WRITE, Workload
from apps.bench.rules.workloads.prediction import predict
from apps.bench.rules.workloads.supplies import Supply, supplies
from apps.bench.statistics.bounds import Within
from apps.bench.text import Message

_CONFIDENCE = {MEASURED: 0.85, COMPUTED: 0.7, BETWEEN: 0.7}


@dataclass(frozen=True)
class Fit(Within):
    """A configuration for a workload: the rate of all its nodes (B/s) with its range, of each, and the time (s).

    `basis` is one of BASES: measured, computed of it, between or beyond what was measured; `serves` says whether the
    rate wanted is had (None: not sure, or none is wanted); `proposal` measures just this.
    """

    file_system: str
    settings: Mapping[str, Any]
    rate: float
    low: float
    high: float
    each: float
    seconds: float | None
    basis: str
    serves: bool | None
    confidence: float
    trials: tuple[int, ...]
    why: tuple[Message, ...]
    doubts: tuple[Message, ...]
    proposal: Proposal | None


def fit(evidence: Evidence, workload: Workload) -> tuple[Fit, ...]:
    """Return the configurations that were measured, the best for the workload first: of likely equals the surer."""
    return fit_all(evidence, workload, supplies(evidence, workload.pattern))


def fit_all(evidence: Evidence, workload: Workload, all_supplies: Sequence[Supply]) -> tuple[Fit, ...]:
    """Return the same of supplies that are known already."""
    fits = []
    for supply in all_supplies:
        if workload.file_system in ("", supply.file_system):
            predicted = predict(evidence, supply, workload)
            if predicted:
                fits.append(_fit(supply, workload, predicted))
    # What surely serves comes first; then what is likely, of which a wide range takes away.
    return tuple(sorted(fits, key=lambda item: (item.serves is not True, -(item.rate + item.low) / 2)))


def _fit(supply: Supply, workload: Workload, predicted: Predicted) -> Fit:
    serves = None
    if workload.wanted:
        serves = True if predicted.low >= workload.wanted else False if predicted.high < workload.wanted else None
    confidence = _CONFIDENCE.get(predicted.basis, 0.4) - 0.1 * len(predicted.doubts) - 0.15 * (predicted.n < 2)
    return Fit(
        file_system=supply.file_system,
        settings=supply.settings,
        rate=predicted.value,
        low=predicted.low,
        high=predicted.high,
        each=predicted.value / workload.nodes,
        seconds=workload.total / predicted.value if workload.total and predicted.value else None,
        basis=predicted.basis,
        serves=serves,
        confidence=round(min(max(confidence, 0.1), 0.95), 2),
        trials=predicted.trials,
        why=predicted.why,
        doubts=predicted.doubts,
        proposal=_proposal(supply, workload),
    )


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
