"""What a person may see of campaigns, and lists of it."""

from collections.abc import Sequence

from django.db.models import Count, QuerySet

from apps.accounts.models import User
from apps.campaigns.models import Campaign, Event, Experiment, Run, Trial
from apps.campaigns.queries.progress import progress_of
from apps.campaigns.queries.visibility import visible


def campaigns_for(user: User) -> QuerySet[Campaign]:
    """Return the campaigns that the user may see, without those that are being deleted."""
    rows = Campaign.objects.filter(deleting_at=None).select_related("team", "created_by")
    return visible(rows, user)


def deletions_for(user: User) -> list[tuple[Campaign, int]]:
    """Return the campaigns being deleted that the user may see, and how much of each is gone, in percent."""
    going = Campaign.objects.filter(deleting_at__isnull=False).annotate(left=Count("trials"))
    return [
        (campaign, 100 * (campaign.delete_trials - campaign.left) // max(campaign.delete_trials, 1))
        for campaign in visible(going.order_by("deleting_at", "pk"), user)
    ]


def experiments_for(user: User) -> QuerySet[Experiment]:
    """Return the experiments of the campaigns that the user may see, with who plays their roles."""
    experiments = Experiment.objects.select_related("campaign__team").prefetch_related(
        "roles__node", "roles__cluster"
    )
    return visible(experiments, user, path="campaign")


def trials_for(user: User) -> QuerySet[Trial]:
    """Return the trials of the campaigns that the user may see."""
    return visible(Trial.objects.select_related("campaign", "experiment", "lane"), user, path="campaign")


def runs_for(user: User) -> QuerySet[Run]:
    """Return the runs of the campaigns that the user may see."""
    return visible(Run.objects.select_related("trial"), user, path="experiment__campaign")


def events_of(campaign: Campaign) -> QuerySet[Event]:
    """Return the campaign's log, the latest first."""
    return campaign.events.select_related("trial")


def attach_progress(campaigns: Sequence[Campaign]) -> None:
    """Give each campaign its `progress`, in one query."""
    progress = progress_of(campaign.pk for campaign in campaigns)
    for campaign in campaigns:
        campaign.progress = progress[campaign.pk]
