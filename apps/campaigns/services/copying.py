"""Copies of campaigns: for a person who varies one, and for each date of a series."""

from typing import Any

from apps.campaigns.models import Campaign


def copy_campaign(*, campaign: Campaign, **values: Any) -> Campaign:
    """Return a new draft with the campaign's goal and experiments and no trials; `values` are other fields of it."""
    copy = Campaign(team_id=campaign.team_id, goal=campaign.goal, cloned_from=campaign, **values)
    copy.full_clean()
    copy.save()
    for experiment in campaign.experiments.prefetch_related("roles"):
        roles = list(experiment.roles.all())
        _save_as_new(experiment, campaign=copy)
        for role in roles:
            _save_as_new(role, experiment=experiment)
    return copy


def _save_as_new(row: Any, **owner: Any) -> None:
    row.pk = None
    row._state.adding = True
    for name, value in owner.items():
        setattr(row, name, value)
    row.save()
