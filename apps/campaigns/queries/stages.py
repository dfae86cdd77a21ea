"""Experiments that wait for others of their campaign."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.campaigns.models import Campaign, Experiment, Trial

_OPEN = (Trial.State.PENDING, Trial.State.RUNNING)


def waiting() -> QuerySet[Experiment]:
    """Return the experiments that wait for another and of which no trials were made, or refused, yet."""
    return Experiment.objects.filter(after__isnull=False, expanded_at__isnull=True, refusal__isnull=True)


def waiting_in(campaign_id: int) -> QuerySet[Experiment]:
    """Return the experiments of a campaign that still wait."""
    return waiting().filter(campaign=campaign_id)


def due_stages() -> QuerySet[Experiment]:
    """Return the experiments of running campaigns whose turn has come: what they waited for has ended."""
    open_trials = Trial.objects.filter(experiment=OuterRef("after"), state__in=_OPEN)
    started = Q(after__after=None) | Q(after__expanded_at__isnull=False) | Q(after__refusal__isnull=False)
    running = waiting().filter(campaign__state=Campaign.State.RUNNING)
    return running.filter(started, ~Exists(open_trials)).order_by("campaign__launched_at", "position", "pk")
