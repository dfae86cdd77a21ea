"""What is decided of findings, by people and by measurements, and its history."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import Role, User
from apps.bench.text import Message
from apps.campaigns.services import require_writer
from apps.tuning.models import LONGEST_REASON, Decision, Finding, Verification


class FindingNeedsReason(ValueError):
    """A finding was dismissed without saying why."""


class NotForPeople(ValueError):
    """A state was chosen that only a measurement gives."""


@transaction.atomic
def decide_finding(*, finding: Finding, user: User, state: Finding.State, reason: str = "") -> Finding:
    """Accept or dismiss a finding, or open it again; dismissing needs a reason, so that the next reader knows."""
    rights.require(user, finding.team, Role.OPERATOR)
    if state not in Finding.DECISIONS:
        raise NotForPeople
    if state == Finding.State.DISMISSED and not reason.strip():
        raise FindingNeedsReason
    if len(reason.strip()) > LONGEST_REASON:
        text = _("The reason may have %(limit)s characters at most.") % {"limit": LONGEST_REASON}
        raise ValidationError({"reason": text})
    Finding.objects.select_for_update(of=("self",)).get(pk=finding.pk)
    require_writer(finding.campaign, user)
    record(finding=finding, state=state, user=user, reason=reason.strip())
    return finding


def record(
    *,
    finding: Finding,
    state: Finding.State,
    user: User | None = None,
    reason: str = "",
    note: Message | None = None,
    verification: Verification | None = None,
) -> None:
    """Give a finding a state and keep the line of its history; within a transaction of the caller's."""
    locked = Finding.objects.select_for_update(of=("self",)).get(pk=finding.pk)
    Decision.objects.create(
        finding=finding,
        user=user,
        verification=verification,
        earlier=locked.state,
        state=state,
        reason=reason,
        note=note.as_json() if note else None,
    )
    finding.state, finding.state_reason = state, reason
    finding.save(update_fields=["state", "state_reason", "updated_at"])
