"""The points of sweeps, as rules read them, and what a figure is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.bench import statistics
from apps.bench.toolkit import Tool, goes_back
from apps.bench.toolkit.ways import BACK, BOTH

# What a figure is: one measured value, or what a publication prints of several ("mode": one of two or more levels).
SAMPLE, MODE, AT_LEAST, BELOW, ABOUT = "sample", "mode", "at-least", "below", "about"

# No quantity of the field, in base units, comes near these; squares and ratios within them can be computed.
LEAST_FIGURE, MOST_FIGURE = 1e-60, 1e60


def is_figure(value: float) -> bool:
    """Return whether a value is one that rules can reckon with: zero, or a number of a size that things have.

    No rule reads a quantity that can be below zero: where one is printed so, a clock or a tool went wrong.
    """
    return value == 0 or LEAST_FIGURE <= value <= MOST_FIGURE


@dataclass(frozen=True)
class Point:
    """One point of a sweep: its parameters, and {metric: {trial id: value}} of its successful trials.

    `roles` {role: names of its nodes}; `file_system` a name of `Evidence.file_systems`; `observed` is what judges
    saw (as `Reading.observed`, of its last trial); `warnings` names of its flags, and `flagged` {name: trials} those
    of which it is known, `bears` {name: metrics} of flags that bear on some only; `at` its last one's Unix time;
    `harmonic` its metrics of which that is the right mean.
    """

    parameters: Mapping[str, Any]
    metrics: Mapping[str, Mapping[int, float]]
    tool: str = ""
    layer: str = ""
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file_system: str = ""
    observed: Mapping[str, Any] = field(default_factory=dict)
    warnings: frozenset[str] = frozenset()
    flagged: Mapping[str, frozenset[int]] = field(default_factory=dict)
    bears: Mapping[str, frozenset[str]] = field(default_factory=dict)
    statistic: str = SAMPLE
    experiment: int | None = None
    campaign: int | None = None
    at: float | None = None
    harmonic: frozenset[str] = frozenset()
    is_back: bool | None = None

    def __post_init__(self) -> None:
        """Leave out what is no figure: no number, below zero, or so far out that arithmetic with it overflows."""
        if all(is_figure(value) for values in self.metrics.values() for value in values.values()):
            return
        sound = {name: {t: v for t, v in own.items() if is_figure(v)} for name, own in self.metrics.items()}
        object.__setattr__(self, "metrics", {name: own for name, own in sound.items() if own})

    def goes_back(self, metric: str = "") -> bool:
        """Return whether the data of a metric went from the second role to the first, as tool or parameters say."""
        is_back = goes_back(None, self.parameters) if self.is_back is None else self.is_back
        return is_back != metric.endswith(BACK)

    @property
    def goes_both_ways(self) -> bool:
        """Return whether data went the other way meanwhile, too."""
        return self.parameters.get(Tool.backwards_at[0]) == BOTH

    def values(self, metric: str) -> list[float]:
        """Return the metric's values over the trials of the point."""
        return list(self.metrics.get(metric, {}).values())

    def kind_of_mean(self, metric: str) -> statistics.Mean:
        """Return which mean stands for the metric's values."""
        return statistics.Mean.HARMONIC if metric in self.harmonic else statistics.Mean.ARITHMETIC

    def mean(self, metric: str) -> float | None:
        """Return what stands for the metric's values over the trials, None without any."""
        values = self.values(metric)
        return statistics.middle_of(values, self.kind_of_mean(metric)) if values else None

    def trials(self, metric: str) -> tuple[int, ...]:
        """Return the ids of the trials that gave the metric."""
        return tuple(sorted(self.metrics.get(metric, {})))

    @property
    def place(self) -> tuple[Any, ...]:
        """Return a key that puts points in one order, whatever order they come in: by what was measured and how.

        Numbers ascend and stand before words; of one setting the elder trials come first.
        """
        parameters = tuple((name, place_of(value)) for name, value in sorted(self.parameters.items()))
        trials = tuple(sorted({trial for own in self.metrics.values() for trial in own}))
        roles = tuple(sorted((role, tuple(map(str, names))) for role, names in self.roles.items()))
        return (self.layer, self.tool, self.file_system, parameters, roles, trials, self.statistic)


def place_of(value: Any) -> tuple[int, Any]:
    """Return a key that sorts numbers before words."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return (0, value) if is_number else (1, str(value))
