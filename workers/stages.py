"""Stages of campaigns: what later experiments need to know of the results of earlier ones."""

import logging
from collections.abc import Sequence
from datetime import datetime

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
            started += campaigns.start_stage(experiment_id=experiment_id, figures=figures_of, now=now)
        except DatabaseError:
            raise
        except Exception:
            # One experiment that can not be opened must not keep the others waiting.
            logger.exception("Experiment %s could not be opened; the next tick tries again", experiment_id)
    return started


def figures_of(experiment: Experiment, metric: str) -> Sequence[float]:
    """Return what the experiment's trials measured of a metric: no warm-ups, nothing that was found invalid."""
    figures, _left_out = results.figures_of(experiment, metric, [])
    return [figure.value for figure in figures]
