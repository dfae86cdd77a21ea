"""What takes long to be read waits for its turn: no team's outputs keep others' measurements from being read."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.agents.models import Job
from apps.bench.toolkit import Output
from apps.campaigns.models import Run
from apps.core import cpu_time, queue
from apps.core.models import WorkerTime
from apps.results.models import Result
from apps.testbeds.models import Node
from tests.workers.factories import job_of, listen, measure, report, start, window_sweep
from workers import bulky, carry_out, closure, readings, reconcile


def long_output() -> Output:
    """Return what a client would print in some hours of intervals: hundreds of milliseconds to be read."""
    printed = window_sweep()
    document = json.loads(printed.stdout)
    document["intervals"] *= 3000
    return replace(printed, stdout=json.dumps(document).encode())


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the tasks that are asked for."""
    names: list[str] = []
    monkeypatch.setattr(queue, "send", lambda task, *_args: names.append(task))
    return names


@pytest.fixture
def run(cast: SimpleNamespace, pair: list[Node]) -> Run:
    """Return a run whose server listens, and whose client is at work."""
    begun = start(cast, pair)
    listen(begun)
    return begun


def test_what_takes_long_is_left_for_its_turn_and_then_read(
    run: Run, cast: SimpleNamespace, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(run, long_output())
    monkeypatch.setattr(cpu_time, "QUICK_S", 0.02)
    # An error that comes within a finaliser is lost, and raised again.
    monkeypatch.setattr(cpu_time, "_AGAIN_S", 0.02)
    assert not carry_out.advance(run.pk)
    assert sent[-1] == queue.BULKY
    run.refresh_from_db()
    assert (run.state in Run.OPEN_STATES, run.readings, Result.objects.count()) == (True, 0, 0)
    owners = {f"{readings.TEAM}{cast.team.pk}", f"{readings.PERSON}{run.trial.campaign.created_by_id}"}
    assert set(WorkerTime.objects.values_list("owner", flat=True)) == owners
    # A worker of the steps does not try again, whoever asks it.
    monkeypatch.setattr(cpu_time, "QUICK_S", cpu_time.READING_S)
    closure.close_waiting(run.pk, now=timezone.now())
    assert Result.objects.count() == 0
    assert bulky.take_next(now=timezone.now())
    run.refresh_from_db()
    assert (run.state, Result.objects.count()) == (Run.State.SUCCEEDED, 1)
    assert not bulky.take_next(now=timezone.now())


def test_all_of_whoever_had_much_of_it_waits_and_nothing_of_others(
    run: Run, cast: SimpleNamespace, sent: list[str]
) -> None:
    measure(run)
    owner = WorkerTime.objects.create(
        owner=f"{readings.TEAM}{cast.team.pk}", spent_s=2 * readings.MOST_S, at=timezone.now()
    )
    assert not carry_out.advance(run.pk)
    assert Result.objects.count() == 0
    WorkerTime.objects.filter(pk=owner.pk).update(owner=f"{readings.TEAM}{cast.other_team.pk}")
    assert closure.close(run.pk)
    assert Result.objects.count() == 1


def test_what_is_still_under_way_is_no_piece(run: Run, cast: SimpleNamespace, sent: list[str]) -> None:
    WorkerTime.objects.create(owner=f"{readings.TEAM}{cast.team.pk}", spent_s=100.0, at=timezone.now())
    assert not bulky.take_next(now=timezone.now())
    report(job_of(run, "client"), Job.State.ENDED, window_sweep())
    assert not bulky.take_next(now=timezone.now())
    assert Result.objects.count() == 0


def test_little_is_not_counted_and_much_is(run: Run, cast: SimpleNamespace) -> None:
    readings.count(run.pk, readings.FREE_S / 2)
    assert not WorkerTime.objects.exists()
    readings.count(run.pk, 3 * readings.FREE_S)
    spent = dict(WorkerTime.objects.values_list("owner", "spent_s"))
    assert spent[f"{readings.TEAM}{cast.team.pk}"] == pytest.approx(3 * readings.FREE_S)
    assert not readings.waits_for_its_turn(run.pk, timezone.now())


def test_a_reading_that_lost_its_worker_is_its_teams_and_waits_for_its_turn(
    run: Run, cast: SimpleNamespace, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(**values: object) -> None:
        raise SystemExit

    measure(run)
    monkeypatch.setattr("apps.results.services.record_run", die)
    with pytest.raises(SystemExit):
        closure.close(run.pk)
    for _look in range(2):
        assert not closure.close(run.pk)
        assert sent[-1] == queue.BULKY
    run.refresh_from_db()
    assert run.readings == 1
    spent = dict(WorkerTime.objects.values_list("owner", "spent_s"))
    assert spent[f"{readings.TEAM}{cast.team.pk}"] > readings.MOST_S
    assert f"team {cast.team.pk}" in spent
    assert readings.waits_for_its_turn(run.pk, timezone.now())


def test_of_a_worker_that_was_lost_long_ago_as_much_is_counted_as_it_could_have_read(
    run: Run, cast: SimpleNamespace
) -> None:
    readings.count_lost(run.pk, 10 * readings.LIMIT_S)
    spent = dict(WorkerTime.objects.values_list("owner", "spent_s"))
    assert spent[f"{readings.TEAM}{cast.team.pk}"] == pytest.approx(readings.LIMIT_S + readings.MOST_S)
    assert spent[f"team {cast.team.pk}"] == pytest.approx(readings.LIMIT_S)


def test_a_look_of_the_timetable_wakes_whoever_reads_in_turns(
    run: Run, cast: SimpleNamespace, sent: list[str]
) -> None:
    measure(run)
    WorkerTime.objects.create(owner=f"{readings.TEAM}{cast.team.pk}", spent_s=100.0, at=timezone.now())
    reconcile.reconcile(now=timezone.now())
    assert queue.CLOSE_RUN in sent
    closure.close_waiting(run.pk, now=timezone.now())
    assert sent[-1] == queue.BULKY
