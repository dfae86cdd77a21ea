"""Figures against a baseline: ratios, whether the difference is chance, and how large it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from apps.bench import statistics
from apps.bench.statistics import Difference

# What is called significant, after correction for all the places that are looked at.
ALPHA = 0.05

Pair = tuple[Sequence[float], Sequence[float]]
Compare = Callable[[Sequence[float], Sequence[float]], Difference]


class ContrastVerdict(Enum):
    """What can be said of figures against their baseline."""

    HIGHER = "higher"
    LOWER = "lower"
    NO_DIFFERENCE = "no-difference"
    TOO_FEW = "too-few"
    # Of several settings: at some so, at others not.
    MIXED = "mixed"


@dataclass(frozen=True)
class Contrast:
    """One set of figures against its baseline; `p` is corrected for all the places compared (Holm).

    They differ if `p` is small; it is that of their interval, which then tells them apart, too.
    """

    difference: Difference
    p: float
    verdict: ContrastVerdict

    @property
    def effect(self) -> str:
        """Return the size of the effect: none, small, medium or large (Vargha and Delaney)."""
        return self.difference.effect

    def is_better(self, *, higher_is_better: bool | None) -> bool | None:
        """Return whether the figures are better than the baseline; None if not different, or no direction is good."""
        if higher_is_better is None or self.verdict not in (ContrastVerdict.HIGHER, ContrastVerdict.LOWER):
            return None
        return (self.verdict is ContrastVerdict.HIGHER) == higher_is_better


def compare_with_memory() -> Compare:
    """Return a comparison of two sets that remembers its answers, for pairs that are asked for again."""
    differences: dict[tuple[tuple[float, ...], tuple[float, ...]], Difference] = {}

    def compare_once(base: Sequence[float], figures: Sequence[float]) -> Difference:
        pair = (*base,), (*figures,)
        if pair not in differences:
            differences[pair] = statistics.compare_two(base, figures)
        return differences[pair]

    return compare_once


def contrast(pairs: Sequence[Pair], compare: Compare = statistics.compare_two) -> list[Contrast]:
    """Return each (baseline, figures) pair's contrast; every set has one figure or more.

    Places with so few figures that even sets that do not overlap would prove nothing do not count among those that
    the others are corrected for. They say so, and so do those for which it is true after the correction.
    """
    differences = [compare(base, figures) for base, figures in pairs]
    smallest_ps = [difference.least_p for difference in differences]
    able = [p <= ALPHA for p in smallest_ps]
    corrected = iter(
        statistics.adjust_holm([difference.p for difference, can in zip(differences, able, strict=True) if can])
    )
    return [
        _judged(difference, next(corrected) if can else difference.p, could_tell=can and sum(able) * p <= ALPHA)
        for difference, can, p in zip(differences, able, smallest_ps, strict=True)
    ]


def _judged(difference: Difference, p: float, *, could_tell: bool) -> Contrast:
    if p <= ALPHA and difference.tells_apart:
        return Contrast(
            difference, p, ContrastVerdict.HIGHER if difference.superiority > 0.5 else ContrastVerdict.LOWER
        )
    return Contrast(difference, p, ContrastVerdict.NO_DIFFERENCE if could_tell else ContrastVerdict.TOO_FEW)


@dataclass(frozen=True)
class Joint:
    """What figures come to against their baseline over all settings: each one's verdict, and all of them together.

    The verdict is that of the settings where any has one, MIXED unless all have the same; `together` is asked where
    no single one can tell.
    """

    verdicts: tuple[ContrastVerdict, ...]
    together: statistics.Overall

    @property
    def verdict(self) -> ContrastVerdict:
        """Return what holds over all settings."""
        verdicts = {*self.verdicts}
        if verdicts == {ContrastVerdict.HIGHER} or verdicts == {ContrastVerdict.LOWER}:
            return self.verdicts[0]
        if verdicts & {ContrastVerdict.HIGHER, ContrastVerdict.LOWER}:
            return ContrastVerdict.MIXED
        if self.together.p > ALPHA:
            return ContrastVerdict.NO_DIFFERENCE if self.together.least <= ALPHA else ContrastVerdict.TOO_FEW
        return ContrastVerdict.HIGHER if self.together.superiority > 0.5 else ContrastVerdict.LOWER

    @property
    def is_of_each(self) -> bool:
        """Return whether the verdict is that of single settings, and not only of all together."""
        return bool({*self.verdicts} & {ContrastVerdict.HIGHER, ContrastVerdict.LOWER})

    def count(self, verdict: ContrastVerdict) -> int:
        """Return at how many settings this was found."""
        return self.verdicts.count(verdict)


def joint(pairs: Sequence[Pair], compare: Compare = statistics.compare_two) -> Joint | None:
    """Return what (baseline, figures) pairs of the same settings come to; None if there are none."""
    both = [(base, figures) for base, figures in pairs if base and figures]
    together = statistics.compare_strata(both)
    return Joint(tuple(item.verdict for item in contrast(both, compare)), together) if together else None
