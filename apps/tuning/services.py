"""Ask the rules what a campaign's results say, and keep the answers."""

import hashlib

from django.db import transaction

from apps.accounts import scoping
from apps.accounts.models import Role, User
from apps.bench import rules
from apps.bench.rules.base import FindingDraft
from apps.campaigns.models import Campaign
from apps.tuning import evidence
from apps.tuning.evidence import Ends
from apps.tuning.models import Finding

LONGEST_SUBJECT = 200


class FindingNeedsReason(ValueError):
    """A finding was dismissed without saying why."""


@transaction.atomic
def refresh_findings(*, campaign: Campaign) -> list[Finding]:
    """Draw the findings of a campaign anew from its results: of each pair of ends measured, and of the whole.

    What a person decided of a finding is kept; a finding that no longer follows and was not touched goes.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    kept: list[Finding] = []
    for ends, found in evidence.by_ends(campaign).items():
        kept += [_store(campaign, _subject(ends, draft), draft) for draft in rules.findings(found)]
    kept += [_store(campaign, _subject((), draft), draft) for draft in rules.overview(evidence.of_campaign(campaign))]
    stale = campaign.findings.filter(state=Finding.State.NEW).exclude(pk__in=[finding.pk for finding in kept])
    stale.delete()
    return kept


@transaction.atomic
def decide_finding(*, finding: Finding, user: User, state: Finding.State, reason: str = "") -> Finding:
    """Accept or dismiss a finding; dismissing needs a reason, so that the next reader knows."""
    scoping.require(user, finding.team, Role.OPERATOR)
    if state == Finding.State.DISMISSED and not reason.strip():
        raise FindingNeedsReason
    finding.state = state
    finding.state_reason = reason.strip()
    finding.save(update_fields=["state", "state_reason", "updated_at"])
    return finding


def _subject(ends: Ends, draft: FindingDraft) -> str:
    """Return what tells findings of one rule apart: the ends, and what the rule adds; cut, it stays unlike others."""
    text = ",".join([*(f"{role}={node}" for role, node in ends), *([draft.subject] if draft.subject else [])])
    if len(text) <= LONGEST_SUBJECT:
        return text
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"{text[: LONGEST_SUBJECT - len(mark) - 1]}#{mark}"


def _store(campaign: Campaign, subject: str, draft: FindingDraft) -> Finding:
    data = draft.as_json()
    finding, _created = Finding.objects.update_or_create(
        campaign=campaign,
        experiment=None,
        subject=subject,
        rule=draft.rule,
        defaults={
            "team_id": campaign.team_id,
            "rule_version": draft.version,
            "title": data["title"],
            "details": data,
            "value": draft.value,
            "unit": draft.unit,
            "change": draft.change,
            "undo": draft.undo,
            "confidence": draft.confidence,
        },
    )
    finding.trials.set(draft.evidence)
    return finding
