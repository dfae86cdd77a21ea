"""As whom somebody takes places for what takes long: as a person, and as each of the person's teams."""

from django.http import HttpRequest

from apps.accounts.models import User
from apps.core.limits.askers import address_of
from apps.core.limits.fair_places import Owners


def owners_of(user: User) -> Owners:
    """Return as whom a person takes a place."""
    teams = user.memberships.order_by("team_id").values_list("team_id", flat=True)
    return Owners(f"person {user.pk}", tuple(f"team {team}" for team in teams))


def owners_asking(request: HttpRequest) -> Owners:
    """Return as whom a request takes a place: of who is not signed in it is the address."""
    return owners_of(request.user) if request.user.is_authenticated else Owners(address_of(request))
