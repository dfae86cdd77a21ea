"""What a formula is made of, as a tree: each part gives one value, or as many as the formula's list has."""

import abc
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from apps.bench.network import bdp_bytes
from apps.bench.sweep.references.tokens import FormulaError
from apps.bench.text import Message, _


@dataclass(frozen=True)
class Reference:
    """A metric of an experiment, by the names of both."""

    experiment: str
    metric: str

    def __str__(self) -> str:
        return f"{self.experiment}.{self.metric}"


# Gives the figures that an experiment's trials measured of a metric, in its base unit; warm-ups are not among them.
Lookup = Callable[[Reference], Sequence[float]]

SUMMARIES: Mapping[str, Callable[[Sequence[float]], float]] = MappingProxyType(
    {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}
)


class FormulaNode(abc.ABC):
    """A part of a formula."""

    @abc.abstractmethod
    def values(self, lookup: Lookup) -> list[float]:
        """Return the part's value or values; FormulaError if something it needs was not measured."""

    def parts(self) -> Iterator["FormulaNode"]:
        """Yield this part and all those below."""
        yield self


@dataclass(frozen=True)
class Numbers(FormulaNode):
    """A number, or a list of several."""

    numbers: tuple[float, ...]

    def values(self, lookup: Lookup) -> list[float]:
        """Return the numbers as they were written; `lookup` is not asked."""
        return list(self.numbers)


@dataclass(frozen=True)
class SummaryNode(FormulaNode):
    """One figure of all that was measured of a metric."""

    function: str
    reference: Reference

    def values(self, lookup: Lookup) -> list[float]:
        """Return one figure, in the metric's base unit; FormulaError where nothing was measured."""
        figures = lookup(self.reference)
        if not figures:
            text = _("%(experiment)s gave no %(metric)s, which this formula needs: look at its trials.")
            raise FormulaError(Message(text, vars(self.reference)))
        return [SUMMARIES[self.function](figures)]


@dataclass(frozen=True)
class Product(FormulaNode):
    """The bandwidth-delay product (B) of a capacity (bit/s) and an RTT (s), not rounded yet."""

    capacity: FormulaNode
    rtt: FormulaNode

    def values(self, lookup: Lookup) -> list[float]:
        """Return it, or one for each value of the list if one of the two has it."""
        pairs = _paired(self.capacity.values(lookup), self.rtt.values(lookup))
        return [float(bdp_bytes(capacity, rtt) or 0) for capacity, rtt in pairs if _is_sound(capacity * rtt)]

    def parts(self) -> Iterator[FormulaNode]:
        """Yield this part and those below."""
        yield self
        yield from self.capacity.parts()
        yield from self.rtt.parts()


@dataclass(frozen=True)
class Operation(FormulaNode):
    """A sum, difference, product or quotient."""

    sign: str
    left: FormulaNode
    right: FormulaNode

    def values(self, lookup: Lookup) -> list[float]:
        """Return the result, or one for each value of the list if one of the two has it."""
        return [self._compute(a, b) for a, b in _paired(self.left.values(lookup), self.right.values(lookup))]

    def _compute(self, a: float, b: float) -> float:
        if self.sign == "/" and b == 0:
            raise FormulaError(Message(_("This formula divides by zero.")))
        result = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[self.sign]()
        _is_sound(result)
        return result

    def parts(self) -> Iterator[FormulaNode]:
        """Yield this part and those below."""
        yield self
        yield from self.left.parts()
        yield from self.right.parts()


def _paired(left: list[float], right: list[float]) -> list[tuple[float, float]]:
    """Return each value of the one with that of the other; only one of them can have several."""
    return [(a, b) for a in left for b in right]


def _is_sound(value: float) -> bool:
    if not math.isfinite(value):
        raise FormulaError(Message(_("This formula comes to no number: check what it multiplies.")))
    return True
