"""What a person may see of campaigns, and lists of it."""

from collections.abc import Sequence

from django.db.models import QuerySet

from apps.accounts import scoping
from apps.accounts.models import User
from apps.campaigns.models import Campaign, Event, Experiment, Run, Trial
from apps.campaigns.queries.progress import progress_of


def campaigns_for(user: User) -> QuerySet[Campaign]:
    """Return the campaigns of the user's teams."""
    return scoping.visible(Campaign.objects.select_related("team", "created_by"), user)


def experiments_for(user: User) -> QuerySet[Experiment]:
    """Return the experiments of the user's teams, with who plays their roles."""
    experiments = Experiment.objects.select_related("campaign__team").prefetch_related(
        "roles__node", "roles__cluster"
    )
    return scoping.visible(experiments, user, path="campaign__team")


def trials_for(user: User) -> QuerySet[Trial]:
    """Return the trials of the user's teams."""
    return scoping.visible(Trial.objects.select_related("experiment", "lane"), user, path="campaign__team")


def runs_for(user: User) -> QuerySet[Run]:
    """Return the runs of the user's teams."""
    return scoping.visible(Run.objects.select_related("trial"), user, path="trial__campaign__team")


def events_of(campaign: Campaign) -> QuerySet[Event]:
    """Return the campaign's log, the latest first."""
    return campaign.events.select_related("trial")


def attach_progress(campaigns: Sequence[Campaign]) -> None:
    """Give each campaign its `progress`, in one query."""
    progress = progress_of(campaign.pk for campaign in campaigns)
    for campaign in campaigns:
        campaign.progress = progress[campaign.pk]
