"""Ask the rules what a campaign's results say, and keep the answers."""

import hashlib
import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import DataError, IntegrityError, transaction

from apps.bench import rules
from apps.bench.rules import asking
from apps.bench.rules.asking import Answer, Failure, Guard
from apps.bench.rules.base import FindingDraft
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign
from apps.tuning import evidence
from apps.tuning.analysis import services as analysis
from apps.tuning.analysis.services import Failed
from apps.tuning.evidence import Ends
from apps.tuning.models import Finding, Verification
from apps.tuning.services import decisions

logger = logging.getLogger(__name__)

LONGEST_SUBJECT = 200
State = Finding.State


@dataclass
class Drawn:
    """What the rules said of a campaign: its findings, and the rules that failed, by their names."""

    findings: list[Finding] = field(default_factory=list)
    failed: dict[str, Failed] = field(default_factory=dict)


@transaction.atomic
def refresh_findings(*, campaign: Campaign, guard: Guard = nullcontext) -> Drawn:
    """Draw the findings of a campaign anew from its results: of each pair of ends measured, and of the whole.

    Each rule is asked by itself, within `guard`: one that fails takes no other's findings along, and is named in
    what is returned. What a person decided of a finding is kept, and so is one that was put to the test; another
    that no longer follows goes. A campaign that verifies a finding gives none of its own.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    drawn = Drawn()
    if not Verification.objects.filter(campaign=campaign).exists():
        for ends, found in evidence.by_ends(campaign).items():
            _keep(drawn, campaign, ends, rules.ask_ends(found, guard))
        _keep(drawn, campaign, (), rules.ask_whole(evidence.of_campaign(campaign), guard))
        stale = campaign.findings.filter(state=State.NEW, verifications=None)
        stale.exclude(pk__in=[finding.pk for finding in drawn.findings]).delete()
    return drawn


@transaction.atomic
def draw_conclusions(*, campaign: Campaign, now: datetime, guard: Guard = nullcontext) -> Drawn:
    """Refresh the findings of a campaign, and keep which rules failed: its analysis is done, or failed by them."""
    drawn = refresh_findings(campaign=campaign, guard=guard)
    analysis.end_analysis(campaign=campaign, now=now, failed=list(drawn.failed.values()))
    return drawn


def _keep(drawn: Drawn, campaign: Campaign, ends: Ends, answers: Sequence[Answer]) -> None:
    """Store what each rule says, and note those that failed, or said what the database does not take."""
    for answer in answers:
        failure = answer.failure
        if answer.drafts:
            try:
                with transaction.atomic():
                    drawn.findings += [_store(campaign, ends, draft) for draft in answer.drafts]
            except (DataError, IntegrityError, ValueError, TypeError) as error:
                failure = Failure(answer.rule.name, answer.rule.version, asking.words_of(error), error)
        if failure:
            earlier = drawn.failed.get(failure.rule)
            logger.error(
                "Rule %s failed on campaign %s: %s", failure.rule, campaign.pk, failure.error, exc_info=failure.cause
            )
            drawn.failed[failure.rule] = (
                replace(earlier, places=earlier.places + 1) if earlier else Failed(failure, subject_of(ends, ""))
            )


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
