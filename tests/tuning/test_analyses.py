"""One rule's failure takes no other's findings along: it is named, kept, tried again a few times, and shown."""

import dataclasses
import math
from datetime import datetime, timedelta

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.bench.rules.tcp import bdp
from apps.campaigns.models import Campaign
from apps.core import messages
from apps.tuning.analysis import queries, services
from apps.tuning.models import Analysis, RuleFailure
from apps.tuning.services import findings
from tests.tuning.breaking import BROKEN, IN_WORDS, VERSION, break_rule, ended, endless, later
from workers import analysis, timetable


@pytest.fixture
def campaign(swept: Campaign) -> Campaign:
    """Return a campaign that has ended, whose results are to be analysed."""
    return ended(swept, analysed=False)


def analyse(campaign: Campaign, now: datetime | None = None) -> bool:
    return analysis.analyse_campaign(campaign_id=campaign.pk, now=now or timezone.now())


def standing(campaign: Campaign) -> queries.Standing:
    return queries.standing_of(Campaign.objects.get(pk=campaign.pk))


def told_of(campaign: Campaign) -> set[str]:
    """Return the rules that say something of a campaign, by themselves or as a part of what another proposes."""
    findings = list(campaign.findings.all())
    parts = {part["rule"] for finding in findings for part in finding.details["parts"]}
    return {finding.rule for finding in findings} | parts


def errors_of(campaign: Campaign) -> list[str]:
    return [messages.render(event.message) for event in campaign.events.filter(level="error")]


def test_a_rule_that_fails_is_named_and_the_others_are_kept(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_rule(monkeypatch, BROKEN)
    assert analyse(campaign)
    found = told_of(campaign)
    assert "tcp-sysctl" in found
    assert BROKEN not in found
    failure = RuleFailure.objects.get(campaign=campaign)
    assert (failure.rule, failure.rule_version, failure.error, failure.places) == (
        BROKEN, VERSION, "ValueError: math domain error", 1,
    )  # fmt: skip
    assert failure.subject
    now = standing(campaign)
    assert (now.state, now.failures, now.error) == ("failed", (failure,), None)
    assert now.next_at
    (told,) = errors_of(campaign)
    assert told == f"Rule {IN_WORDS} failed: ValueError: math domain error. The other rules' findings are kept."
    assert f"Rule tcp-bdp failed on campaign {campaign.pk}" in caplog.text


def test_it_is_tried_again_twice_and_then_once_the_program_is_another(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    with monkeypatch.context() as patch:
        break_rule(patch, BROKEN)
        assert analyse(campaign, now)
        assert not analyse(campaign, later(now, seconds=59))
        assert analyse(campaign, later(now, seconds=61))
        assert not analyse(campaign, later(now, minutes=10))
        assert analyse(campaign, later(now, minutes=12))
        assert standing(campaign).next_at is None
        assert not analyse(campaign, later(now, days=30))
        assert len(errors_of(campaign)) == 1
        assert RuleFailure.objects.get().first_at == now
    monkeypatch.setattr(queries, "asked_with", lambda: "a newer one")
    assert list(queries.waiting(now)) == [campaign]
    assert analyse(campaign, later(now, days=31))
    assert standing(campaign).is_done
    assert BROKEN in told_of(campaign)
    assert not RuleFailure.objects.exists()
    assert "Rule tcp-bdp answers again." in [messages.render(event.message) for event in campaign.events.all()]
    assert not analyse(campaign, later(now, days=32))


def test_a_rule_that_never_ends_is_ended_and_the_others_are_kept(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "RULE_LIMIT_S", 0.3)
    break_rule(monkeypatch, BROKEN, endless)
    assert analyse(campaign)
    assert RuleFailure.objects.get().error == "TimeoutError: took longer than 0.3 s"
    assert campaign.findings.filter(rule="tcp-sysctl").exists()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"value": math.inf}, "Out of range float"),
        ({"unit": "a" * 20, "kind": "no-change"}, "too long"),
        ({"evidence": (10**9,)}, "foreign"),
    ],
)
def test_a_rule_that_says_what_cannot_be_stored_has_failed(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, change: dict, error: str
) -> None:
    break_rule(monkeypatch, BROKEN, lambda evidence: dataclasses.replace(bdp.conclude(evidence), **change))
    if error == "foreign":
        # The database looks at references at the transaction's end: here at once.
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    assert analyse(campaign)
    failure = RuleFailure.objects.get()
    assert failure.rule == BROKEN
    assert error in failure.error
    assert campaign.findings.filter(rule="tcp-sysctl").exists()
    assert BROKEN not in told_of(campaign)


