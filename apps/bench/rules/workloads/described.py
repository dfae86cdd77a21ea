"""A workload as a person describes it: files, pattern, and how many nodes do I/O."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.bench.rules.base import Point
from apps.bench.rules.bearing import METRICS_OF_PATTERNS

WRITE, READ, RANDOM_WRITE, RANDOM_READ = PATTERNS = ("write", "read", "randwrite", "randread")


@dataclass(frozen=True)
class Workload:
    """What an application does: all of its nodes at once, each task on files of its own unless `shared`.

    `file_size` and `record_size` (bytes moved by each call, None: large) in B; `nodes` do I/O with `tasks` on each;
    `total` is all that is moved (B), `wanted` the rate it needs (B/s), if they are known; `file_system` limits the
    choice to one.
    """

    pattern: str
    file_size: int
    nodes: int = 1
    tasks: int = 1
    record_size: int | None = None
    shared: bool = False
    total: float | None = None
    wanted: float | None = None
    file_system: str = ""

    def __post_init__(self) -> None:
        """Refuse what no application does."""
        if self.pattern not in PATTERNS:
            raise ValueError(f"a pattern is one of {', '.join(PATTERNS)}")
        if min(self.file_size, self.nodes, self.tasks) < 1 or (self.record_size is not None and self.record_size < 1):
            raise ValueError("sizes and counts of a workload are at least one")


def metric_of(point: Point, pattern: str) -> str:
    """Return the name of a pattern's rate among the metrics of a point's tool."""
    own, of_fio = METRICS_OF_PATTERNS[pattern]
    return of_fio if point.tool == "fio" else own


def rates_of(point: Point, pattern: str) -> Mapping[int, float]:
    """Return {trial: rate (B/s)} that a point gives of a pattern, {} for none."""
    if point.tool == "fio" and point.parameters.get("pattern") != pattern:
        return {}
    return point.metrics.get(metric_of(point, pattern), {})
