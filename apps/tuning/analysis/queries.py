"""Reads of analyses: which are to be carried out, and what became of those of campaigns."""

import functools
import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from apps.accounts import rights
from apps.accounts.models import User
from apps.bench import rules
from apps.bench.text import Message, _
from apps.campaigns import queries as campaigns
from apps.campaigns.models import Campaign
from apps.campaigns.queries.visibility import counted
from apps.core import clock
from apps.tuning.models import Analysis, RuleFailure

# An analysis that fails is tried so often in all, after these waits; a rule that cannot answer will not by waiting.
WAITS = (timedelta(minutes=1), timedelta(minutes=10))
# What an analysis is: not asked for while the campaign goes on, asked for, carried out in part or not at all, done.
OPEN, PENDING, FAILED, DONE = STATES = ("open", "pending", "failed", "done")
LABELS = {
    OPEN: _("campaign goes on"),
    PENDING: _("analysis pending"),
    FAILED: _("analysis failed"),
    DONE: _("analysis done"),
}
ENDED = (Campaign.State.FINISHED, Campaign.State.CANCELLED)
# The program that draws conclusions: what is changed in it may mend a failure.
PROGRAM = tuple(Path(__file__).resolve().parents[2] / name for name in ("bench", "tuning"))
# Of many campaigns a page names so many.
SHOWN = 20


@dataclass(frozen=True)
class Standing:
    """How the analysis of a campaign stands: `failures` by rule; `error` if it failed as a whole.

    Of one that is pending `is_outdated` says that its findings are there, but of other rules or evidence.
    """

    campaign: Campaign
    state: str
    failures: tuple[RuleFailure, ...] = ()
    error: Message | None = None
    attempts: int = 0
    ended_at: datetime | None = None
    next_at: datetime | None = field(default=None)
    is_outdated: bool = False

    @property
    def is_done(self) -> bool:
        """Return whether all rules were asked and none failed."""
        return self.state == DONE

    @property
    def label(self) -> str:
        """Return the state in words: a msgid."""
        return LABELS[self.state]

    @property
    def can_be_retried(self) -> bool:
        """Return whether asking again by hand makes sense."""
        return self.state == FAILED

    @property
    def lines(self) -> list[Message]:
        """Return what is to be said of it, the state first; nothing of one that is done."""
        if self.state == DONE:
            return []
        if self.state == OPEN:
            return [Message(_("Analysis pending: conclusions are drawn once the campaign has ended."))]
        if self.is_outdated:
            text = _(
                "Analysis pending: since these conclusions were drawn the rules changed, who may see the campaign, or"
                " what other campaigns showed of the same paths."
            )
            return [Message(text)]
        if self.state == PENDING:
            return [Message(_("Analysis pending: no conclusions were drawn from the results yet."))]
        lines = []
        if self.error:
            lines.append(Message(_("Analysis failed: %(error)s"), {"error": self.error.as_json()}))
        for item in self.failures:
            words = {"rule": item.rule, "version": item.rule_version, "error": item.error}
            lines.append(Message(_("Analysis failed: rule %(rule)s (version %(version)s): %(error)s"), words))
        if self.failures and not self.error:
            lines.append(Message(_("What the other rules say is complete.")))
        return lines

    @property
    def remedy(self) -> Message | None:
        """Return what helps, None if nothing needs to be done."""
        if self.state == OPEN:
            return Message(_("Wait for the campaign's end, or cancel it."))
        if self.state == PENDING:
            return Message(_("Wait a moment: a worker draws them."))
        if self.state == FAILED:
            return Message(_("Retry the analysis on the campaign's page; if it fails again, tell the operator."))
        return None


