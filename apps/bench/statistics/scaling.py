"""How a rate grows with clients, streams or processes: three laws, fitted and told apart."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

LINEAR, AMDAHL, UNIVERSAL = "linear", "amdahl", "usl"


@dataclass(frozen=True)
class Scaling:
    """A law X(N) = a N / (1 + s (N - 1) + k N (N - 1)).

    s is the serial share (Amdahl, 1967: k = 0), k the cost of keeping N consistent (Gunther's Universal Scalability
    Law, 2007); linear has neither. `error` is the root mean square of the relative errors of the fit, `score` the
    corrected information criterion (lower is better).
    """

    law: str
    a: float
    s: float
    k: float
    error: float
    score: float

    def at(self, n: float) -> float:
        """Return the rate that the law gives for n."""
        return self.a * n / (1 + self.s * (n - 1) + self.k * n * (n - 1))

    @property
    def peak(self) -> float | None:
        """Return the n of the highest rate, sqrt((1 - s) / k); None where the law never falls."""
        return math.sqrt((1 - self.s) / self.k) if self.k > 0 and self.s < 1 else None

    @property
    def ceiling(self) -> float | None:
        """Return the rate that no n exceeds: a / s, or that at the peak; None for a linear law."""
        if self.peak is not None:
            return self.at(max(self.peak, 1.0))
        return self.a / self.s if self.s > 0 else None


def fit_scaling(ns: Sequence[float], rates: Sequence[float]) -> tuple[Scaling, ...]:
    """Return the laws that fit rates (> 0) at counts n (>= 1), the best first; none for fewer than three counts.

    N / X is linear in 1, N - 1 and N (N - 1); least squares with weights X / N make its errors relative ones of X, as
    those of measured rates are. A law whose s or k comes out below zero is left out: the simpler one says the same.
    Compared by AICc (Hurvich, Tsai, 1989). ValueError for counts below one or rates not above zero.
    """
    if any(n < 1 or not math.isfinite(n) for n in ns) or any(x <= 0 or not math.isfinite(x) for x in rates):
        raise ValueError("a law of scaling needs counts from one and rates above zero")
    points = list(zip(ns, rates, strict=True))
    if len(set(ns)) < 3:
        return ()
    terms: dict[str, tuple[Callable[[float], float], ...]] = {
        LINEAR: (lambda n: 1.0,),
        AMDAHL: (lambda n: 1.0, lambda n: n - 1),
        UNIVERSAL: (lambda n: 1.0, lambda n: n - 1, lambda n: n * (n - 1)),
    }
    scalings = []
    for law, functions in terms.items():
        solution = _least_squares(points, functions)
        if solution is None or min(solution) < 0 or solution[0] <= 0:
            continue
        a = 1 / solution[0]
        s, k = (a * value for value in (*solution[1:], 0.0, 0.0)[:2])
        scalings.append(_judged(law, a, s, k, points))
    return tuple(sorted(scalings, key=lambda scaling: scaling.score))


def _judged(law: str, a: float, s: float, k: float, points: Sequence[tuple[float, float]]) -> Scaling:
    bare = Scaling(law, a, s, k, 0.0, 0.0)
    relative = [(bare.at(n) - x) / x for n, x in points]
    squares = math.fsum(error * error for error in relative)
    count, free = len(points), 1 + (law != LINEAR) + (law == UNIVERSAL) + 1
    # A perfect fit has no logarithm: below a millionth all errors are alike.
    score = count * math.log(max(squares / count, 1e-12)) + 2 * free
    score += 2 * free * (free + 1) / (count - free - 1) if count > free + 1 else math.inf
    return Scaling(law, a, s, k, math.sqrt(squares / count), score)


def _least_squares(
    points: Sequence[tuple[float, float]], functions: Sequence[Callable[[float], float]]
) -> list[float] | None:
    """Solve the weighted normal equations by Gauss's elimination with pivots; None if they are singular."""
    size = len(functions)
    rows = [[0.0] * (size + 1) for _row in range(size)]
    for n, x in points:
        weight = (x / n) ** 2
        terms = [function(n) for function in functions]
        for i in range(size):
            for j in range(size):
                rows[i][j] += weight * terms[i] * terms[j]
            rows[i][size] += weight * terms[i] * n / x
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        if abs(rows[pivot][column]) <= 1e-12 * abs(rows[0][0]):
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(size):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [value - factor * other for value, other in zip(rows[row], rows[column], strict=True)]
    return [rows[row][size] / rows[row][row] for row in range(size)]
