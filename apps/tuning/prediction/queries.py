"""Calibrate a model on what an experiment measured between one set of nodes, and ask it for a setting."""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Avg

from apps.bench import model, statistics, units
from apps.bench.model.calibration import LEAST_SETTINGS
from apps.bench.rules import pace
from apps.bench.rules.runner import words_of
from apps.bench.rules.storage import caches
from apps.bench.rules.tcp.path import REFUTED
from apps.bench.text import Message, _
from apps.bench.toolkit import Metric, Parameter, Tool
from apps.bench.toolkit.doubts import HELD
from apps.campaigns.models import Experiment, Lane
from apps.core import parts
from apps.results import doubts, means
from apps.results import queries as results
from apps.results.doubts import Mark
from apps.results.evidence.passed import passed_along
from apps.results.models import Sample
from apps.results.theory import theory_of
from apps.toolbox import queries as toolbox

logger = logging.getLogger(__name__)

# What came through a path, one way or the other.
GOODPUTS = ("goodput", "goodput_reverse")
# What a sender's own limit held, or what a cache gave or may have given, tells of no other setting.
OF_NO_OTHER = HELD | caches.FLAGS | pace.OF_SERVER
# What a model names as the limit at a setting, in words.
LIMITS = {
    "capacity": _("the capacity: the path, or what all together reach"),
    "window": _("the window of each stream"),
    "flow": _("what each one has by itself"),
    "loss": _("loss"),
    "disk": _("the disks"),
    "wait": _("the wait for each request"),
    "bytes": _("the bytes of each request"),
    "linear": _("nothing yet: it grows in proportion"),
    "amdahl": _("the share that is done one after the other (Amdahl)"),
    "usl": _("what they cost each other (Universal Scalability Law)"),
}


@dataclass(frozen=True)
class PredictionQuestion:
    """A question: of which experiment, lane and metric, and the texts of the values of the factors that varied."""

    experiment: Experiment
    tool: Tool
    lane: Lane
    metric: Metric
    factors: tuple[Parameter, ...]
    texts: Mapping[str, str]

    @property
    def is_whole(self) -> bool:
        """Return whether every factor has a value."""
        return all(self.texts.get(factor.name) for factor in self.factors)


@dataclass(frozen=True)
class PredictionAnswer:
    """A prediction in the metric's unit, its model's typical error (a share), and what of the setting was measured.

    `measured` is the mean at this very setting, None if it was not measured; `ranges` {label: (least, most, unit)} of
    each factor; `trials` those that the model rests on.
    """

    prediction: model.Prediction
    limit: str
    error: float
    beyond: tuple[str, ...]
    measured: float | None
    ranges: dict[str, tuple[float, float, str]]
    trials: tuple[int, ...]
    mark: Mark | None


class UnansweredQuestion(ValueError):
    """A question without an answer: `field` names what to change ("" none), `message` says why."""

    def __init__(self, message: Message, field: str = "") -> None:
        self.message, self.field = message, field
        super().__init__(str(message))


def metrics_of(tool: Tool) -> list[Metric]:
    """Return the metrics that a model is known of: rates."""
    return [metric for metric in results.metrics_of(tool) if metric.unit in ("bit/s", "B/s")]


def factors_of(experiment: Experiment, tool: Tool) -> tuple[Parameter, ...]:
    """Return the parameters that the experiment varies, in its order."""
    parameters = (results.parameter_of(tool, factor["name"]) for factor in experiment.factors)
    return tuple(parameter for parameter in parameters if parameter)


def predict(question: PredictionQuestion) -> PredictionAnswer:
    """Return the answer; Unanswered says why there is none, and what would help."""
    setting = {}
    for factor in question.factors:
        try:
            value = factor.clean(question.texts.get(factor.name, ""))
        except units.UnitError as error:
            raise UnansweredQuestion(error.message, factor.name) from None
        if isinstance(value, bool) or not isinstance(value, int | float):
            text = _("%(name)s is neither a count nor a size: between its values there is nothing to predict.")
            raise UnansweredQuestion(Message(text, {"name": factor.name}), factor.name)
        setting[factor.name] = float(value)
    rows = _rows(question)
    kinds = {parameter.name: parameter.kind for parameter in question.tool.parameters}
    try:
        calibrated = model.calibrate_any(rows, kinds, _ceiling_bps(question))
        # Windows and streams of TCP make one model, also where only one of them varied.
        names = calibrated.observations[0].setting
        whole = {name: setting.get(name, calibrated.observations[0].setting[name]) for name in names}
        prediction = calibrated.predict(whole)
    except model.NotPredictable as error:
        raise UnansweredQuestion(error.message) from None
    except Exception as error:
        logger.exception("The model of experiment %s failed", question.experiment.pk)
        raise UnansweredQuestion(parts.failed(_("The model"), words_of(error))) from None
    labels = {parameter.name: parameter for parameter in question.tool.parameters}
    return PredictionAnswer(
        prediction=prediction,
        limit=LIMITS[prediction.limit],
        error=calibrated.error,
        beyond=tuple(labels[name].label for name in prediction.beyond),
        measured=next((item.rate for item in calibrated.observations if dict(item.setting) == whole), None),
        ranges={
            labels[factor.name].label: (
                min(item.setting[factor.name] for item in calibrated.observations),
                max(item.setting[factor.name] for item in calibrated.observations),
                factor.unit,
            )
            for factor in question.factors
            if factor.name in names
        },
        trials=calibrated.trials,
        mark=doubts.doubts_of_figures(calibrated.trials, question.metric.name).about(
            calibrated.trials, question.metric.name
        ),
    )


