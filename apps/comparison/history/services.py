"""Keep what a person says of a change-point."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.comparison.history.changes import shown_changes
from apps.comparison.history.series import CampaignLevel, Subject
from apps.comparison.models import ChangePoint

# An explanation is a few sentences.
LONGEST = 2000
# Takes back what was said of a change.
OPEN = "open"
_NEED_WORDS = (ChangePoint.State.EXPLAINED, ChangePoint.State.DISMISSED)


class NoSuchChange(Exception):
    """The history has no change at this campaign, and nobody had decided about one."""


class NeedsExplanation(Exception):
    """Who explains or dismisses a change has to say why."""


def settle_change(
    *,
    subject: Subject,
    levels: list[CampaignLevel],
    campaign: int,
    state: str,
    explanation: str,
    user: User,
    now: datetime,
) -> None:
    """Decide the change at a campaign as `decide_change` does, or take that back if the state is OPEN."""
    if state == OPEN:
        reopen_change(subject=subject, campaign=campaign)
        return
    decided = ChangePoint.State(state)
    decide_change(
        subject=subject, levels=levels, campaign=campaign, state=decided, explanation=explanation, user=user, now=now
    )


def decision_on(subject: Subject, campaign: int) -> ChangePoint | None:
    """Return what was decided about the change at a campaign, None if nobody has."""
    return ChangePoint.objects.filter(team=subject.team, key=subject.key, campaign_id=campaign).first()


@transaction.atomic
def decide_change(
    *, subject: Subject, levels: list[CampaignLevel], campaign: int, state: ChangePoint.State, explanation: str,
    user: User, now: datetime,
) -> ChangePoint:  # fmt: skip
    """Confirm, explain or dismiss the change at a campaign; a later decision takes the place of an earlier one."""
    words = explanation.strip()
    if state in _NEED_WORDS and not words:
        raise NeedsExplanation
    change = next((item for item in shown_changes(subject, levels, user) if item.level.campaign == campaign), None)
    if change is None:
        raise NoSuchChange
    change_point, _created = ChangePoint.objects.update_or_create(
        team=subject.team,
        key=subject.key,
        campaign_id=campaign,
        defaults={
            "tool": subject.tool.slug,
            "metric": subject.metric.name,
            "roles": subject.roles,
            "parameters": subject.parameters,
            "before": change.before,
            "after": change.after,
            "state": state,
            "explanation": words,
            "decided_by": user,
            "decided_at": now,
        },
    )
    return change_point


def reopen_change(*, subject: Subject, campaign: int) -> None:
    """Take back what was said of the change at a campaign; NoSuchChange if nothing was."""
    if not ChangePoint.objects.filter(team=subject.team, key=subject.key, campaign=campaign).delete()[0]:
        raise NoSuchChange
