"""What an experiment measures next because of what it has measured: more repetitions, or values in between."""

import logging
from collections import defaultdict
from datetime import datetime

from django.db import DatabaseError, transaction

from apps.bench.rules.runner import words_of
from apps.bench.sweep import refinement, repetition
from apps.bench.text import Message, _
from apps.bench.toolkit import Params, Tool
from apps.campaigns import adaptive
from apps.campaigns.models import Event, Experiment, Trial
from apps.campaigns.services import adaptation, write_event
from apps.results import queries as results
from apps.toolbox import queries as toolbox
from apps.tuning import services as tuning

logger = logging.getLogger(__name__)

_OPEN = (Trial.State.PENDING, Trial.State.RUNNING)


def adapt(*, trial: Trial, now: datetime) -> None:
    """Decide what the end of a trial asks for, within the transaction that ends it: its campaign cannot end before.

    A point is judged when its last planned repetition has ended, a search goes on when its last point was judged.
    Where that cannot be computed the log says so, and the trial ends: what was planned is carried out, and no more.
    """
    if not trial.experiment.is_adaptive or trial.is_warmup:
        return
    try:
        with transaction.atomic():
            _decide(trial, now)
    except DatabaseError:
        raise
    except Exception as error:
        logger.exception("What experiment %s measures next could not be decided", trial.experiment_id)
        text = _("What to measure next could not be decided (%(error)s): nothing is added to what was planned.")
        write_event(
            campaign_id=trial.experiment.campaign_id,
            trial_id=trial.pk,
            level=Event.Level.ERROR,
            message=Message(text, {"error": words_of(error)}),
        )


def _decide(trial: Trial, now: datetime) -> None:
    experiment = adaptation.lock_experiment(trial.experiment_id)
    if tuning.continue_verification(experiment=experiment, now=now):
        return
    tool = toolbox.get_tool(experiment.tool)
    metric = results.metrics_of(tool)[0].name
    tried = Trial.objects.filter(lane=trial.lane_id, point=trial.point, is_warmup=False)
    if tried.filter(state__in=_OPEN).exists():
        return
    if experiment.precision is not None and _repeat(experiment, trial, tried.count(), metric, now):
        return
    if experiment.search_factor:
        _search(experiment, trial, tool, metric, now)


def _repeat(experiment: Experiment, trial: Trial, tried: int, metric: str, now: datetime) -> bool:
    """Add the repetitions that a point still needs; False if it needs none or may have no more."""
    rule = repetition.Repetition(experiment.precision or repetition.DEFAULT_PRECISION, experiment.most_repetitions)
    values = results.values_of(experiment, metric, lane=trial.lane_id).get(trial.point, [])
    verdict = repetition.judge_point(values, tried, rule)
    if verdict.missing:
        adaptation.add_repetitions(like=trial, count=verdict.missing, now=now)
        return True
    if not verdict.converged:
        text = _("%(experiment)s, point %(point)s did not converge: ±%(got)s %% after %(count)s repetitions.")
        got = "?" if verdict.half_width is None else f"{100 * verdict.half_width:.1f}"
        numbers = {"experiment": experiment.name, "point": trial.point + 1, "got": got, "count": tried}
        write_event(
            campaign_id=experiment.campaign_id,
            trial_id=trial.pk,
            level=Event.Level.WARNING,
            message=Message(text, numbers),
        )
    return False


def _search(experiment: Experiment, trial: Trial, tool: Tool, metric: str, now: datetime) -> None:
    """Add the values at which the search along the factor goes on, once all of its points have ended."""
    name = experiment.search_factor
    rest = adaptive.rest_of(trial.parameters, name)
    points: dict[int, Params] = {}
    planned: set[int] = set()
    rows = Trial.objects.filter(lane=trial.lane_id, is_warmup=False).values_list(
        "point", "parameters", "state", "created_at"
    )
    for point, parameters, state, created_at in rows:
        if adaptive.rest_of(parameters, name) != rest:
            continue
        if state in _OPEN:
            return
        points[point] = parameters
        if experiment.expanded_at is None or created_at <= experiment.expanded_at:
            planned.add(point)
    measured = _measured(experiment, trial.lane_id, points, metric)
    parameter = next(item for item in tool.parameters if item.name == name)
    values = refinement.next_values(
        measured,
        experiment.search_goal,
        experiment.search_budget - len(points.keys() - planned),
        adaptive.rounding_of(parameter),
        parameter.maximum if parameter.maximum is not None else float("inf"),
    )
    # One that gave no result is not asked for again.
    tried = {parameters[name] for parameters in points.values()}
    wanted = [{**trial.parameters, name: value} for value in values if value not in tried]
    repetitions = max(experiment.repetitions, repetition.LEAST) if experiment.precision else experiment.repetitions
    adaptation.add_points(like=trial, points=wanted, repetitions=repetitions, now=now)


def _measured(
    experiment: Experiment, lane: int, points: dict[int, Params], metric: str
) -> list[refinement.MeasuredValue]:
    """Return what the points of a search gave, those of equal value put together."""
    by_value: dict[float, list[float]] = defaultdict(list)
    for point, values in results.values_of(experiment, metric, lane=lane).items():
        if point in points and values:
            by_value[points[point][experiment.search_factor]] += values
    points_measured = []
    for x, values in by_value.items():
        mean = sum(values) / len(values)
        points_measured.append(refinement.MeasuredValue(x, mean, (repetition.half_width(values) or 0.0) * abs(mean)))
    return points_measured
