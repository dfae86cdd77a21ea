"""A finding as one plain record, with the figures that it rests on: for programs that read it."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Prefetch, QuerySet

from apps.campaigns.models import Experiment, Trial
from apps.core import messages
from apps.results.models import Sample
from apps.tuning.models import Finding

Json = dict[str, Any]


def of_findings(findings: QuerySet[Finding]) -> list[Json]:
    """Return findings with texts in the active language, in the order of campaigns, subjects and rules."""
    trials = Trial.objects.select_related("experiment").prefetch_related(
        Prefetch("samples", Sample.objects.order_by("metric"))
    )
    rows = (
        findings.select_related("campaign", "team")
        .prefetch_related(Prefetch("trials", trials.order_by("pk")), "campaign__experiments")
        .order_by("campaign", "subject", "rule")
    )
    return [_record(finding) for finding in rows]


def _record(finding: Finding) -> Json:
    details = finding.details
    campaign = finding.campaign
    return {
        "id": finding.pk,
        "team": finding.team.slug,
        "campaign": finding.campaign_id,
        "campaign_name": campaign.name,
        "origin": campaign.origin,
        "case": campaign.publication.get("case"),
        "subject": finding.subject,
        "state": finding.state,
        **_texts(details),
        "evidence": [
            *(_evidence(trial) for trial in finding.trials.all()),
            *(item for experiment in campaign.experiments.all() for item in _printed(experiment)),
        ],
    }


def _texts(value: Any) -> Any:
    """Return stored values with messages as texts."""
    if isinstance(value, Mapping):
        if value.keys() == {"msgid", "params"}:
            return messages.render(value)
        return {name: _texts(item) for name, item in value.items()}
    return [_texts(item) for item in value] if isinstance(value, list) else value


def _evidence(trial: Trial) -> Json:
    return {
        "trial": trial.pk,
        "experiment": trial.experiment.name,
        "tool": trial.experiment.tool,
        "parameters": trial.parameters,
        "samples": {sample.metric: sample.value for sample in trial.samples.all()},
    }


def _printed(experiment: Experiment) -> list[Json]:
    """Return what a publication prints of an experiment without the figures: trends and ratios."""
    printed = experiment.printed
    return [
        {"experiment": experiment.name, singular: item}
        for plural, singular in (("trends", "trend"), ("ratios", "ratio"))
        for item in printed.get(plural, ())
    ]
