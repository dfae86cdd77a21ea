"""A cell of the matrix."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.bench.rules.passed import Passed
from apps.bench.sweep import likeness
from apps.core.messages import render
from apps.results.addresses import point_key
from apps.results.doubts import Mark

# What has this share of a figure came near it.
NEAR = 0.9


@dataclass(frozen=True)
class MatrixCell:
    """The figure from one site to another: the mean of `n` samples of the best sustained setting, measured `at`.

    Of each setting the newest repeated figure counts, so that neither a sweep of bad settings nor a single run takes
    its place; the best of these in the metric's own direction (the newest where neither is better). `points` counts
    the settings, `setting` and `nodes` say in words which it is and between which nodes;
    `is_told` whether only an archive says that it was measured, `ceiling` what no figure of it exceeds, None where
    the inventory does not tell. `since` is the best of the settings that were measured a week later and more, None
    without any. `passed` is what more than a capacity came through the same way, whoever measured it.
    """

    source: int
    target: int
    value: float
    n: int
    experiment: int
    experiment_name: str
    lane: int
    point: int
    points: int
    at: datetime
    parameters: dict[str, Any]
    setting: str = ""
    nodes: str = ""
    is_told: bool = False
    mark: Mark | None = None
    ceiling: float | None = None
    passed: Passed | None = None
    since: float | None = None
    is_higher_better: bool = True

    @property
    def is_doubted(self) -> bool:
        """Say whether nothing measured since came near the figure: whether it still holds is not known."""
        if self.since is None:
            return False
        return self.since < NEAR * self.value if self.is_higher_better else NEAR * self.since > self.value

    @property
    def share(self) -> float | None:
        """Return the figure as a share of the ceiling."""
        return self.value / self.ceiling if self.ceiling else None

    @property
    def point_key(self) -> str:
        """Return the name of its setting in the addresses of histories."""
        return point_key(likeness.told_of(self.parameters))

    @property
    def remark(self) -> str:
        """Return what speaks against the figure, in the reader's language; "" for nothing."""
        return render(self.passed.message) if self.passed else ""
