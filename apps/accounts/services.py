"""Everything that changes people, teams and tokens."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils.crypto import get_random_string
from django.utils.text import slugify
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import ApiToken, Membership, Role, Team, User
from apps.core import audit, secrets
from apps.core.errors import ConflictError
from apps.core.versions import hold, lock_row

_LETTERS = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_PASSWORD_LENGTH = 16
# Stands in the address of the form for a new team.
_RESERVED_SLUG = "new"


class LastManager(ConflictError):
    """A change that would leave a team without a manager."""

    def __init__(self, team: Team) -> None:
        text = _("%(team)s would be left without a manager: make someone else a manager first.")
        super().__init__(text % {"team": team.name})


@dataclass(frozen=True)
class Account:
    """A person made ready to sign in; `password` is the random one if one was made, and is kept nowhere."""

    user: User
    team: Team
    password: str | None


@transaction.atomic
def create_team(*, user: User, name: str, slug: str = "") -> Team:
    """Make a team with the user as its manager; the short name is drawn from the name unless given.

    ValidationError names a field that is wrong or taken.
    """
    if slug == _RESERVED_SLUG:
        raise ValidationError({"slug": [str(Team.taken)]})
    team = _save_team(name=name, slug=slug)
    Membership.objects.create(team=team, user=user, role=Role.MANAGER)
    return team


@transaction.atomic
def update_team(*, team: Team, user: User, name: str | None) -> Team:
    """Rename a team, None for no other name; its short name stays, so that addresses keep working."""
    rights.require(user, team, Role.MANAGER)
    if name is None:
        return team
    hold(team)
    team.name = name.strip()
    team.full_clean()
    team.save()
    return team


@transaction.atomic
def change_role(*, membership: Membership, user: User, role: Role) -> Membership:
    """Give a member another role; LastManager if nobody would be left to manage."""
    # Held before rights are asked: whoever loses theirs at this moment gives nobody a role.
    locked(membership.team)
    rights.require(user, membership.team, Role.MANAGER)
    if role != Role.MANAGER:
        _keep_a_manager(membership)
    membership.role = role
    membership.save(update_fields=["role", "updated_at"])
    audit.note("role-changed", team=membership.team.slug, user=membership.user.username, role=role, by=user.username)
    return membership


@transaction.atomic
def remove_member(*, membership: Membership, user: User) -> None:
    """Take a member off the team, which everyone may do for themselves; LastManager as in `change_role`."""
    locked(membership.team)
    if membership.user_id != user.pk:
        rights.require(user, membership.team, Role.MANAGER)
    _keep_a_manager(membership)
    if membership.user_id == user.pk:
        # Whom another removes keeps the choice, and is asked: their new work goes nowhere else by another's doing.
        User.objects.filter(pk=user.pk, default_team=membership.team_id).update(default_team=None)
    membership.delete()
    audit.note("member-removed", team=membership.team.slug, user=membership.user.username, by=user.username)


@transaction.atomic
def issue_token(
    *,
    user: User,
    name: str,
    scope: str = ApiToken.Scope.WRITE,
    expires_at: datetime | None = None,
    now: datetime,
    minted_by: ApiToken | None = None,
) -> tuple[ApiToken, str]:
    """Make an API token and return it with its text, which is shown once and kept nowhere.

    One that is `minted_by` another ends with it, and may do no more. ValidationError if it is to outlive it;
    PermissionDenied if what the person came in with has ended since.
    """
    _keep_credential(user, minted_by)
    if minted_by is not None:
        expires_at = _expiry_within(minted_by, scope, expires_at)
    if expires_at is not None and expires_at <= now:
        raise ValidationError({"expires_at": [_("This is in the past: choose a later time, or leave it out.")]})
    issued = secrets.issue("api")
    token = ApiToken(
        user=user,
        name=name.strip(),
        scope=scope,
        expires_at=expires_at,
        prefix=issued.prefix,
        digest=issued.digest,
        minted_by=minted_by,
    )
    token.full_clean()
    token.save()
    audit.note("token-made", token=token.pk, user=user.username, scope=scope, until=expires_at or "-")
    return token, issued.text


@transaction.atomic
def revoke_token(*, token: ApiToken, now: datetime) -> None:
    """Make a token useless from now on, and those made with it; the rows stay, to say when they were used last."""
    # Whoever makes one with it at this moment is through before, and seen here, or finds it revoked.
    lock_row(token.user)
    ends = [token.pk]
    audit.note("token-revoked", token=token.pk, user=token.user.username)
    while ends:
        ApiToken.objects.filter(pk__in=ends, revoked_at=None).update(revoked_at=now, updated_at=now)
        ends = list(ApiToken.objects.filter(minted_by__in=ends).values_list("pk", flat=True))


@transaction.atomic
def revoke_tokens(*, user: User, now: datetime) -> int:
    """Make all of a person's tokens useless from now on, and return how many were of use until then."""
    lock_row(user)
    audit.note("tokens-revoked", user=user.username)
    live = Q(expires_at=None) | Q(expires_at__gt=now)
    return ApiToken.objects.filter(live, user=user, revoked_at=None).update(revoked_at=now, updated_at=now)


