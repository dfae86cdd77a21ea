"""The figures of findings, as what was measured has them: which of its trials' figures stand behind each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

from apps.bench.statistics import Mean, mean_of
from apps.bench.toolkit import Metric, Tool
from apps.reports.campaign.material import Material
from apps.reports.columns import quantity
from apps.results import means
from apps.results.models import Sample
from apps.tuning.models import Finding

Record = Mapping[str, Any]
# What a rule's record has of its proof: what there is, what the other setting had, what is predicted.
FIGURES = ("present", "tried", "predicted")
# Figures that agree to this share are the same ones.
SAME = 1e-6


@dataclass(frozen=True)
class FindingFigure:
    """A figure of a finding (base unit), and those behind it with their mean; none of what a rule reckoned."""

    value: float | None
    unit: str
    behind: Sequence[float] = ()
    mean: Mean = Mean.ARITHMETIC

    @property
    def text(self) -> str:
        """Return it as sentences print it, "" if there is none."""
        return "" if self.value is None else quantity(self.value, self.unit)


Samples = Mapping[tuple[int, str], float]


def samples_of(material: Material, findings: Iterable[Finding]) -> Samples:
    """Return {(trial, metric): its figure that counts} of what findings may speak of: their proofs, their values."""
    trials: set[int] = set()
    metrics: set[str] = set()
    for finding in findings:
        for record in (finding.details, *(finding.details.get("parts") or ())):
            names = {str(metric)} if (metric := (record.get("proof") or {}).get("metric")) else set()
            if names := names | _metrics_of(material, finding, record):
                metrics |= names
                trials |= {trial.pk for trial in finding.trials.all()}
    if not metrics:
        return {}
    rows = Sample.objects.filter(trial__in=trials, metric__in=metrics, counts=True)
    return {(trial, metric): value for trial, metric, value in rows.values_list("trial_id", "metric", "value")}


def behind_of(
    finding: Finding, proof: Record, setting: Record | None, samples: Samples
) -> dict[int, tuple[Record, float]]:
    """Return {trial: (its parameters, its figure)} of those that a finding rests on at a setting of its proof."""
    name = str(proof.get("metric") or "")
    return {
        trial.pk: (trial.parameters, samples[trial.pk, name])
        for trial in finding.trials.all()
        if setting
        and trial.experiment.tool == proof.get("tool")
        and (trial.pk, name) in samples
        and all(trial.parameters.get(key) == value for key, value in setting.items())
    }


def measured(
    value: float, unit: str, tool: Tool | None, metric: Metric | None, behind: Mapping[int, tuple[Record, float]]
) -> FindingFigure:
    """Return a rule's figure: where it is a mean of what its trials measured, the mean that is right for them."""
    figures = [figure for _parameters, figure in behind.values()]
    if tool is None or metric is None or not figures or min(figures) <= 0 or not _is_mean(value, figures):
        return FindingFigure(value, unit)
    mean, _why = means.right_mean([tool], [parameters for parameters, _figure in behind.values()], metric.unit)
    return FindingFigure(means.value_of(figures, mean), unit, figures, mean)


def value_of(
    material: Material, finding: Finding, record: Record, figures: Iterable[FindingFigure], samples: Samples
) -> FindingFigure:
    """Return the value of a finding, or of a part of it, with what stands behind it.

    That is another of its figures (`figures`), by what its rule says of it; a mean of what its trials measured at one
    point; or nothing but what its rule reckoned.
    """
    value, unit = record.get("value"), str(record.get("unit") or "")
    if not isinstance(value, int | float):
        return FindingFigure(None, unit)
    values = (record.get(name) for name in FIGURES)
    for other, figure in zip(values, figures, strict=True):
        if isinstance(other, int | float) and figure.unit == unit and isclose(value, other, rel_tol=SAME):
            return figure
    groups: dict[tuple[int, int, int, str], list[float]] = {}
    metrics = sorted(_metrics_of(material, finding, record))
    for trial in finding.trials.all():
        for metric in metrics:
            if (own := samples.get((trial.pk, metric))) is not None:
                place = (trial.experiment_id, trial.lane_id, trial.point, metric)
                groups.setdefault(place, []).append(own)
    for behind in groups.values():
        kinds = [kind for kind in Mean if min(behind) > 0 and isclose(value, mean_of(behind, kind), rel_tol=SAME)]
        if kinds:
            return FindingFigure(float(value), unit, behind, kinds[0])
    return FindingFigure(float(value), unit)


def _metrics_of(material: Material, finding: Finding, record: Record) -> set[str]:
    """Return the metrics of which a finding's value may be: those that its tools measure in its unit."""
    unit = record.get("unit")
    tools = {trial.experiment.tool for trial in finding.trials.all()} if unit else set()
    return {
        metric.name
        for slug in tools & material.tools.keys()
        for metric in material.tools[slug].metrics
        if metric.unit == unit
    }


def _is_mean(value: float, behind: Sequence[float]) -> bool:
    """Return whether a rule's figure is a mean of these, of whichever kind."""
    return any(isclose(value, mean_of(behind, kind), rel_tol=SAME) for kind in Mean)


def figures_of(figure: FindingFigure) -> list[float]:
    """Return what stands behind a cell: the single figures, or the one that a rule reckoned."""
    return list(figure.behind) or ([] if figure.value is None else [figure.value])
