"""The appendix: every trial with its settings, state and figures, a table an experiment."""

from collections import defaultdict
from collections.abc import Sequence

from django.utils.translation import gettext as _

from apps.campaigns.models import Experiment, Trial
from apps.core import messages
from apps.reports.campaign.material import Material
from apps.reports.columns import column_of, scale_of
from apps.reports.document import Column, Section, Table, TextLink, Value
from apps.results import charts, doubts, queries
from apps.results.doubts import Doubts
from apps.results.models import Sample

# Of an experiment so many metrics stand in the appendix.
MOST_METRICS = 6
# More trials than this nobody reads; an export has all.
MOST_TRIALS = 20_000


def section(material: Material) -> Section:
    """Return the appendix."""
    names = {metric.name for metrics in material.metrics.values() for metric in metrics[:MOST_METRICS]}
    flagged = doubts.doubts_of(material.lanes, names)
    parts = tuple(_part(material, item, flagged) for item in material.experiments if material.trials(item).total)
    return Section("appendix", _("Appendix: every trial"), (), parts)


def _part(material: Material, experiment: Experiment, flagged: Doubts) -> Section:
    return Section(
        f"trials-of-{material.key(experiment)}",
        material.heading(experiment),
        (_table(material, experiment, flagged),),
    )


def _table(material: Material, experiment: Experiment, flagged: Doubts) -> Table:
    tool = material.tool(experiment)
    metrics = material.metrics[experiment.pk][:MOST_METRICS]
    names = [factor["name"] for factor in experiment.factors]
    lanes = {lane.pk: material.ends_of(lane) for lane in material.lanes[experiment.pk]}
    several = len(lanes) > 1
    rows = Trial.objects.filter(experiment=experiment).order_by("position")
    fields = "pk", "position", "lane_id", "repetition", "is_warmup", "parameters", "state", "finished_at", "reason"
    trials = list(rows.values_list(*fields, "invalid_reason", "invalid_at")[:MOST_TRIALS])
    figures: dict[str, dict[int, float]] = defaultdict(dict)
    metric_names = {metric.name for metric in metrics}
    samples = Sample.objects.filter(experiment=experiment, metric__in=metric_names, trial__position__lt=MOST_TRIALS)
    uncounted: dict[int, list[str]] = defaultdict(list)
    labels = {metric.name: _(metric.label) for metric in metrics}
    for trial, metric, value, counts in samples.values_list("trial_id", "metric", "value", "counts"):
        figures[metric][trial] = value
        if not counts:
            uncounted[trial].append(labels[metric])
    scales = [scale_of(figures[metric.name].values(), metric.unit) for metric in metrics]
    parameters = [queries.parameter_of(tool, name) for name in names]
    texts: dict[tuple[int, str], str] = {}

    def text_of(place: int, value: object) -> str:
        key = (place, repr(value))
        if key not in texts:
            texts[key] = charts.text_of(parameters[place], value, {})
        return texts[key]

    states = dict(Trial.State.choices)
    cells: list[tuple[Value | TextLink, ...]] = []
    for pk, position, lane, repetition, warmup, values, state, finished, reason, doubt, doubted_at in trials:
        remark = _("warm-up") if warmup else doubt if doubted_at else _reason(reason) if state == "failed" else ""
        if not remark:
            raised = [name for metric in metrics for name in flagged.names_of([pk], metric.name)]
            remark = _flags(raised, uncounted.get(pk, ()), whole=len(metrics))
        cells.append(
            (
                TextLink(str(position + 1), material.trial_ref(experiment, position)),
                *([lanes[lane]] if several else ()),
                *(text_of(place, values.get(name)) for place, name in enumerate(names)),
                repetition,
                str(states[state]),
                *(scale.of(figures[metric.name].get(pk)) for metric, scale in zip(metrics, scales, strict=True)),
                finished.isoformat(timespec="seconds") if finished else None,
                remark,
            )
        )
    columns_before = (
        Column(_("Trial")),
        *((Column(_("Nodes")),) if several else ()),
        *(Column(charts.label_of_factor(tool, name)) for name in names),
        Column(_("Repetition"), kind="number"),
        Column(_("State")),
    )
    columns = (
        *columns_before,
        *(column_of(metric, scale, columns_before) for metric, scale in zip(metrics, scales, strict=True)),
        Column(_("Finished"), kind="time"),
        Column(_("Remark")),
    )
    key = material.key(experiment)
    total = rows.count() if len(trials) == MOST_TRIALS else 0
    return Table(
        f"trials-{key}",
        _("Trials of %(name)s") % {"name": material.title_of(experiment)},
        columns,
        cells,
        total=total,
    )


def _flags(raised: Sequence[str], uncounted: Sequence[str], *, whole: int) -> str:
    """Return the flags of a trial, and which of its figures count in no statistics."""
    parts = [", ".join(dict.fromkeys(raised))] if raised else []
    if uncounted:
        all_of_them = len(uncounted) == whole
        parts.append(
            _("not counted") if all_of_them else _("not counted: %(names)s") % {"names": ", ".join(uncounted)}
        )
    return "; ".join(parts)


def _reason(reason: dict[str, object] | None) -> str:
    """Return why a trial failed, as its tool or agent said."""
    message = reason.get("message") if reason else None
    return messages.render(message) if isinstance(message, dict | str) else ""