@functools.cache
def asked_with() -> str:
    """Return what tells this product, and these rules, from others: what failed with those is asked again."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in PROGRAM for path in folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return f"{digest.hexdigest()[:16]}/{rules.fingerprint()}"


def _rules_of(asked_with: str) -> str:
    """Return the part of it that tells rules and their versions apart."""
    return asked_with.rpartition("/")[2]


def _outdated() -> Q:
    """Return what campaigns are whose findings other rules drew, or rules that spoke to others than who reads now.

    And those that a worker left while it drew them anew.
    """
    is_left = Q(analysis__ended_at=None, analysis__isnull=False)
    of_others = ~Q(analysis__asked_with__endswith=_rules_of(asked_with())) & Q(analysis__isnull=False)
    beyond = Q(visibility__in=Campaign.BEYOND_TEAM)
    to_others = Q(beyond, analysis__for_others=False) | Q(~beyond, analysis__for_others=True)
    return Q(analysed_at__isnull=False) & (is_left | of_others | to_others)


def waiting(now: datetime) -> QuerySet[Campaign]:
    """Return the ended campaigns whose results are to be analysed: for the first time, or again.

    Again after a failure, and where rules, or what other campaigns show of the same paths, are others since.
    """
    return _ended(_due(now) | _outdated())


def due(now: datetime) -> QuerySet[Campaign]:
    """Return those of `waiting` that have no findings yet, or none of a rule that failed."""
    return _ended(_due(now))


def outdated() -> QuerySet[Campaign]:
    """Return those of `waiting` whose findings are there, but outdated: of each team in turn what ended last."""
    latest = [F("finished_at").desc(), F("pk").desc()]
    turn = Window(RowNumber(), partition_by=F("team"), order_by=latest)
    return _ended(_outdated()).annotate(turn=turn).order_by("turn", *latest)


def _ended(condition: Q) -> QuerySet[Campaign]:
    rows = Campaign.objects.filter(condition, state__in=ENDED, launched_at__isnull=False, deleting_at=None)
    return rows.order_by("finished_at")


def _due(now: datetime) -> Q:
    # What is to wait for longer than any does was written by a clock that was ahead.
    ahead = Q(analysis__next_at__gt=now + WAITS[-1] + clock.AHEAD)
    again = Q(analysis__next_at__lte=now) | ahead | ~Q(analysis__asked_with=asked_with())
    failed = Q(analysis__has_failed=True) & again
    return Q(pk__in=campaigns.to_analyse().order_by().values("pk")) | failed


def waiting_beside(standing: Standing, now: datetime) -> int:
    """Return how many other campaigns wait for their analysis while this one does, else 0.

    Which of them is before it is not known: each is analysed by the worker that hears of it.
    """
    return waiting(now).exclude(pk=standing.campaign.pk).count() if standing.state == PENDING else 0


def standings_of(rows: Iterable[Campaign]) -> dict[int, Standing]:
    """Return how the analyses of campaigns stand, by the campaigns' ids, in two queries at most."""
    listed = {campaign.pk: campaign for campaign in rows}
    ended = [pk for pk, campaign in listed.items() if campaign.state in ENDED and campaign.analysed_at]
    analyses = {item.campaign_id: item for item in Analysis.objects.filter(campaign__in=ended)} if ended else {}
    failed = [pk for pk, item in analyses.items() if item.has_failed]
    failures: dict[int, list[RuleFailure]] = defaultdict(list)
    for item in RuleFailure.objects.filter(campaign__in=failed) if failed else ():
        failures[item.campaign_id].append(item)
    return {pk: _standing(campaign, analyses.get(pk), failures[pk]) for pk, campaign in listed.items()}


def standing_of(campaign: Campaign) -> Standing:
    """Return how the analysis of a campaign stands."""
    return standings_of([campaign])[campaign.pk]


def unfinished_for(user: User) -> list[Standing]:
    """Return the analyses that wait or failed, of ended campaigns that count for the user: the latest few."""
    rows = Campaign.objects.filter(state__in=ENDED, launched_at__isnull=False, deleting_at=None)
    rows = rows.filter(Q(analysed_at=None) | Q(analysis__has_failed=True) | _outdated()).select_related("team")
    latest = counted(rows, user).order_by("-finished_at", "-pk")[:SHOWN]
    standings = list(standings_of(latest).values())
    rights.attach_foreign_teams([standing.campaign for standing in standings], user)
    return standings


def _standing(campaign: Campaign, analysis: Analysis | None, failures: list[RuleFailure]) -> Standing:
    if campaign.state not in ENDED:
        return Standing(campaign, OPEN)
    if campaign.analysed_at is None:
        return Standing(campaign, PENDING)
    if analysis is not None and _is_outdated(analysis, campaign):
        return Standing(campaign, PENDING, ended_at=campaign.analysed_at, is_outdated=True)
    if analysis is None or not analysis.has_failed:
        return Standing(campaign, DONE, ended_at=campaign.analysed_at)
    error = Message(analysis.error["msgid"], analysis.error["params"]) if analysis.error else None
    return Standing(campaign, FAILED, tuple(failures), error, analysis.attempts, analysis.ended_at, analysis.next_at)


def _is_outdated(analysis: Analysis, campaign: Campaign) -> bool:
    if analysis.for_others != campaign.is_beyond_team:
        return True
    is_of_others = not analysis.asked_with.endswith(_rules_of(asked_with()))
    return is_of_others or (analysis.ended_at is None and not analysis.has_failed)
