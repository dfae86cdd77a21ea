"""What a team may store, and how many people it may invite at a time.

What is stored is shown on the team's page, and asked where bytes come in by somebody's wish.

What an agent reports of a measurement that ran is always taken: over its quota a team launches nothing new.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import F

from apps.accounts import queries
from apps.accounts.models import Invitation, Team, TeamUsage, User
from apps.bench import units
from apps.bench.text import Message, _
from apps.core.errors import ConflictError
from apps.core.limits import policies

# Open at a time: of a team, and of one person in all their teams, of which anybody may make many.
MOST_INVITATIONS = 50


@dataclass(frozen=True)
class Usage:
    """The bytes that a team has stored and may store (0: as many as it likes), and when they were counted."""

    stored_bytes: int
    quota_bytes: int
    counted_at: datetime | None

    @property
    def percent(self) -> int:
        """Return how much of the quota is used, 0 if there is none."""
        return 100 * self.stored_bytes // self.quota_bytes if self.quota_bytes else 0


def usage_of(team: Team) -> Usage:
    """Return what a team has stored."""
    return usages_of([team])[team]


def usages_of(teams: Iterable[Team]) -> dict[Team, Usage]:
    """Return what each of the teams has stored, in their order and in one query."""
    listed = list(teams)
    rows = {row.team_id: row for row in TeamUsage.objects.filter(team__in=listed)}
    return {team: _usage(rows.get(team.pk)) for team in listed}


def _usage(row: TeamUsage | None) -> Usage:
    stored, counted_at = (row.stored_bytes, row.counted_at) if row else (0, None)
    return Usage(stored, settings.QUOTA_STORED_BYTES, counted_at)


def refusal_to_store(team: Team, more: int = 0) -> Message | None:
    """Return why a team may not store so many bytes more, or launch what would; None if it may."""
    usage = usage_of(team)
    if not usage.quota_bytes or usage.stored_bytes + more <= usage.quota_bytes:
        return None
    text = _(
        "%(team)s has %(stored)s stored, and may store %(quota)s: delete campaigns, let its retention rules pack "
        "or drop what is old, or ask the administrator of this service for more (QUOTA_STORED_BYTES)."
    )
    sizes = {"stored": usage.stored_bytes + more, "quota": usage.quota_bytes}
    return Message(text, {"team": team.name} | {name: units.format_quantity(n, "B") for name, n in sizes.items()})


def add_stored(*, team: Team, size: int) -> None:
    """Add bytes that were just stored, until all are counted again."""
    if not TeamUsage.objects.filter(team=team).update(stored_bytes=F("stored_bytes") + size):
        TeamUsage.objects.get_or_create(team=team, defaults={"stored_bytes": size})


@transaction.atomic
def set_stored(*, sizes: Mapping[int, int], now: datetime) -> None:
    """Keep what was counted: {team's id: bytes}."""
    TeamUsage.objects.bulk_create(
        [TeamUsage(team_id=pk, stored_bytes=size, counted_at=now) for pk, size in sizes.items()],
        update_conflicts=True,
        unique_fields=["team"],
        update_fields=["stored_bytes", "counted_at"],
    )


def charge_upload(team: Team) -> None:
    """Count an upload into a team; LimitExceededError says when to send the next if there were too many."""
    text = _("Too many uploads into %(team)s: send the next in %(seconds)s s.")
    policies.charge_or_refuse({"uploads": f"team:{team.pk}"}, Message(text, {"team": team.name}))


def charge_enrolment(team: Team) -> None:
    """Count a token for a new agent of a team; LimitExceededError as of `charge_upload`."""
    text = _("Too many agents of %(team)s are to be enrolled: make the next token in %(seconds)s s.")
    policies.charge_or_refuse({"enrolments": f"team:{team.pk}"}, Message(text, {"team": team.name}))


def refuse_more_invitations(*, team: Team, user: User, now: datetime) -> None:
    """Raise a ConflictError if a team, or a person in all teams together, has as many invitations open as may be."""
    if queries.invitations_of(team, now).count() >= MOST_INVITATIONS:
        text = _("%(team)s has %(most)s invitations open: withdraw some, or wait until they are answered.")
        raise ConflictError(Message(text, {"team": team.name, "most": MOST_INVITATIONS}))
    since = now - Invitation.LASTS
    own = Invitation.objects.filter(invited_by=user, withdrawn_at=None, created_at__gt=since)
    if own.count() >= MOST_INVITATIONS:
        text = _("You have %(most)s invitations open in your teams: withdraw some, or wait until they are answered.")
        raise ConflictError(Message(text, {"most": MOST_INVITATIONS}))
