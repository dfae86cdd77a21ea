"""What a later campaign of the same report measured otherwise than an earlier finding says: it is how things were."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.bench import comparison, strict_json
from apps.bench.comparison import ContrastVerdict
from apps.bench.toolkit import Metric, Tool
from apps.campaigns.models import Campaign, Trial
from apps.reports.columns import quantity
from apps.results import means
from apps.results.models import Sample
from apps.tuning import queries as tuning
from apps.tuning.models import Finding

# Rates that differ by less than this are told by their date alone.
MUCH = 0.05
# Of a finding on rates these are what it says; else what its tool measures first.
RATES = ("bit/s", "B/s")

# Where a figure was measured: tool, ends, file system, setting and metric.
Place = tuple[str, str, int | None, str, str]


@dataclass(frozen=True)
class Refutation:
    """What one setting had when a finding was drawn, and has in the latest campaign that measured it again."""

    before: str
    after: str
    campaign: Campaign
    at: datetime


@dataclass
class _Figures:
    values: list[float]
    first: datetime
    last: datetime
    parameters: Mapping[str, Any]


def measured_at(finding: Finding) -> datetime | None:
    """Return when the last of the trials that a finding rests on ended; None where nobody knows."""
    if finding.campaign.is_published:
        return None
    ends = [trial.finished_at for trial in finding.trials.all() if trial.finished_at]
    return max(ends, default=None)


def changes_of(
    findings: Sequence[Finding],
    campaigns: Sequence[Campaign],
    tools: Mapping[str, Tool],
    metrics: Mapping[int, Sequence[Metric]],
) -> dict[int, Refutation]:
    """Return {finding: what surely has another rate by now} of those that later campaigns refute, the farthest."""
    if len(campaigns) < 2:
        return {}
    names = {metric.name for own in metrics.values() for metric in own if metric.unit in RATES}
    names |= {own[0].name for own in metrics.values() if own}
    places = _measured([item for item in campaigns if not item.is_published], names)
    by_pk = {campaign.pk: campaign for campaign in campaigns}
    units = {metric.name: metric.unit for own in metrics.values() for metric in own}
    changes = {finding.pk: _change_of(finding, places, by_pk, tools, metrics, units) for finding in findings}
    return {pk: change for pk, change in changes.items() if change}


def _measured(campaigns: Sequence[Campaign], names: Collection[str]) -> dict[Place, dict[int, _Figures]]:
    """Return {place: {campaign: the figures that count}}."""
    rows = (
        Sample.objects.filter(
            experiment__campaign__in=campaigns, metric__in=names, counts=True, trial__finished_at__isnull=False
        )
        .order_by("trial__finished_at", "pk")
        .values_list(
            *("experiment__campaign_id", "experiment__tool", "experiment__file_system_id", "trial__lane__roles"),
            *("trial__parameters", "metric", "value", "trial__finished_at"),
        )
    )
    places: dict[Place, dict[int, _Figures]] = {}
    for campaign, tool, file_system, roles, parameters, metric, value, at in rows:
        place = (tool, _key(roles), file_system, _key(parameters), metric)
        figures = places.setdefault(place, {}).setdefault(campaign, _Figures([], at, at, parameters))
        figures.values.append(value)
        figures.last = at
    return places


def _change_of(
    finding: Finding,
    places: Mapping[Place, Mapping[int, _Figures]],
    campaigns: Mapping[int, Campaign],
    tools: Mapping[str, Tool],
    metrics: Mapping[int, Sequence[Metric]],
    units: Mapping[str, str],
) -> Refutation | None:
    pairs: list[tuple[Place, _Figures, _Figures, Campaign]] = []
    for place in {place for trial in finding.trials.all() for place in _places_of(finding, trial, metrics)}:
        own = places.get(place, {})
        before = own.get(finding.campaign_id)
        later = [(pk, item) for pk, item in own.items() if before and item.first > before.last]
        if before and later:
            pk, after = max(later, key=lambda pair: pair[1].last)
            pairs.append((place, before, after, campaigns[pk]))
    contrasts = comparison.contrast([(before.values, after.values) for _place, before, after, _campaign in pairs])
    apart = [
        (max(ratio, 1 / ratio), pair)
        for pair, item in zip(pairs, contrasts, strict=True)
        if item.verdict in (ContrastVerdict.HIGHER, ContrastVerdict.LOWER)
        and (ratio := item.difference.ratio)
        and abs(ratio - 1) > MUCH
    ]
    if not apart:
        return None
    _times, (place, before, after, campaign) = max(apart, key=lambda item: (item[0], item[1][0]))
    unit = units[place[-1]]
    kind, _why = means.right_mean([tools[place[0]]], [before.parameters, after.parameters], unit)
    texts = [quantity(means.value_of(figures.values, kind), unit) for figures in (before, after)]
    return Refutation(texts[0], texts[1], campaign, after.last)


def _places_of(finding: Finding, trial: Trial, metrics: Mapping[int, Sequence[Metric]]) -> list[Place]:
    """Return where a trial measured what a finding rests on: rates, or else what its tool measures first."""
    names, measured = tuning.metrics_of(finding), metrics.get(trial.experiment_id, ())
    own = [metric for metric in measured if not names or metric.name in names]
    rates = [metric for metric in own if metric.unit in RATES]
    where = (trial.experiment.tool, _key(trial.lane.roles), trial.experiment.file_system_id, _key(trial.parameters))
    return [(*where, metric.name) for metric in rates or own[:1]]


def _key(value: object) -> str:
    return strict_json.dumps(value, sort_keys=True)
