"""Which nodes were measured: what the inventory asks before it lets one move to another site."""

from collections.abc import Collection

from django.db.models import Exists, OuterRef

from apps.campaigns.models import Campaign, Lane, Trial

State = Trial.State


def campaign_with(nodes: Collection[int]) -> str:
    """Return the name of the first campaign with trials that were, or are to be, measured with one of the nodes.

    "" if there is none. Trials that failed or were not measured have no figures.
    """
    trials = Trial.objects.filter(lane=OuterRef("pk"), state__in=(State.PENDING, State.RUNNING, State.SUCCEEDED))
    lanes = Lane.objects.filter(Exists(trials), resources__overlap=[f"node:{pk}" for pk in nodes])
    names = Campaign.objects.filter(pk__in=lanes.values("experiment__campaign")).order_by("pk")
    return names.values_list("name", flat=True).first() or ""