def _ceiling_bps(question: PredictionQuestion) -> float | None:
    """Return what the links as described carry (bit/s); None where that is not known, or more came through them."""
    ceiling = theory_of(question.experiment).ceiling_bps if question.metric.unit == "bit/s" else None
    if ceiling is None:
        return None
    lanes = Lane.objects.filter(experiment__campaign=question.experiment.campaign_id).select_related("experiment")
    tools = {slug: toolbox.get_tool(slug) for slug in {lane.experiment.tool for lane in lanes}}
    nodes = {node for _role, node in results.ends_of(question.lane, question.tool)}
    same = [
        lane
        for lane in lanes
        if {node for _role, node in results.ends_of(lane, tools[lane.experiment.tool])} == nodes
    ]
    rows = Sample.objects.filter(
        experiment__campaign=question.experiment.campaign_id, trial__lane__in=same, counts=True
    )
    rates = (
        rows.filter(metric__in=GOODPUTS).values("trial__lane", "trial__point", "metric").annotate(rate=Avg("value"))
    )
    maximum = max((row["rate"] for row in rates.order_by()), default=0.0)
    trials = rows.filter(trial__lane=question.lane, metric=question.metric.name).values_list("trial", flat=True)
    passed = passed_along({question.lane.pk: set(trials)}, question.tool, question.metric.name).get(question.lane.pk)
    maximum = max(maximum, passed.rate_bps if passed else 0.0)
    return ceiling if maximum <= REFUTED * ceiling else None


def _rows(question: PredictionQuestion) -> list[model.MeasuredPoint]:
    """Return each point with the mean of the samples that count, and the interval of that within its figures."""
    rows = Sample.objects.filter(
        experiment=question.experiment, metric=question.metric.name, trial__lane=question.lane, counts=True
    ).values_list("trial__point", "trial__parameters", "trial_id", "value")
    kind = means.mean_of_experiments([question.experiment], question.metric)
    held_trials, limited = _flagged(question, pace.DISTURBED), _flagged(question, OF_NO_OTHER)
    parameters: dict[int, dict[str, Any]] = {}
    values: dict[int, dict[int, float]] = defaultdict(dict)
    for point, own, trial, value in rows:
        if trial in limited:
            continue
        parameters[point] = own
        values[point][trial] = value
    by_point = {point: pace.free_of(own, held_trials) for point, own in values.items()}
    # What a setting has of which no run stayed the same nobody knows; the others tell it, if they are enough.
    unsteady = _flagged(question, (pace.NOT_STEADY,))
    steady = {point: own for point, own in by_point.items() if own.keys() - unsteady}
    by_point = steady if len(steady) >= LEAST_SETTINGS else by_point
    return [
        model.MeasuredPoint(
            parameters[point], means.value_of([*own.values()], kind), tuple(own), _interval([*own.values()], kind)
        )
        for point, own in by_point.items()
    ]


def _interval(values: Sequence[float], kind: statistics.Mean) -> tuple[float, float] | None:
    """Return where the mean may really lie, no farther out than what was measured; None of a single figure."""
    interval = statistics.summarise(values, kind).interval
    return (max(interval.low, min(values)), min(interval.high, max(values))) if interval else None


def _flagged(question: PredictionQuestion, names: Collection[str]) -> set[int]:
    """Return the trials whose figures judges flagged by one of these names, such as of something passing."""
    raised = doubts.doubts_of([question.experiment.pk], [question.metric.name]).raised
    return {trial for (trial, _metric), flags in raised.items() if {*names} & {flag["name"] for flag in flags}}
