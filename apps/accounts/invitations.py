"""Invite into a team, accept, decline, withdraw: nobody becomes a member of another's team unasked.

What is answered to whoever invites never depends on whether there is such an account, or on what the person did.
"""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from apps.accounts import queries, quotas, rights, services
from apps.accounts.models import Invitation, Membership, Role, Team, User
from apps.core import audit, isolation
from apps.core.errors import ConflictError

FORGET = "forget_invitations"
# So many are forgotten at one look.
_MOST = 1000


@transaction.atomic
def invite(*, team: Team, user: User, username: str, role: Role, now: datetime) -> Invitation:
    """Offer membership to whoever has the username; they join once they accept.

    ValidationError for a member or one who is invited already; ConflictError if too many invitations are open.
    """
    services.locked(team)
    rights.require(user, team, Role.MANAGER)
    name = username.strip()
    _refuse_known(team, name, now)
    quotas.refuse_more_invitations(team=team, user=user, now=now)
    earlier = Invitation.objects.filter(team=team, username=name).first()
    declined_at = earlier.declined_at if earlier is not None else None
    if earlier is not None:
        earlier.delete()
    if declined_at is not None and declined_at <= now - Invitation.SPARED:
        declined_at = None
    invitation = Invitation(team=team, username=name, role=role, invited_by=user, declined_at=declined_at)
    invitation.full_clean()
    invitation.save()
    audit.note("person-invited", team=team.slug, user=name, role=role, by=user.username)
    return invitation


@transaction.atomic
def withdraw(*, invitation: Invitation, user: User, now: datetime) -> None:
    """Take an invitation back; that it was declined stays known, so that another is not shown at once."""
    rights.require(user, invitation.team, Role.MANAGER)
    row = queries.invitations_of(invitation.team, now).select_for_update(of=("self",)).get(pk=invitation.pk)
    if row.declined_at is None:
        row.delete()
    else:
        row.withdrawn_at = now
        row.save()
    audit.note("invitation-withdrawn", team=row.team.slug, user=row.username, by=user.username)


@transaction.atomic
def accept(*, invitation: Invitation, user: User, now: datetime) -> Membership:
    """Make the person whom it is for a member; Invitation.DoesNotExist if it is withdrawn, expired, or another's.

    ConflictError if whoever invites may not any more: an invitation ends with the right by which it was made.
    """
    # In the order in which whoever invites holds them.
    services.locked(invitation.team)
    row = _held(invitation, user, now)
    if not rights.still_may(row.invited_by_id, row.team, Role.MANAGER):
        text = _("Whoever invited you does not manage %(team)s any more: ask a manager of it to invite you again.")
        raise ConflictError(text % {"team": row.team.name})
    membership, is_new = Membership.objects.get_or_create(team=row.team, user=user, defaults={"role": row.role})
    row.delete()
    if is_new:
        by = row.invited_by.username if row.invited_by else "-"
        audit.note("member-added", team=row.team.slug, user=user.username, role=membership.role, by=by)
    return membership


@transaction.atomic
def decline(*, invitation: Invitation, user: User, now: datetime) -> None:
    """Hide it from the person whom it is for, and any other of the team for a while; as `accept` if there is none."""
    row = _held(invitation, user, now)
    row.declined_at = now
    row.save()
    audit.note("invitation-declined", team=row.team.slug, user=user.username)


def forget(*, now: datetime) -> None:
    """Delete the invitations that expired, once those who declined need not be spared any more."""
    is_over = Q(created_at__lte=now - Invitation.LASTS) | Q(withdrawn_at__isnull=False)
    is_spared = Q(declined_at__gt=now - Invitation.SPARED)
    due = Invitation.objects.filter(is_over).exclude(is_spared).order_by("pk").values_list("pk", flat=True)
    isolation.for_each(FORGET, due[:_MOST], lambda pk: Invitation.objects.filter(pk=pk).delete(), now=now)


def _refuse_known(team: Team, name: str, now: datetime) -> None:
    """Raise a ValidationError for whom the team's own page shows as a member or as invited."""
    text = ""
    if Membership.objects.filter(team=team, user__username=name).exists():
        text = _("%(name)s is a member already: change the role in the list.")
    elif queries.invitations_of(team, now).filter(username=name).exists():
        text = _("%(name)s is invited already: withdraw that invitation to offer another role.")
    if text:
        raise ValidationError({"username": [text % {"name": name}]})


def _held(invitation: Invitation, user: User, now: datetime) -> Invitation:
    return queries.invitations_to(user.username, now).select_for_update(of=("self",)).get(pk=invitation.pk)
