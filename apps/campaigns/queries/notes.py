"""Reads of tags and notes."""

from django.db import models
from django.db.models import Count, F, Func, QuerySet

from apps.accounts.models import Team, User
from apps.campaigns.models import Campaign, Note
from apps.campaigns.queries import visibility

# So many tags are offered to choose from, those used most.
MOST = 50


class _Unnest(Func):
    """The elements of an array, a row each."""

    function = "unnest"
    output_field = models.CharField()
    set_returning = True


def notes_for(user: User) -> QuerySet[Note]:
    """Return the notes of the campaigns that the user sees."""
    notes = Note.objects.filter(campaign__deleting_at=None).select_related("campaign__team", "created_by")
    return visibility.visible(notes, user, path="campaign")


def tags_of(team: Team, user: User) -> list[str]:
    """Return the tags of a team's campaigns that the user sees, those used most first."""
    campaigns = visibility.visible(Campaign.objects.filter(team=team, deleting_at=None), user)
    rows = campaigns.order_by().annotate(tag=_Unnest(F("tags")))
    return list(rows.values("tag").annotate(n=Count("pk")).order_by("-n", "tag").values_list("tag", flat=True)[:MOST])
