"""The server's clock set while runs are under way: each says so, and no node is blamed for times that are right."""

import itertools
import threading
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import connection, transaction
from django.utils import timezone

from apps.agents.models import Job
from apps.bench.toolkit import Plan
from apps.campaigns import services
from apps.campaigns.models import Event, Run
from apps.core import broker, clock_steps
from apps.core.models import ClockLead
from apps.results import services as results
from apps.results.models import Result, StageTiming
from apps.testbeds.models import Node
from tests import competing, rewriting
from tests.campaigns import factories as make
from tests.workers.factories import job_of, listen, measure, start
from workers import closure, server_clock, timetable

FLAGS = {"server-clock-set", "times-impossible"}


@pytest.fixture(autouse=True)
def looked(db: None) -> None:
    """Have somebody looked a moment ago."""
    set_by(0)


def set_by(seconds: float) -> None:
    """Have the clock been set since the last look."""
    clock_steps.note_lead(clock_steps._boot(), clock_steps.lead() - seconds)


@pytest.fixture
def run(cast: SimpleNamespace, pair: list[Node]) -> Run:
    """Return a run whose commands have all ended, and which nobody has closed."""
    over = start(cast, pair)
    listen(over)
    measure(over)
    return over


def flags() -> dict[str, dict[str, str]]:
    """Return the flags of the one result that are about times, with what they say."""
    found = Result.objects.get().flags
    return {flag["name"]: flag["message"]["params"] for flag in found if flag["name"] in FLAGS}


@pytest.mark.parametrize(("by", "said"), [(3600, "+3600"), (-7200, "-7200"), (3, "+3")])
@pytest.mark.parametrize("is_told_before", [True, False])
def test_a_run_that_spans_it_is_flagged_and_no_node(run: Run, by: float, said: str, is_told_before: bool) -> None:
    set_by(by)
    if is_told_before:
        assert server_clock.note_steps(now=timezone.now()) == [run.pk]
        assert server_clock.note_steps(now=timezone.now()) == []
    # What agents then tell lies elsewhere than the job's own life.
    for job in Job.objects.filter(run_ref=run.pk, started_at__isnull=False):
        rewriting.update(Job.objects.filter(pk=job.pk), started_at=job.started_at + timedelta(seconds=by))
    closure.close(run.pk)
    assert flags() == {"server-clock-set": {"seconds": said}}
    assert [event.message["params"] for event in Event.objects.filter(trial=run.trial, level="warning")] == [
        {"seconds": said, "attempt": 1, "run": run.pk}
    ]
    assert Result.objects.get().start_skew_s is None
    assert not StageTiming.objects.exists()
    run.refresh_from_db()
    job = job_of(run, "client")
    output = results.output_of(job, Plan.from_json(run.plan), services.steps_during(run))
    assert (output.started_at, output.ended_at) == (None, None)


def test_one_that_seems_to_end_before_it_started_is_flagged_whoever_looked(run: Run) -> None:
    rewriting.update(Run.objects.filter(pk=run.pk), started_at=timezone.now() + timedelta(hours=2))
    closure.close(run.pk)
    assert flags() == {"server-clock-set": {"seconds": "?"}}


@pytest.mark.parametrize("by", [0, 1.5, -1.5])
def test_what_is_no_step_is_not_told(run: Run, by: float) -> None:
    set_by(by)
    assert server_clock.note_steps(now=timezone.now()) == []
    closure.close(run.pk)
    assert flags() == {}


def test_a_run_that_begins_or_ends_at_another_time_is_not_flagged(cast: SimpleNamespace, run: Run) -> None:
    closure.close(run.pk)
    set_by(3600)
    assert server_clock.note_steps(now=timezone.now()) == []
    assert flags() == {}


def test_who_is_the_first_to_look_knows_of_no_step(run: Run) -> None:
    ClockLead.objects.all().delete()
    assert server_clock.note_steps(now=timezone.now()) == []
    assert ClockLead.objects.filter(boot=clock_steps._boot()).exists()


