"""The problem classes of BT-IO of the NAS Parallel Benchmarks."""

from typing import NamedTuple


class ProblemClass(NamedTuple):
    """The edge of the cube in points, the iterations and the time step (bt.f's own, NPB 3.3)."""

    edge: int
    iterations: int
    step: str

    @property
    def data(self) -> int:
        """Return the bytes that a run writes: five double words a point, at every fifth iteration."""
        return self.edge**3 * 40 * (self.iterations // WRITE_EVERY)

    @property
    def most_ranks(self) -> int:
        """Return the largest square of ranks: each of its cells needs three points along an edge."""
        return (self.edge // 3) ** 2


WRITE_EVERY = 5
CLASSES = {
    "S": ProblemClass(12, 60, "0.010"),
    "W": ProblemClass(24, 200, "0.0008"),
    "A": ProblemClass(64, 200, "0.0008"),
    "B": ProblemClass(102, 200, "0.0003"),
    "C": ProblemClass(162, 200, "0.0001"),
    "D": ProblemClass(408, 250, "0.00002"),
}