def test_what_fails_as_a_whole_keeps_the_earlier_findings_and_is_told(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyse(campaign)
    found = campaign.findings.count()
    assert found
    Campaign.objects.filter(pk=campaign.pk).update(analysed_at=None)

    def stumble(**_asked: object) -> None:
        raise ZeroDivisionError("of no use")

    monkeypatch.setattr(findings, "refresh_findings", stumble)
    assert analyse(campaign)
    now = standing(campaign)
    assert now.state == "failed"
    assert [messages.render(line) for line in now.lines] == ["Analysis failed: ZeroDivisionError: of no use"]
    assert campaign.findings.count() == found
    assert errors_of(campaign) == ["No findings could be drawn from the results: ZeroDivisionError: of no use"]


@pytest.mark.parametrize(
    ("lasted", "words"),
    [(121, "Analysis failed: took longer than 120 s, 3 times"), (20, "ended without a word, 3 times")],
)
def test_an_analysis_whose_workers_are_killed_is_given_up(campaign: Campaign, lasted: int, words: str) -> None:
    now = timezone.now()
    for attempt in range(3):
        assert services.begin_analysis(campaign_id=campaign.pk, now=now), attempt
        # The worker was killed: nothing ends the analysis, and nobody else takes it at once.
        assert not services.begin_analysis(campaign_id=campaign.pk, now=later(now, seconds=1))
        assert standing(campaign).state == "pending"
        now += timedelta(seconds=lasted)
    assert not analyse(campaign, now)
    assert standing(campaign).state == "failed"
    assert words in messages.render(standing(campaign).lines[0])
    assert not analyse(campaign, later(now, days=1))


def test_a_new_question_has_attempts_of_its_own(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    break_rule(monkeypatch, BROKEN)
    now = timezone.now()
    for minutes in (0, 2, 15):
        assert analyse(campaign, later(now, minutes=minutes))
    Campaign.objects.filter(pk=campaign.pk).update(analysed_at=None)
    assert analyse(campaign, later(now, minutes=16))
    assert Analysis.objects.get().attempts == 1
    assert standing(campaign).next_at == later(now, minutes=17)


def test_states_of_many_campaigns_take_two_queries(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    break_rule(monkeypatch, BROKEN)
    analyse(campaign)
    with CaptureQueriesContext(connection) as asked:
        queries.standings_of(Campaign.objects.all()[:1])
    assert len(asked) <= 3


def test_the_tick_asks_for_first_and_further_analyses(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    monkeypatch.setattr(timetable.queue, "remind", lambda task, *args: sent.append(args))
    now = timezone.now()
    timetable.ask_for_analyses(now=now)
    with monkeypatch.context() as patch:
        break_rule(patch, BROKEN)
        analyse(campaign, now)
    timetable.ask_for_analyses(now=now)
    assert sent == [(campaign.pk,)]
    timetable.ask_for_analyses(now=later(now, minutes=2))
    assert sent == [(campaign.pk,)] * 2


@pytest.mark.parametrize(
    "cause",
    [psycopg.errors.LockNotAvailable, psycopg.errors.DiskFull, psycopg.errors.QueryCanceled],
    ids=lambda cause: cause.__name__,
)
def test_what_the_service_could_not_do_now_gives_no_analysis_up(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, cause: type[Exception]
) -> None:
    def refuse(**_values: object) -> None:
        raise OperationalError("canceling statement due to lock timeout LINE 1") from cause()

    moment = timezone.now()
    with monkeypatch.context() as patch:
        patch.setattr(analysis.tuning, "draw_conclusions", refuse)
        for _attempt in range(services.MOST_ATTEMPTS + 2):
            with pytest.raises(OperationalError):
                analyse(campaign, moment)
            moment += 2 * services.GRACE
    assert not Analysis.objects.get(campaign=campaign).has_failed
    assert not any("LINE 1" in text for text in errors_of(campaign))
    assert analyse(campaign, moment)
    assert standing(campaign).is_done
