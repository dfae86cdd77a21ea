"""How repetitions scatter around the truth: factors whose mean is one but for what disturbs them."""

import math
import random
from dataclasses import dataclass

NORMAL, LOGNORMAL, BIMODAL = "normal", "lognormal", "bimodal"
AUTOCORRELATED, DRIFT, OUTLIERS, BUSY = "autocorrelated", "drift", "outliers", "busy"
KINDS = (NORMAL, LOGNORMAL, BIMODAL, AUTOCORRELATED, DRIFT, OUTLIERS, BUSY)
# The correlation of neighbours in autocorrelated noise.
CORRELATION = 0.5
# How often an outlier comes, and what is left of the rate then.
OUTLIER_SHARE, OUTLIER = 0.05, 0.5
# How often a machine is busy with something else, and the least that is left then.
BUSY_SHARE, BUSY_LEAST = 0.3, 0.5
# No factor is below this: a rate is above zero.
LEAST = 0.02


@dataclass(frozen=True)
class Noise:
    """A kind of noise and its size: the coefficient of variation of single figures, 0.01 for 1 %."""

    kind: str
    cv: float

    @property
    def is_clean(self) -> bool:
        """Return whether figures scatter independently, by no more than 4 %."""
        return self.kind in (NORMAL, LOGNORMAL) and self.cv <= 0.04


def draw(noise: Noise, count: int, source: random.Random) -> tuple[list[float], list[bool]]:
    """Return `count` factors in the order of time, and which of them a busy machine spoilt.

    Their mean is one, but for those spoilt and for outliers: the truth is that of the machine undisturbed.
    """
    free = [False] * count
    if noise.kind == BIMODAL:
        return [1 + source.choice((-1, 1)) * noise.cv + source.gauss(0, noise.cv / 10) for _turn in free], free
    if noise.kind == LOGNORMAL:
        sigma = math.sqrt(math.log1p(noise.cv**2))
        return [math.exp(source.gauss(-(sigma**2) / 2, sigma)) for _turn in free], free
    if noise.kind == AUTOCORRELATED:
        return _autocorrelated(noise.cv, count, source), free
    plain = [max(LEAST, source.gauss(1, noise.cv)) for _turn in free]
    if noise.kind == DRIFT:
        # From below to above the truth, over the whole measurement.
        slope = 2 * noise.cv
        places = [(turn / (count - 1) - 0.5) if count > 1 else 0.0 for turn in range(count)]
        return [1 + (value - 1) / 4 + slope * place for value, place in zip(plain, places, strict=True)], free
    if noise.kind == OUTLIERS:
        return [value * (OUTLIER if source.random() < OUTLIER_SHARE else 1) for value in plain], free
    if noise.kind == BUSY:
        hit = [source.random() < BUSY_SHARE for _turn in free]
        left = [source.uniform(BUSY_LEAST, 0.9) if spoilt else 1.0 for spoilt in hit]
        return [value * share for value, share in zip(plain, left, strict=True)], hit
    return plain, free


def steady(noise: Noise) -> float:
    """Return which share of the noise is left where a line is full: its rate cannot scatter by more than 1 %."""
    return min(0.2, 0.01 / noise.cv)


def _autocorrelated(cv: float, count: int, source: random.Random) -> list[float]:
    """Return AR(1) factors with the standard deviation `cv`."""
    step = cv * math.sqrt(1 - CORRELATION**2)
    state, factors = source.gauss(0, cv), []
    for _turn in range(count):
        factors.append(max(LEAST, 1 + state))
        state = CORRELATION * state + source.gauss(0, step)
    return factors
