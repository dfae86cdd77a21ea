"""Rates over a count (clients, processes, streams) or a size (records, messages), calibrated on measured ones."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from apps.bench import statistics
from apps.bench.model import law as core
from apps.bench.model.calibration import Law, Model, Observation, calibrate

# Beyond what was measured more clients may come into each other's way, and larger requests meet another limit.
MORE_CLIENTS, LARGER = 0.7, 0.95
# A rate below this share of the best fell; a last one above this share of the slope is on it.
FELL, BENT = 0.95, 0.9
# The rate of messages may be limited by their number, by their bytes, or by both.
WAIT, BYTES = "wait", "bytes"


def calibrate_counts(observations: Iterable[Observation], name: str) -> Model:
    """Return the model of rates over a count `name` >= 1: linear, Amdahl's, universal, or a slope with a plateau."""
    return calibrate(list(observations), lambda points: _fit_counts(points, name))


def calibrate_sizes(observations: Iterable[Observation], name: str) -> Model:
    """Return the model of rates (B/s) over a size `name` (B): X = b / (t + b / C), of one after the other."""
    return calibrate(list(observations), lambda points: _fit_sizes(points, name))


def _fit_counts(observations: Sequence[Observation], name: str) -> Law | None:
    ns, rates = [item.setting[name] for item in observations], [item.rate for item in observations]
    if min(ns) < 1:
        return None
    laws = [_stick(observations, name)]
    laws += [_scaling(scaling, name) for scaling in statistics.fit_scaling(ns, rates)[:1]]
    best = min((law for law in laws if law), key=lambda law: _error(law, observations), default=None)
    return replace(best, least=_unseen(observations, name, MORE_CLIENTS)) if best else None


def _unseen(observations: Sequence[Observation], name: str, left: float) -> Callable[[Mapping[str, float]], float]:
    """Return what a limit may leave that nothing measured has met: the last rate measured, or a share of it.

    Where the rate fell already it may go on to fall, at the worst in proportion.
    """
    last = max(observations, key=lambda item: item.setting[name])
    is_falling = last.rate < FELL * max(item.rate for item in observations)

    def least(setting: Mapping[str, float]) -> float:
        if setting[name] <= last.setting[name]:
            return math.inf
        return last.rate * (last.setting[name] / setting[name] if is_falling else left)

    return least


def _scaling(scaling: statistics.Scaling, name: str) -> Law:
    return Law(
        at=lambda setting: (max(scaling.at(setting[name]), math.ulp(1.0)), scaling.law),
        place=lambda setting: (name, math.log(setting[name])),
        constants={"a": scaling.a, "s": scaling.s, "k": scaling.k},
        formula="X = a · N / (1 + s · (N − 1) + k · N · (N − 1))",
    )


def _stick(observations: Sequence[Observation], name: str) -> Law | None:
    """Return X = min(a N, C), with the least error of logarithms over each split into slope and plateau."""
    ordered = sorted(observations, key=lambda item: item.setting[name])
    best = None
    for split in range(1, len(ordered) + 1):
        slope = _mean([item.rate / item.setting[name] for item in ordered[:split]])
        plateau = _mean([item.rate for item in ordered[split:]]) if split < len(ordered) else math.inf
        if split == len(ordered) - 1 and plateau > BENT * slope * ordered[-1].setting[name]:
            # One last point a little below the slope is no plateau: it scatters.
            continue
        law = _stick_law(slope, plateau, name)
        error = _error(law, observations)
        if best is None or error < best[0]:
            best = error, law
    return best[1] if best else None


def _stick_law(slope: float, plateau: float, name: str) -> Law:
    def at(setting: Mapping[str, float]) -> tuple[float, str]:
        rate = slope * setting[name]
        return (rate, core.FLOW) if rate < plateau else (plateau, core.CAPACITY)

    return Law(
        at=at,
        place=lambda setting: (name, math.log(setting[name])),
        constants={"a": slope, "capacity": plateau},
        formula="X = min(a · N, C)",
    )


def _fit_sizes(observations: Sequence[Observation], name: str) -> Law | None:
    """Return the law by least squares of b / X over b, weighted so that the errors of X are relative ones."""
    weighted = [(item.setting[name], item.setting[name] / item.rate) for item in observations]
    if any(size <= 0 for size, _time in weighted):
        return None
    sums = [math.fsum((size**power) / time**2 for size, time in weighted) for power in range(3)]
    right = [math.fsum(size**power / time for size, time in weighted) for power in range(2)]
    determinant = sums[0] * sums[2] - sums[1] ** 2
    wait, per_byte = 0.0, right[1] / sums[2]
    if abs(determinant) > 1e-12 * sums[0] * sums[2]:
        wait = (right[0] * sums[2] - right[1] * sums[1]) / determinant
        per_byte = (sums[0] * right[1] - sums[1] * right[0]) / determinant
    if per_byte <= 0:
        wait, per_byte = right[0] / sums[0], 0.0
    if wait < 0:
        wait, per_byte = 0.0, right[1] / sums[2]
    if wait <= 0 and per_byte <= 0:
        return None
    rate = 1 / per_byte if per_byte else None

    def at(setting: Mapping[str, float]) -> tuple[float, str]:
        size = setting[name]
        return core.synchronous_bytes_per_s(size, wait, rate), WAIT if wait > size * per_byte else BYTES

    return Law(
        at=at,
        place=lambda setting: (name, math.log(setting[name])),
        constants={"wait": wait, **({"capacity": rate} if rate else {})},
        formula="X = b / (t + b / C)",
        least=_unseen(observations, name, LARGER),
    )


def _error(law: Law, observations: Sequence[Observation]) -> float:
    return math.fsum(math.log(item.rate / law.at(item.setting)[0]) ** 2 for item in observations)


def _mean(values: Sequence[float]) -> float:
    """Return the geometric mean, at which the squares of logarithms are least."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))
