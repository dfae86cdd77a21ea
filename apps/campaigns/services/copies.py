"""Copies of campaigns: for a person who varies one, and for each date of a series."""

from typing import Any

from apps.accounts.models import User
from apps.bench.sweep import likeness
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.services import offers, origins


def copy_campaign(
    *,
    campaign: Campaign,
    name: str,
    created_by: User | None,
    series: Campaign | None = None,
    cron: str = "",
    cron_timezone: str = "UTC",
    overlap: str = Campaign.Overlap.SKIP,
) -> Campaign:
    """Return a new draft with the campaign's goal and experiments and no trials; with `series`, a date of that one.

    A date of a series is seen by whom the series is, any other copy by whom `origins` says.
    """
    copy = Campaign(
        team_id=campaign.team_id,
        goal=campaign.goal,
        licence=campaign.licence,
        foreign_names_id=campaign.foreign_names_id,
        cloned_from=campaign,
        name=name,
        created_by=created_by,
        series=series,
        cron=cron,
        cron_timezone=cron_timezone,
        overlap=overlap,
        visibility=origins.visibility_from(campaign),
    )
    if series == campaign:
        copy.visibility, copy.redacted = campaign.visibility, campaign.redacted
    copy.full_clean()
    copy.save()
    if copy.series_id == campaign.pk:
        offers.copy_offers(campaign, copy)
    copies: dict[int, Experiment] = {}
    waits: list[tuple[Experiment, int]] = []
    for experiment in campaign.experiments.prefetch_related("roles"):
        roles, original, earlier = list(experiment.roles.all()), experiment.pk, experiment.after_id
        _leave_out_unknown(experiment)
        _save_as_new(experiment, campaign=copy, after=None, resolved={}, printed={}, expanded_at=None, refusal=None)
        for role in roles:
            _save_as_new(role, experiment=experiment)
        copies[original] = experiment
        if earlier is not None:
            waits.append((experiment, earlier))
    for experiment, earlier in waits:
        experiment.after = copies[earlier]
        experiment.save(update_fields=["after"])
    return copy


def _leave_out_unknown(experiment: Experiment) -> None:
    """Leave out what marks the unknown settings of an import: what is measured here has none."""
    names = ("fixed", "factors", "zips")
    for name, value in likeness.without_mark({name: getattr(experiment, name) for name in names}).items():
        setattr(experiment, name, value)


def _save_as_new(row: Any, **owner: Any) -> None:
    row.pk = None
    row._state.adding = True
    for name, value in owner.items():
        setattr(row, name, value)
    row.save()
