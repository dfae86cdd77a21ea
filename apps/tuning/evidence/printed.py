"""Trends and ratios that a publication prints without the figures behind them."""

from collections.abc import Iterable
from typing import Any, TypedDict

from apps.bench.rules.base import Ratio, Trend
from apps.campaigns.models import Experiment
from apps.tuning.evidence.lanes import Measured


class Printed(TypedDict):
    """What `Evidence` takes of it."""

    trends: tuple[Trend, ...]
    ratios: tuple[Ratio, ...]


def has_any(experiment: Experiment) -> bool:
    """Say whether the experiment is of a publication that prints trends or ratios of it."""
    return bool(experiment.printed)


def of_lanes(lanes: Iterable[Measured]) -> Printed:
    """Return what is printed of the experiments of lanes."""
    experiments = {item.lane.experiment_id: item.lane.experiment for item in lanes}
    own = [experiment.printed for experiment in experiments.values() if experiment.printed]
    return Printed(
        trends=tuple(Trend(**_plain(item)) for printed in own for item in printed.get("trends", ())),
        ratios=tuple(Ratio(**_plain(item)) for printed in own for item in printed.get("ratios", ())),
    )


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "trials": tuple(item.get("trials", ()))}
