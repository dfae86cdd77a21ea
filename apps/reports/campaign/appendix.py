"""The appendix: every trial with its settings, state and figures, a table an experiment."""

from collections import defaultdict

from django.utils.translation import gettext as _

from apps.campaigns.models import Experiment, Trial
from apps.core import messages
from apps.reports.campaign.columns import column_of, scale_of
from apps.reports.campaign.material import Material
from apps.reports.document import Column, Link, Section, Table, Value
from apps.results import charts, queries
from apps.results.models import Sample

# Of an experiment so many metrics stand in the appendix.
MOST_METRICS = 6
# More trials than this nobody reads; an export has all.
MOST_TRIALS = 20_000


def section(made: Material) -> Section:
    """Return the appendix."""
    parts = tuple(_part(made, item) for item in made.experiments if made.trials(item).total)
    return Section("appendix", _("Appendix: every trial"), (), parts)


def _part(made: Material, experiment: Experiment) -> Section:
    return Section(f"trials-of-{made.key(experiment)}", made.heading(experiment), (_table(made, experiment),))


def _table(made: Material, experiment: Experiment) -> Table:
    tool = made.tool(experiment)
    metrics = made.metrics[experiment.pk][:MOST_METRICS]
    names = [factor["name"] for factor in experiment.factors]
    lanes = {lane.pk: made.ends_of(lane) for lane in made.lanes[experiment.pk]}
    several = len(lanes) > 1
    rows = Trial.objects.filter(experiment=experiment).order_by("position")
    fields = "pk", "position", "lane_id", "repetition", "is_warmup", "parameters", "state", "finished_at", "reason"
    trials = list(rows.values_list(*fields, "invalid_reason", "invalid_at")[:MOST_TRIALS])
    figures: dict[str, dict[int, float]] = defaultdict(dict)
    wanted = {metric.name for metric in metrics}
    samples = Sample.objects.filter(experiment=experiment, metric__in=wanted, trial__position__lt=MOST_TRIALS)
    for trial, metric, value in samples.values_list("trial_id", "metric", "value"):
        figures[metric][trial] = value
    scales = [scale_of(figures[metric.name].values(), metric.unit) for metric in metrics]
    parameters = [queries.parameter_of(tool, name) for name in names]
    texts: dict[tuple[int, str], str] = {}

    def text_of(place: int, value: object) -> str:
        key = (place, repr(value))
        if key not in texts:
            texts[key] = charts.text_of(parameters[place], value, {})
        return texts[key]

    states = dict(Trial.State.choices)
    cells: list[tuple[Value | Link, ...]] = []
    for pk, position, lane, repetition, warmup, values, state, finished, reason, doubt, doubted_at in trials:
        remark = _("warm-up") if warmup else doubt if doubted_at else _reason(reason) if state == "failed" else ""
        cells.append(
            (
                Link(str(position + 1), made.trial_ref(experiment, position)),
                *([lanes[lane]] if several else ()),
                *(text_of(place, values.get(name)) for place, name in enumerate(names)),
                repetition,
                str(states[state]),
                *(scale.of(figures[metric.name].get(pk)) for metric, scale in zip(metrics, scales, strict=True)),
                finished.isoformat(timespec="seconds") if finished else None,
                remark,
            )
        )
    columns = (
        Column(_("Trial")),
        *((Column(_("Nodes")),) if several else ()),
        *(Column(charts.label_of_factor(tool, name)) for name in names),
        Column(_("Repetition"), kind="number"),
        Column(_("State")),
        *(column_of(metric, scale) for metric, scale in zip(metrics, scales, strict=True)),
        Column(_("Finished"), kind="time"),
        Column(_("Remark")),
    )
    key = made.key(experiment)
    total = rows.count() if len(trials) == MOST_TRIALS else 0
    return Table(
        f"trials-{key}", _("Trials of %(name)s") % {"name": made.title_of(experiment)}, columns, cells, total=total
    )


def _reason(reason: dict[str, object] | None) -> str:
    """Return why a trial failed, as its tool or agent said."""
    told = reason.get("message") if reason else None
    return messages.render(told) if isinstance(told, dict | str) else ""
