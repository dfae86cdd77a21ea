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
from apps.bench.rules import folding, runner
from apps.bench.rules.base import FindingDraft
from apps.bench.rules.folding import Standing
from apps.bench.rules.runner import Answer, Failure, Guard
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign
from apps.core import bounded
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
    conclusions = Drawn()
    if not Verification.objects.filter(campaign=campaign).exists():
        for ends, of_ends in evidence.by_ends(campaign).items():
            answers = rules.ask_ends(of_ends, guard)
            standing = _standing_of(campaign, ends)
            _keep(
                conclusions, campaign, ends, answers, folding.fold_ends(runner.drafts_of(answers), of_ends, standing)
            )
        answers = rules.ask_whole(evidence.of_campaign(campaign), guard)
        _keep(conclusions, campaign, (), answers, folding.fold(runner.drafts_of(answers), _standing_of(campaign, ())))
        stale = campaign.findings.filter(state=State.NEW, verifications=None)
        stale.exclude(pk__in=[finding.pk for finding in conclusions.findings]).delete()
    return conclusions


@transaction.atomic
def draw_conclusions(*, campaign: Campaign, now: datetime, guard: Guard = nullcontext) -> Drawn:
    """Refresh the findings of a campaign, and keep which rules failed: its analysis is done, or failed by them."""
    conclusions = refresh_findings(campaign=campaign, guard=guard)
    analysis.end_analysis(campaign=campaign, now=now, failed=list(conclusions.failed.values()))
    return conclusions


def _standing_of(campaign: Campaign, ends: Ends) -> Standing:
    """Return what was decided of earlier findings on these ends: people and measurements hold to them, or do not."""
    rows = campaign.findings.exclude(state=State.NEW, verifications=None).values_list("rule", "subject", "state")
    states = {(rule, subject): state for rule, subject, state in rows}

    def standing(draft: FindingDraft) -> str:
        state = states.get((draft.rule, subject_of(ends, draft.subject)))
        if state is None:
            return folding.OPEN
        return folding.APART if state in (State.DISMISSED, State.REFUTED) else folding.LEADS

    return standing


def _keep(
    conclusions: Drawn, campaign: Campaign, ends: Ends, answers: Sequence[Answer], folded: Sequence[FindingDraft]
) -> None:
    """Store what rules say, and note those that failed, or said what the database does not take."""
    for answer in answers:
        if answer.failure:
            _note(conclusions, campaign, ends, answer.failure)
    remaining = list(folded)
    while remaining:
        draft = remaining.pop(0)
        finding, failure = _try(campaign, ends, draft)
        if finding:
            conclusions.findings.append(finding)
        elif failure and not draft.parts:
            _note(conclusions, campaign, ends, failure)
        else:
            # What other rules propose for the same question does not go with the one that cannot be kept.
            remaining += _kept_alone(conclusions, campaign, ends, draft)


def _kept_alone(conclusions: Drawn, campaign: Campaign, ends: Ends, draft: FindingDraft) -> list[FindingDraft]:
    """Return the parts of a finding, folded anew without those that the database does not take, which are noted."""
    sound = []
    for part in (replace(draft, parts=()), *draft.parts):
        finding, failure = _try(campaign, ends, part)
        if finding:
            sound.append(part)
            if finding.state == State.NEW and not finding.verifications.exists():
                finding.delete()
        elif failure:
            _note(conclusions, campaign, ends, failure)
    return folding.fold(sound) if len(sound) <= len(draft.parts) else sound


def _try(campaign: Campaign, ends: Ends, draft: FindingDraft) -> tuple[Finding | None, Failure | None]:
    """Return the finding as it is stored, or why it cannot be."""
    try:
        with transaction.atomic():
            return _store(campaign, ends, draft), None
    except (DataError, IntegrityError, ValueError, TypeError) as error:
        return None, Failure(draft.rule, draft.version, runner.words_of(error), error)


def _note(conclusions: Drawn, campaign: Campaign, ends: Ends, failure: Failure) -> None:
    earlier = conclusions.failed.get(failure.rule)
    logger.error(
        "Rule %s failed on campaign %s: %s", failure.rule, campaign.pk, failure.error, exc_info=failure.cause
    )
    conclusions.failed[failure.rule] = (
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
    data = {**draft.as_json(), "evidence": list(draft.trials)}
    if excess := bounded.too_long(Finding, title=data["title"], details=data, change=draft.change, undo=draft.undo):
        raise ValueError(f"{', '.join(excess)} are longer than what is kept of a finding")
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
    finding.trials.set(draft.trials)
    finding.draft = draft
    if earlier and earlier.state in (State.VERIFIED, State.REFUTED) and _claim(earlier.details) != _claim(data):
        text = _("The rule now says something else than what was measured: verify it again.")
        decisions.record(finding=finding, state=State.NEW, note=Message(text))
    return finding


def _gain(draft: FindingDraft) -> float | None:
    return draft.predicted / draft.present if draft.predicted and draft.present else None


def _claim(details: dict[str, Any]) -> Any:
    """Return what a measurement put to the test; figures that were only measured again do not change it."""
    return details.get("proof")
