"""A finding as one plain record, with the figures that it rests on: for programs that read it."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Prefetch, QuerySet

from apps.campaigns.models import Experiment, Trial
from apps.core import messages
from apps.results.models import Result, Sample
from apps.tuning.models import Finding

Json = dict[str, Any]


def of_findings(findings: QuerySet[Finding]) -> list[Json]:
    """Return findings with texts in the active language, in the order of campaigns, subjects and rules.

    What else was proposed for a finding's question follows it as a record of its own, with its number in `part_of`.
    """
    trials = Trial.objects.select_related("experiment").prefetch_related(
        Prefetch("samples", Sample.objects.order_by("metric")), Prefetch("results", Result.objects.order_by("pk"))
    )
    rows = (
        findings.select_related("campaign", "team")
        .prefetch_related(Prefetch("trials", trials.order_by("pk")), "campaign__experiments")
        .order_by("campaign", "subject", "rule")
    )
    return [record for finding in rows for record in _records(finding)]


def _records(finding: Finding) -> list[Json]:
    own = {name: value for name, value in finding.details.items() if name != "parts"}
    record = {**_record(finding, own), "part_of": None}
    parts = finding.details.get("parts") or []
    return [record, *({**_record(finding, part), "id": None, "part_of": finding.pk} for part in parts)]


def _record(finding: Finding, details: Json) -> Json:
    """Return a conclusion of a finding: its own, or one of its parts."""
    campaign = finding.campaign
    return {
        "id": finding.pk,
        "team": finding.team.slug,
        "campaign": finding.campaign_id,
        "campaign_name": campaign.name,
        "origin": campaign.origin,
        "told_by_archive": campaign.is_told,
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
        "not_counted": [sample.metric for sample in trial.samples.all() if not sample.counts],
        "flags": [flag["name"] for result in trial.results.all() for flag in result.flags],
    }


def _printed(experiment: Experiment) -> list[Json]:
    """Return what a publication prints of an experiment without the figures: trends and ratios."""
    printed = experiment.printed
    return [
        {"experiment": experiment.name, singular: item}
        for plural, singular in (("trends", "trend"), ("ratios", "ratio"))
        for item in printed.get(plural, ())
    ]
