"""Trials that are added to an experiment while it is measured."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max

from apps.bench import strict_json, sweep
from apps.bench.sweep import setting_names
from apps.bench.text import Message, _
from apps.bench.toolkit import ParameterError, Params
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
    numbers = Trial.objects.filter(lane=like.lane_id, point=like.point, is_warmup=False).aggregate(
        last=Max("repetition")
    )
    first = (numbers["last"] or 0) + 1
    return _add([_again(like, repetition=first + number) for number in range(count)])


@transaction.atomic
def add_blocks(*, experiment: Experiment, count: int, now: datetime) -> list[Trial]:
    """Add blocks after all that is planned: each visits every point of every lane once, in the experiment's order."""
    trials = Trial.objects.filter(experiment=experiment, is_warmup=False).select_related("experiment")
    cells: list[Any] = list(trials.order_by("position"))
    done = max((trial.repetition for trial in cells), default=0)
    cells = [trial for trial in cells if trial.repetition == 1]
    # Scheduled from the first block on, so that a random order goes on and does not begin anew.
    spec = sweep.make_spec(factors=[], repetitions=done + count, order=experiment.order, seed=experiment.seed)
    turns = [turn for turn in sweep.schedule_trials(cells, spec) if turn.repetition > done]
    return _add([_again(cells[turn.point_index], repetition=turn.repetition) for turn in turns])


@transaction.atomic
def add_points(*, like: Trial, points: Sequence[Params], repetitions: int, now: datetime) -> list[Trial]:
    """Add points to a trial's lane; those that the tool refuses are left out, which is said in the log."""
    tool = toolbox.get_tool(like.experiment.tool)
    last_point = Trial.objects.filter(experiment=like.experiment_id).aggregate(last=Max("point"))["last"] or 0
    rows: list[Trial] = []
    for point in points:
        try:
            parameters = tool.clean(setting_names.own_parameters(point))
        except ParameterError as error:
            text = _("%(experiment)s: a further value was refused: %(why)s")
            values = {"experiment": like.experiment.name, "why": str(error)}
            write_event(campaign_id=like.campaign_id, level=Level.WARNING, message=Message(text, values))
            continue
        last_point += 1
        settings = {name: value for name, value in point.items() if setting_names.is_setting(name)}
        changes = {
            "point": last_point,
            "parameters": json.loads(strict_json.dumps(parameters | settings)),
            "estimate_s": tool.estimate(parameters).duration_s + GAP_S,
        }
        rows += [_again(like, repetition=number, **changes) for number in range(1, repetitions + 1)]
    return _add(rows)


def _again(like: Trial, **changes: Any) -> Trial:
    """Return an unsaved trial on the lane of another and, but for the changes, of its point."""
    values = {"point": like.point, "parameters": like.parameters, "estimate_s": like.estimate_s} | changes
    return Trial(
        campaign_id=like.campaign_id,
        experiment_id=like.experiment_id,
        lane_id=like.lane_id,
        attempts_allowed=like.experiment.max_attempts,
        **values,
    )


def _add(rows: Sequence[Trial]) -> list[Trial]:
    """Save trials of one experiment after all that it has, and have a worker look."""
    if not rows:
        return []
    experiment = rows[0].experiment_id
    last = Trial.objects.filter(experiment=experiment).aggregate(last=Max("position"))["last"] or 0
    for position, trial in enumerate(rows, start=last + 1):
        trial.position = position
    added = Trial.objects.bulk_create(rows)
    live.publish(rows[0].campaign_id, "trial", experiment=experiment, trial=added[0].pk)
    queue.send(queue.SCHEDULE)
    return added