def _keep_credential(user: User, token: ApiToken | None) -> None:
    """Hold a person, so that nothing ends what they came in with before the transaction does.

    That is a token, or a session, which ends with the password that it began with. PermissionDenied if it has ended
    since it was proved: a key made with it would outlive it.
    """
    lock_row(user)
    person = User.objects.filter(pk=user.pk, is_active=True)
    if token is not None:
        holds = person.filter(
            api_tokens__in=ApiToken.objects.filter(ApiToken.in_force(), pk=token.pk, revoked_at=None)
        )
    else:
        holds = person.filter(password=user.password)
    if not holds.exists():
        raise PermissionDenied(_("What you came in with has ended meanwhile: sign in again, or use another token."))


def _expiry_within(parent: ApiToken, scope: str, expires_at: datetime | None) -> datetime | None:
    """Return when a token that is made with another ends; ValidationError if it would outlive it or do more."""
    if parent.scope == ApiToken.Scope.READ and scope != ApiToken.Scope.READ:
        raise ValidationError({"scope": [_("The token that you use may only read, and so may one that it makes.")]})
    if parent.expires_at is None:
        return expires_at
    if expires_at is not None and expires_at > parent.expires_at:
        text = _(
            "The token that you use ends at %(when)s, and none that it makes lives longer: choose an earlier time."
        )
        raise ValidationError({"expires_at": [text % {"when": parent.expires_at.isoformat(timespec="seconds")}]})
    return expires_at or parent.expires_at


@transaction.atomic
def ensure_account(
    *,
    username: str,
    team_name: str,
    role: Role,
    password: str = "",
    is_administrator: bool | None = None,
    renews_unused: bool = False,
) -> Account:
    """Make sure that a person exists and has the role in the team; the team is made if it is not there.

    An administrator of the service sees and may do everything, in all teams; None leaves that as it is. A new
    person gets the password, or a random one. One who is there keeps theirs unless a password is given, or, with
    `renews_unused`, if they have never signed in.
    """
    person = User.objects.filter(username=username).first()
    new_password = ""
    if person is None or (renews_unused and person.last_login is None):
        person = person or User(username=username)
        new_password = "" if password else get_random_string(_PASSWORD_LENGTH, _LETTERS)
    if password := password or new_password:
        validate_password(password, person)
        person.set_password(password)
    if is_administrator is not None:
        person.is_staff = person.is_superuser = is_administrator
    person.full_clean()
    person.save()
    team = Team.objects.filter(name=team_name).first()
    if team is None:
        team = _save_team(name=team_name, slug="")
    Membership.objects.update_or_create(team=team, user=person, defaults={"role": role})
    audit.note("account-ensured", team=team.slug, user=person.username, role=role)
    return Account(person, team, new_password or None)


def locked(team: Team) -> Team:
    """Return the team, held until the transaction ends: what is counted of it stays as it is."""
    return Team.objects.select_for_update(no_key=True).get(pk=team.pk)


def _save_team(*, name: str, slug: str) -> Team:
    team = Team(name=name.strip(), slug=slug or _free_slug(name))
    team.full_clean()
    team.save()
    return team


def _free_slug(name: str) -> str:
    """Return a short name made of a name's Latin letters and digits, with a number if it is taken."""
    stem = slugify(name)[:40].strip("-") or "team"
    slugs = {_RESERVED_SLUG, *Team.objects.filter(slug__startswith=stem).values_list("slug", flat=True)}
    numbered = (f"{stem}-{number}" for number in range(2, len(slugs) + 3))
    return next(slug for slug in (stem, *numbered) if slug not in slugs)


def _keep_a_manager(membership: Membership) -> None:
    # The team's row is the lock: two managers who leave at one moment must not both find the other still there.
    team = locked(membership.team)
    managers = Membership.objects.filter(team=team, role=Role.MANAGER).values_list("pk", flat=True)
    if list(managers) == [membership.pk]:
        raise LastManager(team)