def test_it_is_told_whatever_the_broker_loses(run: Run) -> None:
    client = broker.client(timeout_s=1)
    set_by(3600)
    for key in client.scan_iter("fathom.*"):
        client.delete(key)
    assert server_clock.note_steps(now=timezone.now()) == [run.pk]


def test_a_clock_that_is_led_for_long_is_never_set(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = clock_steps.lead()
    for look in range(10):
        monkeypatch.setattr(clock_steps, "lead", lambda look=look: begun + 0.4 * look)
        assert server_clock.note_steps(now=timezone.now()) == []


def test_other_machines_keep_their_marks_and_only_the_last_boots_are_kept() -> None:
    for number in range(clock_steps._MOST_LEADS + 9):
        clock_steps.note_lead(f"boot {number}", float(number))
        clock_steps.note_lead(f"boot {number}", number + 0.5)
    assert ClockLead.objects.count() == clock_steps._MOST_LEADS
    last = ClockLead.objects.order_by("pk").last()
    assert last is not None and (last.boot, last.lead_s) == (f"boot {number}", number + 0.5)


def test_the_timetable_looks_each_second() -> None:
    assert "note_clock_steps" in [part.name for part in timetable.TICK]


@pytest.mark.django_db(transaction=True)
def test_a_run_that_is_begun_and_not_committed_as_somebody_looks_is_told_of(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    begun: list[Run] = []

    def look() -> Callable[[], object]:
        set_by(3600)
        return lambda: server_clock.note_steps(now=timezone.now())

    told = competing.after(lambda: begun.append(start(cast, pair)), look)
    assert told == [begun[0].pk]


@pytest.mark.django_db(transaction=True)
def test_who_reads_a_run_waits_for_whoever_looks(run: Run) -> None:
    set_by(3600)
    looks, reads = threading.Event(), threading.Event()

    def look() -> None:
        with clock_steps.since_last_look() as step:
            looks.set()
            # Who reads has been given this long to go by.
            reads.wait(1)
            services.tell_clock_step(step=step)
        connection.close()

    other = threading.Thread(target=look)
    other.start()
    looks.wait(10)
    closure.close(run.pk)
    reads.set()
    other.join()
    assert flags() == {"server-clock-set": {"seconds": "+3600"}}


@pytest.mark.django_db(transaction=True)
def test_who_only_looks_waits_for_nobody_that_stands_still(run: Run) -> None:
    server_clock.note_steps(now=timezone.now())
    stands, ends = threading.Event(), threading.Event()

    def stand_still() -> None:
        with transaction.atomic():
            assert list(ClockLead.objects.select_for_update())
            stands.set()
            ends.wait(30)
        connection.close()

    other = threading.Thread(target=stand_still)
    other.start()
    stands.wait(10)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '50ms'")
        closure.close(run.pk)
        assert server_clock.note_steps(now=timezone.now()) == []
    finally:
        ends.set()
        other.join()


@pytest.fixture
def set_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the clock be set by an hour after each first look at it."""
    leads, whole = itertools.count(), clock_steps.lead
    monkeypatch.setattr(clock_steps, "lead", lambda: whole() + 3600 * min(next(leads), 1))


def test_a_run_as_whose_claim_it_is_set_begins_afterwards(
    cast: SimpleNamespace, pair: list[Node], request: pytest.FixtureRequest
) -> None:
    make.launched(cast, *pair)
    request.getfixturevalue("set_meanwhile")
    assert make.take() == []
    assert len(make.take()) == 1


def test_a_run_that_is_read_as_it_is_set_is_read_anew(run: Run, set_meanwhile: None) -> None:
    assert not closure.close(run.pk)
    run.refresh_from_db()
    assert (run.state in Run.OPEN_STATES, run.readings, Result.objects.count()) == (True, 0, 0)
    assert closure.close(run.pk)
    assert flags() == {"server-clock-set": {"seconds": "+3600"}}
