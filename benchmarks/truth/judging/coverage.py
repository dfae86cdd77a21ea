"""Whether the intervals that are printed hold the truth."""

import functools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench.statistics import CONFIDENCE, Mean, percent_of
from benchmarks.truth import figures, panels
from benchmarks.truth.statements import Statement
from benchmarks.truth.worlds.base import World
from benchmarks.truth.worlds.network import NetworkWorld
from benchmarks.truth.worlds.noise import NORMAL, OUTLIERS, Noise, draw
from benchmarks.truth.worlds.storage import StorageWorld

MEAN, RATIO, PREDICTED = "the mean's interval", "the ratio's interval", "predictions (95 % or more)"
DRAWS = 20_000


@dataclass(frozen=True)
class Interval:
    """An interval that was printed, of which kind, from how many figures, and whether the truth lies within."""

    kind: str
    n: int
    holds: bool


def of_means(world: World, drawn: Sequence[figures.Drawn]) -> Iterator[Interval]:
    """Yield the interval of each cell of a comparison that has one."""
    for item in drawn:
        is_harmonic = item.made.mean is Mean.HARMONIC
        scatter = {cell.parameters[item.setup.factors[0]]: cell.scatter for cell in item.setup.cells}
        for cell in item.made.cells:
            scale = harmonic(world.noise, scatter.get(cell.x, 1.0)) if is_harmonic else 1.0
            truth = item.truth.get(cell.x)
            low, high = cell.centre.low, cell.centre.high
            if cell.centre.confidence is None:
                # Of equal figures none is printed: nothing is said that could hold.
                continue
            if truth is not None and low is not None and high is not None and cell.settings == 1:
                yield Interval(_called(MEAN, cell.centre.confidence), cell.n, low <= truth * scale <= high)


def of_contrasts(statements: Iterable[Statement]) -> Iterator[Interval]:
    """Yield the interval of each ratio to a baseline."""
    for item in statements:
        low, high = item.fields.get("low"), item.fields.get("high")
        if item.source == figures.CONTRAST and low is not None and high is not None:
            kind = _called(RATIO, item.fields["confidence"])
            yield Interval(kind, item.fields["n"], low <= item.fields["ratio"] <= high)


def of_predictions(world: World, statements: Iterable[Statement]) -> Iterator[Interval]:
    """Yield the interval of each rate predicted."""
    for item in statements:
        if item.source != panels.PREDICTION:
            continue
        truth = _true_rate(world, item.fields["metric"], item.fields["parameters"])
        yield Interval(PREDICTED, item.fields["n"], item.fields["low"] <= truth <= item.fields["high"])


@functools.cache
def harmonic(noise: Noise, scatter: float = 1.0) -> float:
    """Return the harmonic mean of the noise's factors, whose mean is one, where a share of it is left."""
    if noise.kind == OUTLIERS:
        noise = Noise(NORMAL, noise.cv)
    factors, hits = draw(noise, DRAWS, random.Random(1))  # noqa: S311 - a simulation, not a secret
    free = [1 / (1 + (factor - 1) * scatter) for factor, hit in zip(factors, hits, strict=True) if not hit]
    return len(free) / sum(free)


def _called(kind: str, confidence: float | None) -> str:
    """Return what an interval is called: with the confidence printed beside it, 95 % for that and more."""
    return f"{kind} ({percent_of(min(confidence or CONFIDENCE, CONFIDENCE))} %)"


def _true_rate(world: World, metric: str, parameters: Mapping[str, Any]) -> float:
    if isinstance(world, NetworkWorld):
        return world.reach(parameters).rate
    if isinstance(world, StorageWorld):
        return world.rate(metric, parameters)
    raise ValueError(f"no rate is predicted in a world of {world.family}")
