"""Stages of campaigns: what later experiments need to know of the results of earlier ones."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast

from apps.campaigns import queries
from apps.campaigns import services as campaigns
from apps.campaigns.models import Experiment
from apps.core import isolation
from apps.core.models import SetAside
from apps.results import queries as results

OPEN_STAGES = "open_stages"


def open_stages(*, now: datetime) -> int:
    """Make the trials of every experiment whose turn has come; return how many experiments there were."""

    def start(pk: int) -> bool:
        return campaigns.start_stage(experiment_id=pk, measured=measured_by, now=now)

    due = queries.due_stages().values_list("pk", flat=True)
    return sum(isolation.for_each(OPEN_STAGES, due, start, now=now, tell=_tell))


def _tell(pk: int, fault: SetAside) -> None:
    campaigns.write_fault(Experiment.objects.values_list("campaign_id", flat=True).get(pk=pk), fault)


def measured_by(experiment: Experiment, metric: str) -> Mapping[int, Sequence[float]]:
    """Return what the experiment's lanes measured of a metric: no warm-ups, nothing that was found invalid."""
    figures, _left_out = results.figures_of(experiment, metric, [results.NODES])
    by_lane: dict[int, list[float]] = defaultdict(list)
    for figure in figures:
        (lane,) = figure.key
        by_lane[cast(int, lane)].append(figure.value)
    return by_lane
