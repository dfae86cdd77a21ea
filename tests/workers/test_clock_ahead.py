"""A clock that was a year ahead for one look puts nothing off for a year: every kept "not before" is chosen anew."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import models
from django.utils import timezone

from apps.agents import services as agents
from apps.agents.models import Agent, OwedRemoval
from apps.agents.models.removals import LONGEST_WAIT
from apps.agents.queries import removals_due
from apps.bench.text import Message
from apps.campaigns import queries as campaigns
from apps.campaigns import services, waits
from apps.campaigns.models import Campaign, Trial
from apps.core import clock
from apps.core.models import SetAside
from apps.reports.models import Delivery, Schedule
from apps.reports.schedules import deliveries
from apps.reports.schedules import services as schedules
from apps.testbeds.models import Node
from apps.tuning.analysis import queries as analyses
from apps.tuning.models import Analysis
from tests.campaigns import factories as make
from tests.workers import factories as workers
from tests.workers import timetable_cases

NOW = timezone.now()
YEAR = timedelta(days=365)
DAY = timedelta(days=1)


def trial_not_before(cast: SimpleNamespace) -> Callable[[], bool]:
    timetable_cases.launched(cast)
    (run, *_rest) = make.take(now=NOW + YEAR, limit=1)
    why = Message("It failed.")
    services.fail_run(run=run, reason=why, code="refused", retryable=True, now=NOW + YEAR)
    trial = Trial.objects.get(pk=run.trial_id)
    assert trial.not_before is not None and trial.not_before > NOW + YEAR
    # One that was written by a right clock keeps its wait.
    soon = Trial.objects.exclude(pk=trial.pk).get()
    Trial.objects.filter(pk=soon.pk).update(not_before=NOW + timedelta(seconds=5))
    ready = set(Node.objects.values_list("pk", flat=True))
    startable = partial(campaigns.startable_lanes, now=NOW, ready_nodes=ready)
    assert not [lane for lane in startable() if lane.next_trial == soon.pk]
    reasons = waits.waits_of_trials([trial], user=cast.oscar, now=NOW)
    assert "retry" not in str(reasons)
    return lambda: any(lane.next_trial == trial.pk for lane in startable())


def campaign_next_at(cast: SimpleNamespace) -> Callable[[], bool]:
    series, _other = timetable_cases.launched(cast, cron="0 7 * * *")
    services.launch_due(now=NOW + YEAR)
    series.refresh_from_db()
    assert series.next_at and series.next_at > NOW + YEAR
    services.correct_dates(now=NOW)
    return lambda: Campaign.objects.filter(pk=series.pk, next_at__range=(NOW, NOW + DAY + clock.AHEAD)).exists()


def schedule_next_at(cast: SimpleNamespace) -> Callable[[], bool]:
    timetable_cases.start_due(cast)
    schedules.start_due(now=NOW + YEAR)
    assert Schedule.objects.filter(next_at__gt=NOW + YEAR).count() == 2
    schedules.start_due(now=NOW)
    return lambda: Schedule.objects.filter(next_at__range=(NOW, NOW + DAY + clock.AHEAD)).count() == 2


def delivery_look_at(cast: SimpleNamespace) -> Callable[[], bool]:
    timetable_cases.resume_deliveries(cast)
    first, last = Delivery.objects.order_by("pk")
    Delivery.objects.filter(pk=first.pk).update(look_at=NOW + YEAR)
    Delivery.objects.filter(pk=last.pk).update(look_at=NOW + deliveries.LONGEST_WAIT)
    return lambda: [delivery.pk for delivery in deliveries._due(NOW)] == [first.pk]


def analysis_next_at(cast: SimpleNamespace) -> Callable[[], bool]:
    timetable_cases.ask_for_analyses(cast)
    Campaign.objects.update(analysed_at=NOW)
    first, last = Campaign.objects.order_by("pk")
    for campaign, at in ((first, NOW + YEAR), (last, NOW + analyses.WAITS[-1])):
        kept = {"began_at": NOW, "ended_at": NOW, "attempts": 1, "has_failed": True, "next_at": at}
        Analysis.objects.create(campaign=campaign, asked_with=analyses.asked_with(), **kept)
    return lambda: list(analyses.waiting(NOW)) == [first]


def setaside_retry_at(cast: SimpleNamespace) -> Callable[[], bool]:
    begun = {"first_at": NOW + YEAR, "last_at": NOW + YEAR, "retry_at": NOW + YEAR + DAY}
    kept = SetAside.objects.create(work="a", reason="b", attempts=1, **begun)
    return lambda: not kept.is_waiting(NOW)


def owedremoval_not_before(cast: SimpleNamespace) -> Callable[[], bool]:
    nodes = make.nodes(cast.team, "back", "soon")
    workers.enrol(*nodes)
    Agent.objects.update(last_seen_at=NOW)
    for node, at in zip(nodes, (NOW + YEAR, NOW + LONGEST_WAIT), strict=True):
        agents.owe_removal(node_id=node.pk, run_ref=1, commands=[{"argv": ["rm", "--", "/a"]}], resources=[])
        OwedRemoval.objects.filter(node=node).update(tries=1, not_before=at)
    return lambda: [removal.node.name for removal in removals_due(NOW)] == ["back"]


CASES = {
    "Trial.not_before": trial_not_before,
    "OwedRemoval.not_before": owedremoval_not_before,
    "Campaign.next_at": campaign_next_at,
    "Schedule.next_at": schedule_next_at,
    "Delivery.look_at": delivery_look_at,
    "Analysis.next_at": analysis_next_at,
    "SetAside.retry_at": setaside_retry_at,
}
# Dates that work waits for are called so.
PUT_OFF = ("not_before", "next_at", "look_at", "retry_at", "try_at", "again_at")


def test_every_kept_moment_that_work_waits_for_has_a_case() -> None:
    kept = {
        f"{model.__name__}.{field.name}"
        for model in apps.get_models()
        if model.__module__.startswith("apps.")
        for field in model._meta.concrete_fields
        if isinstance(field, models.DateTimeField) and field.name.endswith(PUT_OFF)
    }
    assert kept == set(CASES)


@pytest.mark.parametrize("moment", CASES)
def test_what_a_clock_put_off_that_was_ahead_is_not_waited_for(cast: SimpleNamespace, moment: str) -> None:
    assert CASES[moment](cast)()
