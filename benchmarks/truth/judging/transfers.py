"""Judges of what is said of GridFTP: the options to start it with, and what parallel streams gain."""

from collections.abc import Mapping
from typing import Any

from benchmarks.truth.judging.advice import predicted
from benchmarks.truth.judging.base import HARM, HARMFUL, Case, Judgement, Rules, no, undecided, whether
from benchmarks.truth.worlds.besides import GRIDFTP

# The rule takes what is within 5 % of the best, by means that scatter.
ENOUGH = 0.93
# Streams that gain less than this gain nothing.
GAIN = 1.1


def _rate(case: Case, setting: Mapping[str, Any]) -> float:
    """Return what a choice of options really has (B/s)."""
    return case.world.reach({"streams": 1, "window": 0, **setting}).rate / 8


def _options(case: Case) -> Judgement:
    """Return whether what is chosen has nearly the best rate of all that were tried."""
    if "can be told from" in case.title:
        return undecided("it names no best one")
    best = max(cell.truth["throughput"] for cell in case.cells(GRIDFTP))
    proof = case.fields.get("proof")
    then, now = (proof["then"], proof["now"]) if proof else ({}, {})
    rate = _rate(case, then)
    if rate < ENOUGH * best:
        return no(f"others have {best:.4g} B/s, this {rate:.4g}")
    if proof and case.fields["kind"] == "recommendation" and rate < HARM * _rate(case, now):
        return Judgement(HARMFUL, f"{_rate(case, now):.4g} becomes {rate:.4g} B/s")
    return predicted(case, rate) if case.fields.get("predicted") else whether(True, "")


def _parallel(case: Case) -> Judgement:
    """Return whether several streams have more than one with a tuned window, or no more."""
    tuned = [cell for cell in case.cells(GRIDFTP) if cell.parameters["window"]]
    rates = {cell.parameters["streams"]: cell.truth["throughput"] for cell in tuned}
    if 1 not in rates or len(rates) < 2:
        return undecided("one tuned stream and several were not measured")
    gain = max(rates.values()) / rates[1]
    if "gain nothing" in case.title:
        return whether(gain <= GAIN, f"they have ×{gain:.2f}")
    return whether(gain >= 1 + (case.value - 1) / 2, f"they have ×{gain:.2f}, not ×{case.value:.2f}")


RULES: Rules = {"gridftp-options": _options, "gridftp-parallel": _parallel}
