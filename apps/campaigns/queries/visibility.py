"""Who sees which campaign: the one place that every list, page and interface over campaigns asks.

What is asked of the database for a person is put into SQL once and kept: it names the person and holds nothing of
what was found. To put it together anew for each list would take a quarter of the time of an answer.
"""

from functools import lru_cache
from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL

from apps.accounts import rights
from apps.accounts.models import Membership, Role, User
from apps.campaigns.models import Campaign, Share, Tombstone
from apps.campaigns.models.sharing import Shared
from apps.core.subqueries import prepared

M = TypeVar("M", bound=Model)
S = TypeVar("S", bound=Shared)

Visibility = Shared.Visibility
Person = User | AnonymousUser
_PRIVATE = Q(visibility=Visibility.PRIVATE)
# Of so many people what is asked is kept.
_MOST_PEOPLE = 1000


def visible(queryset: QuerySet[M], user: Person, path: str = "") -> QuerySet[M]:
    """Return the rows of the campaigns that the user may see whole; `path` leads from a row to its campaign.

    Those made public with their names hidden are seen whole by their own teams only: `readable` has them.
    """
    if user.is_authenticated and user.is_superuser:
        return queryset
    if not path:
        return queryset.filter(_whole(queryset.model, _number_of(user)))
    return queryset.filter(**{f"{path}__in": _campaigns_seen_by(_number_of(user))})


def counted(queryset: QuerySet[M], user: Person, path: str = "") -> QuerySet[M]:
    """Return the rows of the campaigns that conclusions over all campaigns rest on; `path` as in `visible`.

    Those of the user's own teams, and what other teams offered and these accepted: nobody puts figures into what
    others conclude by making them public. What names its campaign asks `visible`.
    """
    if user.is_authenticated and user.is_superuser:
        return queryset
    if not user.is_authenticated:
        return queryset.none()
    return queryset.filter(**{f"{path or 'pk'}__in": _campaigns_counted_for(user.pk)})


def readable(queryset: QuerySet[S], user: Person) -> QuerySet[S]:
    """Return the campaigns (or tombstones) of which the user may read at least what is public."""
    if user.is_authenticated and user.is_superuser:
        return queryset
    return queryset.filter(_whole(queryset.model, _number_of(user)) | Q(visibility=Visibility.PUBLIC))


def told_to(user: Person, *, path: str = "of_campaign", team: str = "team") -> Q:
    """Return what holds for rows of campaigns that the user may see whole, also when the campaign is gone.

    At `path` a row has the campaign's permanent id ("" of no campaign holds for all), at `team` its own team. Of a
    campaign that is deleted its tombstone says who saw it; of one that was never here, as an archive brings, what
    is told of it is told to the row's team.
    """
    if user.is_authenticated and user.is_superuser:
        return Q()
    return _told_to(_number_of(user), path, team)


def sees_whole(campaign: Campaign, user: Person) -> bool:
    """Say whether the user sees the campaign with its names and addresses."""
    return visible(Campaign.objects.filter(pk=campaign.pk), user).exists()


def for_whole_team() -> Q:
    """Return what holds for campaigns that each member of their team sees, for conclusions drawn for all of them."""
    return ~_PRIVATE


def told_to_whole_team(path: str = "of_campaign") -> Q:
    """Return the same for rows that have a campaign's permanent id at `path`, also when the campaign is gone."""
    return ~(
        Q(**{f"{path}__in": _ids(_living().filter(_PRIVATE))}) | Q(**{f"{path}__in": _ids(_gone().filter(_PRIVATE))})
    )


def can_write(campaign: Campaign, user: Person) -> bool:
    """Say whether the user may change the campaign: an operator of its team who sees it."""
    return rights.can(user, campaign.team, Role.OPERATOR)


def _living() -> QuerySet[Campaign]:
    return Campaign.objects.filter(deleting_at=None)


def _gone() -> QuerySet[Tombstone]:
    # One that was brought back has its tombstone still: it says nothing any more.
    return Tombstone.objects.exclude(permanent_id__in=_living().values("permanent_id"))


def _ids(shared: QuerySet[Any]) -> RawSQL:
    return prepared(shared.values("permanent_id"))


def has_lost_maker(campaign: Campaign) -> bool:
    """Say whether a campaign is private to somebody who may no longer carry it out in its team."""
    maker = campaign.created_by
    is_private = campaign.visibility == Visibility.PRIVATE
    return is_private and maker is not None and not rights.still_may(maker.pk, campaign.team, Role.OPERATOR)


def _number_of(user: Person) -> int | None:
    return user.pk if user.is_authenticated else None


@lru_cache(_MOST_PEOPLE)
def _told_to(user: int | None, path: str, team: str) -> Q:
    condition = Q(**{path: ""}) | Q(**{f"{path}__in": _ids(_living().filter(_whole(Campaign, user)))})
    condition |= Q(**{f"{path}__in": _ids(_gone().filter(_whole(Tombstone, user)))})
    if user is not None:
        own = prepared(Membership.objects.filter(user=user).values("team"))
        with_campaign = Q(**{f"{path}__in": _ids(_living())}) | Q(**{f"{path}__in": _ids(Tombstone.objects.all())})
        condition |= Q(**{f"{team}__in": own}) & ~with_campaign
    return condition


@lru_cache(_MOST_PEOPLE)
def _campaigns_seen_by(user: int | None) -> RawSQL:
    return prepared(Campaign.objects.filter(_whole(Campaign, user)).values("pk"))


@lru_cache(_MOST_PEOPLE)
def _campaigns_counted_for(user: int) -> RawSQL:
    return prepared(Campaign.objects.filter(_accepted(Campaign, user)).values("pk"))


@lru_cache(_MOST_PEOPLE)
def _whole(model: type[Model], user: int | None) -> Q:
    open_to_all = Q(visibility=Visibility.PUBLIC, redacted=False)
    if user is None:
        return open_to_all
    return _accepted(model, user) | open_to_all


def _forsaken(user: int) -> Q:
    """Return what holds for what is private to whoever left a team, or only reads in it now: its managers see it.

    It may hold the team's nodes, and nobody else could stop it. As `has_lost_maker`.
    """
    managed = prepared(Membership.objects.filter(user=user, role=Role.MANAGER).values("team"))
    writes = Membership.objects.filter(
        team=OuterRef("team"),
        user=OuterRef("created_by"),
        user__is_active=True,
        role__in=(Role.OPERATOR, Role.MANAGER),
    )
    return Q(~Exists(writes), team__in=managed, visibility=Visibility.PRIVATE)


def _accepted(model: type[Model], user: int) -> Q:
    """Return what holds for what is the user's teams', or was accepted by one of them."""
    own = prepared(Membership.objects.filter(user=user).values("team"))
    # Whom nobody made is nobody's secret: a private campaign of an account that is gone is its team's again.
    within = Q(team__in=own) & (~_PRIVATE | Q(created_by=user) | Q(created_by=None))
    within |= _forsaken(user)
    named: QuerySet[Any, Any]
    if model is Campaign:
        named = Share.objects.filter(state=Share.State.ACCEPTED, team__in=own).values("campaign")
    else:
        named = model._default_manager.filter(shared_with__in=own).values("pk")
    return within | Q(visibility=Visibility.SHARED, pk__in=prepared(named))
