"""The cast of the tests: Alice manages, Oscar operates, Bob views, Charlie is a stranger of another team."""

from dataclasses import dataclass
from itertools import count
from types import SimpleNamespace

from django.contrib.auth.hashers import make_password
from django.test import Client
from django.utils import timezone

from apps.accounts.models import ApiToken, Membership, Role, Team, User
from apps.core import secrets

PASSWORD = "secret"
_numbers = count(1)


@dataclass(frozen=True)
class Cast:
    """One team with its people, and another with a stranger."""

    team: Team
    alice: User
    oscar: User
    bob: User
    other_team: Team
    charlie: User


def user(name: str = "", **fields: object) -> User:
    """Return a person who can sign in with PASSWORD."""
    name = name or f"person{next(_numbers)}"
    return User.objects.create_user(name, password=PASSWORD, **fields)


def administrator() -> User:
    """Return an administrator of the service, who may everything in every team."""
    return User.objects.create(username=f"person{next(_numbers)}", is_staff=True, is_superuser=True)


def team(name: str = "", **members: User) -> Team:
    """Return a team; members by role: ``team("grid", manager=alice)``."""
    name = name or f"team{next(_numbers)}"
    made = Team.objects.create(name=name, slug=name.lower().replace(" ", "-"))
    for role, person in members.items():
        Membership.objects.create(team=made, user=person, role=Role(role))
    return made


def cast() -> Cast:
    """Return the usual people, in three statements: thousands of tests begin with them."""
    names = ("alice", "oscar", "bob", "charlie")
    people = User.objects.bulk_create(User(username=name, password=make_password(PASSWORD)) for name in names)
    alice, oscar, bob, charlie = people
    grid, strangers = Team.objects.bulk_create(Team(name=name, slug=name) for name in ("grid", "strangers"))
    roles = (
        (grid, alice, Role.MANAGER),
        (grid, oscar, Role.OPERATOR),
        (grid, bob, Role.VIEWER),
        (strangers, charlie, Role.MANAGER),
    )
    Membership.objects.bulk_create(Membership(team=team, user=person, role=role) for team, person, role in roles)
    return Cast(team=grid, alice=alice, oscar=oscar, bob=bob, other_team=strangers, charlie=charlie)


def cast_with_olga() -> SimpleNamespace:
    """Return the named cast and `olga`, another operator, whose membership is `own`."""
    people, olga = cast(), user("olga")
    own = Membership.objects.create(team=people.team, user=olga, role=Role.OPERATOR)
    return SimpleNamespace(**vars(people), olga=olga, own=own)


def token(owner: User, scope: str = "write", **fields: object) -> str:
    """Return the text of an API token of the person, used a moment ago: the first request would write that it was."""
    issued = secrets.issue("api")
    fields = {"last_used_at": timezone.now()} | fields
    ApiToken.objects.create(
        user=owner, name="test", prefix=issued.prefix, digest=issued.digest, scope=scope, **fields
    )
    return issued.text


def bearer(owner: User, scope: str = "write", **fields: object) -> dict[str, str]:
    """Return the request header of a fresh token, for Django's test client."""
    return {"HTTP_AUTHORIZATION": f"Bearer {token(owner, scope, **fields)}"}


def signed_in(person: object) -> Client:
    """Return a browser's stand-in in which a person is signed in."""
    client = Client()
    client.force_login(person)
    return client
