"""Trials that are added to an experiment while it is measured."""

import json
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.bench.sweep import setting_names
from apps.bench.text import Message, _
from apps.bench.tools.base import ParameterError, Params
from apps.campaigns import live
from apps.campaigns.estimation import GAP_S
from apps.campaigns.models import Experiment, Trial
from apps.campaigns.services.events import Level, write_event
from apps.core import queue
from apps.toolbox import queries as toolbox


@transaction.atomic
def lock_experiment(experiment_id: int) -> Experiment:
    """Return an experiment of which nobody else decides meanwhile."""
    return Experiment.objects.select_for_update(no_key=True).get(pk=experiment_id)


@transaction.atomic
def add_repetitions(*, like: Trial, count: int, now: datetime) -> list[Trial]:
    """Add repetitions of a trial's point on its lane, after all that is planned."""
    last = Trial.objects.filter(lane=like.lane_id, point=like.point, is_warmup=False).aggregate(
        most=Max("repetition")
    )
    rows = [(like.point, like.parameters, (last["most"] or 0) + 1 + number) for number in range(count)]
    return _add(like, rows, like.estimate_s, now)


@transaction.atomic
def add_points(*, like: Trial, points: Sequence[Params], repetitions: int, now: datetime) -> list[Trial]:
    """Add points to a trial's lane; those that the tool refuses are left out, which is said in the log."""
    tool = toolbox.get_tool(like.experiment.tool)
    taken = Trial.objects.filter(experiment=like.experiment_id).aggregate(most=Max("point"))["most"] or 0
    added: list[Trial] = []
    for point in points:
        try:
            parameters = tool.clean(setting_names.own_parameters(point))
        except ParameterError as error:
            text = _("%(experiment)s: a further value was refused: %(why)s")
            values = {"experiment": like.experiment.name, "why": str(error)}
            write_event(campaign_id=like.campaign_id, level=Level.WARNING, message=Message(text, values))
            continue
        taken += 1
        settings = {name: value for name, value in point.items() if setting_names.is_setting(name)}
        rows = [(taken, parameters | settings, number) for number in range(1, repetitions + 1)]
        added += _add(like, rows, tool.estimate(parameters).duration_s + GAP_S, now)
    return added


def _add(like: Trial, rows: Sequence[tuple[int, Params, int]], estimate_s: float, now: datetime) -> list[Trial]:
    position = Trial.objects.filter(experiment=like.experiment_id).aggregate(most=Max("position"))["most"] or 0
    added = Trial.objects.bulk_create(
        Trial(
            campaign_id=like.campaign_id,
            experiment_id=like.experiment_id,
            lane_id=like.lane_id,
            position=position + place,
            point=point,
            repetition=repetition,
            parameters=json.loads(json.dumps(parameters)),
            estimate_s=estimate_s,
            attempts_allowed=like.experiment.max_attempts,
        )
        for place, (point, parameters, repetition) in enumerate(rows, start=1)
    )
    live.publish(like.campaign_id, "trial", experiment=like.experiment_id, trial=like.pk)
    queue.send(queue.SCHEDULE)
    return added
