"""The test that a statement about a curve rests on, and what it came to."""

from dataclasses import dataclass
from enum import Enum

from apps.bench.text import Message, _

# Of a hundred curves whose places do not differ one may be said to differ; of a hundred that differ by just what
# counts as alike, five may be said to be alike.
ALPHA, ALPHA_ALIKE = 0.01, 0.05


class ProofTest(Enum):
    """Which test was done."""

    NONE = "none"
    # None was done: figures fall into two modes, and a mean of both goes with how many met which.
    MODES = "modes"
    # None was done: all figures are equal, and what does not scatter has no chance to be reckoned with.
    EQUAL = "equal"
    # Of differences of means, on the logarithms where all figures are above zero.
    STUDENT = "t"
    # Two one-sided t tests that places differ by no more than a margin.
    EQUIVALENCE = "equivalence"
    # Whether figures go up or down with the places, by their order alone.
    KENDALL = "kendall"


_NAMES = {
    ProofTest.STUDENT: _("t test, n = %(n)s, %(p)s"),
    ProofTest.EQUIVALENCE: _("equivalence test, n = %(n)s, %(p)s"),
    ProofTest.KENDALL: _("Kendall's test of the order, n = %(n)s, %(p)s"),
}
_MODES = _("n = %(n)s, repetitions fall into two modes: means of both tell no more")
_EQUAL = _("n = %(n)s, the same in every run: nothing to test")
_TOO_FEW = _("n = %(n)s: not enough to tell")


@dataclass(frozen=True)
class TestOutcome:
    """A test's outcome: `n` is the least number of figures at a place that it rests on, `p` None if none was done."""

    test: ProofTest
    n: int
    p: float | None

    @property
    def is_enough(self) -> bool:
        """Return whether anything could be tested."""
        return self.p is not None

    @property
    def message(self) -> Message:
        """Return it in words: "t test, n = 5, p = 0.003", or "n = 1: not enough to tell"."""
        if self.test is ProofTest.MODES:
            return Message(_MODES, {"n": self.n})
        if self.test is ProofTest.EQUAL:
            return Message(_EQUAL, {"n": self.n})
        if self.p is None:
            return Message(_TOO_FEW, {"n": self.n})
        return Message(_NAMES[self.test], {"n": self.n, "p": "p < 0.001" if self.p < 0.001 else f"p = {self.p:.2g}"})
