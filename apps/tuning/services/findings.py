"""Ask the rules what a campaign's results say, and keep the answers."""

import hashlib
from typing import Any

from django.db import transaction

from apps.bench import rules
from apps.bench.rules.base import FindingDraft
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign
from apps.tuning import evidence
from apps.tuning.evidence import Ends
from apps.tuning.models import Finding, Verification
from apps.tuning.services import decisions

LONGEST_SUBJECT = 200
State = Finding.State


@transaction.atomic
def refresh_findings(*, campaign: Campaign) -> list[Finding]:
    """Draw the findings of a campaign anew from its results: of each pair of ends measured, and of the whole.

    What a person decided of a finding is kept, and so is one that was put to the test; another that no longer follows
    goes. A campaign that verifies a finding gives none of its own.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    if Verification.objects.filter(campaign=campaign).exists():
        return []
    kept: list[Finding] = []
    for ends, found in evidence.by_ends(campaign).items():
        kept += [_store(campaign, ends, draft) for draft in rules.findings(found)]
    kept += [_store(campaign, (), draft) for draft in rules.overview(evidence.of_campaign(campaign))]
    stale = campaign.findings.filter(state=State.NEW, verifications=None)
    stale.exclude(pk__in=[finding.pk for finding in kept]).delete()
    return kept


def subject_of(ends: Ends, subject: str) -> str:
    """Return what tells findings of one rule apart: the ends, and what the rule adds; cut, it stays unlike others."""
    text = ",".join([*(f"{role}={node}" for role, node in ends), *([subject] if subject else [])])
    if len(text) <= LONGEST_SUBJECT:
        return text
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"{text[: LONGEST_SUBJECT - len(mark) - 1]}#{mark}"


def _store(campaign: Campaign, ends: Ends, draft: FindingDraft) -> Finding:
    data = draft.as_json()
    key: dict[str, Any] = {"campaign": campaign, "experiment": None, "subject": subject_of(ends, draft.subject)}
    earlier = Finding.objects.filter(**key, rule=draft.rule).first()
    finding, _created = Finding.objects.update_or_create(
        **key,
        rule=draft.rule,
        defaults={
            "team_id": campaign.team_id,
            "ends": [list(end) for end in ends],
            "rule_version": draft.version,
            "kind": draft.kind,
            "title": data["title"],
            "details": data,
            "value": draft.value,
            "unit": draft.unit,
            "change": draft.change,
            "undo": draft.undo,
            "predicted_gain": _gain(draft),
            "confidence": draft.confidence,
        },
    )
    finding.trials.set(draft.evidence)
    if earlier and earlier.state in (State.VERIFIED, State.REFUTED) and _claim(earlier.details) != _claim(data):
        text = _("The rule now says something else than what was measured: verify it again.")
        decisions.record(finding=finding, state=State.NEW, note=Message(text))
    return finding


def _gain(draft: FindingDraft) -> float | None:
    return draft.predicted / draft.present if draft.predicted and draft.present else None


def _claim(details: dict[str, Any]) -> Any:
    """Return what a measurement put to the test; figures that were only measured again do not change it."""
    return details.get("proof")
