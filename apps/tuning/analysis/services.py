"""Writes: an analysis begun, ended, and asked for again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from apps.accounts.models import User
from apps.bench.rules.runner import Failure
from apps.bench.text import Message, _
from apps.campaigns import live
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Event
from apps.core import leases, queue
from apps.core.errors import ConflictError
from apps.tuning.analysis import queries
from apps.tuning.models import Analysis, RuleFailure

MOST_ATTEMPTS = len(queries.WAITS) + 1
# Whoever begins one holds its campaign a moment later; until then nobody else takes it for abandoned.
GRACE = timedelta(seconds=5)
# A worker is ended after so long.
LIMIT = timedelta(seconds=120)


@dataclass(frozen=True)
class Failed:
    """A rule that failed, for the first of so many pairs of ends (`subject`), or for a whole campaign."""

    failure: Failure
    subject: str = ""
    places: int = 1


def is_first(*, campaign_id: int) -> bool:
    """Return whether no analysis of a campaign was ever begun."""
    return not Analysis.objects.filter(campaign=campaign_id).exists()


@transaction.atomic
def begin_analysis(*, campaign_id: int, now: datetime) -> bool:
    """Note that a worker is about to analyse a campaign; False if that is not asked for, or another is at it.

    To be committed before the analysis begins: one that ends without a word is told by what it leaves here, and given
    up after a few attempts.
    """
    rows = queries.waiting(now).select_for_update(of=("self",), skip_locked=True, no_key=True)
    campaign = rows.filter(pk=campaign_id).first()
    if campaign is None:
        return False
    analysis = Analysis.objects.filter(campaign=campaign).first() or Analysis(campaign=campaign, ended_at=now)
    is_abandoned = analysis.ended_at is None
    if is_abandoned and now - analysis.began_at < GRACE:
        return False
    if is_abandoned and not Analysis.objects.filter(leases.lost_worker("began_at"), pk=analysis.pk).exists():
        analysis.attempts = max(analysis.attempts - 1, 0)
    if (campaign.analysed_at is None and not is_abandoned) or analysis.asked_with != queries.asked_with():
        analysis.attempts = 0
    if is_abandoned and analysis.attempts >= MOST_ATTEMPTS:
        _give_up(campaign, analysis, now)
        return False
    analysis.attempts += 1
    analysis.began_at, analysis.ended_at, analysis.asked_with = now, None, queries.asked_with()
    analysis.for_others = campaign.is_beyond_team
    analysis.save()
    return True


def lock_begun(*, campaign_id: int) -> Campaign | None:
    """Return a campaign whose analysis was begun and not ended, locked; None if another worker is at it, or was.

    To be called within the transaction that carries the analysis out: its lock tells that somebody is at it.
    """
    begun = Campaign.objects.filter(pk=campaign_id, deleting_at=None, state__in=queries.ENDED)
    campaign = begun.select_for_update(of=("self",), skip_locked=True, no_key=True).first()
    # Asked under the lock: another may have ended it a moment ago.
    is_open = campaign and Analysis.objects.filter(campaign=campaign, ended_at=None).exists()
    return campaign if is_open else None


def leave_analysis(*, campaign_id: int) -> None:
    """Let an analysis be taken up again that a worker left because it stops: it is no attempt."""
    Analysis.objects.filter(campaign=campaign_id, ended_at=None).update(attempts=F("attempts") - 1)


@transaction.atomic
def end_analysis(
    *, campaign: Campaign, now: datetime, failed: Sequence[Failed] = (), error: Message | None = None
) -> None:
    """Keep what an analysis came to: done, or failed by rules, or as a whole (`error`); failures stand in the log."""
    # Held: what another asks for as this ends is not written over.
    analysis = Analysis.objects.select_for_update().filter(campaign=campaign).first() or Analysis(
        campaign=campaign,
        began_at=now,
        attempts=1,
        asked_with=queries.asked_with(),
        for_others=campaign.is_beyond_team,
    )
    analysis.ended_at, analysis.has_failed = now, bool(failed or error)
    analysis.error = error.as_json() if error else None
    analysis.next_at = None
    if analysis.has_failed and analysis.attempts <= len(queries.WAITS):
        analysis.next_at = now + queries.WAITS[max(analysis.attempts, 1) - 1]
    analysis.save()
    # Of an analysis that failed as a whole it is not known which rules would.
    if error is None:
        _keep_failures(campaign, failed, now)
    else:
        _tell(
            campaign, Message(_("No findings could be drawn from the results: %(error)s"), {"error": error.as_json()})
        )
    campaigns.mark_analysed(campaign=campaign, now=now)


def ask_again(*, campaign_ids: Iterable[int]) -> None:
    """Have findings drawn anew that rest on what other campaigns show; pages say so until they are."""
    Analysis.objects.filter(campaign__in=[*campaign_ids]).exclude(asked_with="").update(asked_with="")


@transaction.atomic
def retry_analysis(*, campaign: Campaign, user: User) -> None:
    """Ask for the analysis of an ended campaign again; a conflict if it is not ended, or is to be analysed anyway."""
    locked = campaigns.lock_campaign(campaign, user)
    standing = queries.standing_of(locked)
    if standing.state == queries.OPEN:
        raise ConflictError(Message(_("The campaign has not ended: conclusions are drawn at its end.")))
    if standing.state == queries.PENDING:
        raise ConflictError(Message(_("The analysis is to be carried out anyway: wait a moment.")))
    Campaign.objects.filter(pk=campaign.pk).update(analysed_at=None)
    Analysis.objects.filter(campaign=campaign).update(attempts=0, next_at=None)
    text = _("%(user)s has the results analysed again.")
    campaigns.write_event(campaign_id=campaign.pk, message=Message(text, {"user": user.get_username()}))
    queue.send(queue.ANALYSE, campaign.pk)
    live.publish(campaign.pk, "findings")


def _give_up(campaign: Campaign, analysis: Analysis, now: datetime) -> None:
    """End an analysis whose workers ended without a word, so often that another attempt would, too."""
    took = now - analysis.began_at
    text = _("the workers that carried it out ended without a word, %(count)s times")
    if LIMIT <= took < 2 * LIMIT:
        text = _("took longer than %(seconds)s s, %(count)s times")
    words: Mapping[str, object] = {"seconds": int(LIMIT.total_seconds()), "count": analysis.attempts}
    end_analysis(campaign=campaign, now=now, error=Message(text, words))


def _keep_failures(campaign: Campaign, failed: Sequence[Failed], now: datetime) -> None:
    earlier = {item.rule: item for item in RuleFailure.objects.filter(campaign=campaign)}
    for item in failed:
        rule, error = item.failure.rule, item.failure.error
        earlier_failure = earlier.pop(rule, None)
        if earlier_failure is None or (earlier_failure.error, earlier_failure.rule_version) != (
            error,
            item.failure.version,
        ):
            text = _("Rule %(rule)s (version %(version)s) failed: %(error)s. The other rules' findings are kept.")
            _tell(campaign, Message(text, {"rule": rule, "version": item.failure.version, "error": error}))
        RuleFailure.objects.update_or_create(
            campaign=campaign,
            rule=rule,
            defaults={
                "rule_version": item.failure.version,
                "error": error,
                "subject": item.subject,
                "places": item.places,
                "last_at": now,
            },
            create_defaults={
                "rule_version": item.failure.version,
                "error": error,
                "subject": item.subject,
                "places": item.places,
                "first_at": now,
                "last_at": now,
            },
        )
    for rule in sorted(earlier):
        text = _("Rule %(rule)s answers again.")
        campaigns.write_event(campaign_id=campaign.pk, message=Message(text, {"rule": rule}))
    RuleFailure.objects.filter(campaign=campaign, rule__in=earlier).delete()


def _tell(campaign: Campaign, message: Message) -> None:
    campaigns.write_event(campaign_id=campaign.pk, level=Event.Level.ERROR, message=message)
