"""Trials that only an archive says were measured, for what rests on trials of several campaigns."""

from collections.abc import Iterable

from apps.campaigns.models import Campaign, Trial


def told_among(trials: Iterable[int]) -> frozenset[int]:
    """Return those of the trials (ids) whose campaigns are told by an archive, in one query."""
    rows = Trial.objects.filter(pk__in=set(trials)).annotate(told=Campaign.told("campaign__"))
    return frozenset(rows.filter(told=True).values_list("pk", flat=True))
