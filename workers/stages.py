"""Stages of campaigns: what later experiments need to know of the results of earlier ones."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast

from django.db import DatabaseError

from apps.campaigns import queries
from apps.campaigns import services as campaigns
from apps.campaigns.models import Experiment
from apps.results import queries as results

logger = logging.getLogger(__name__)


def open_stages(*, now: datetime) -> int:
    """Make the trials of every experiment whose turn has come; return how many experiments there were."""
    started = 0
    for experiment_id in list(queries.due_stages().values_list("pk", flat=True)):
        try:
            started += campaigns.start_stage(experiment_id=experiment_id, measured=measured_by, now=now)
        except DatabaseError:
            raise
        except Exception:
            # One experiment that can not be opened must not keep the others waiting.
            logger.exception("Experiment %s could not be opened; the next tick tries again", experiment_id)
    return started


def measured_by(experiment: Experiment, metric: str) -> Mapping[int, Sequence[float]]:
    """Return what the experiment's lanes measured of a metric: no warm-ups, nothing that was found invalid."""
    figures, _left_out = results.figures_of(experiment, metric, [results.NODES])
    found: dict[int, list[float]] = defaultdict(list)
    for figure in figures:
        (lane,) = figure.key
        found[cast(int, lane)].append(figure.value)
    return found
