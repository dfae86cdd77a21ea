"""Lost messages and killed workers lose nothing and count nothing twice."""

import zlib
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import DatabaseError
from django.utils import timezone

from apps.agents.models import Job, JobOutput
from apps.bench.toolkit import Plan
from apps.campaigns import services
from apps.campaigns.models import Campaign, Reservation, Run, Trial
from apps.core import cpu_time, isolation, leases, queue
from apps.core.models import SetAside
from apps.results import services as results
from apps.results.models import Result
from apps.testbeds.models import Node
from tests import rewriting
from tests.campaigns import factories as make
from tests.workers.factories import SILENT, job_of, measure, report
from workers import bulky, carry_out, closure, reconcile, tasks


def look() -> None:
    reconcile.reconcile(now=timezone.now())


def failure_of(run: Run) -> str:
    look()
    run.refresh_from_db()
    return str(run.reason["code"]) if run.state == "failed" else run.state


@pytest.fixture(autouse=True)
def handed(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """Carry out at once what the timetable hands to other workers, and return all of it."""
    messages: list[tuple] = []

    def remind(task: str, pk: int) -> None:
        messages.append((task, pk))
        tasks.close_run(pk)

    monkeypatch.setattr(queue, "remind", remind)
    return messages


@pytest.fixture
def run(cast: SimpleNamespace, pair: list[Node]) -> Run:
    """Return a run whose server has been queued."""
    make.launched(cast, *pair)
    carry_out.schedule()
    return Run.objects.get()


def test_a_campaign_goes_to_its_end_without_a_single_message(run: Run) -> None:
    campaign = run.trial.campaign
    for _turn in range(4):
        current = Run.objects.get(state="running")
        report(job_of(current, "server"), Job.State.READY)
        look()
        measure(current)
        look()
    services.finish_campaigns(now=timezone.now())
    campaign.refresh_from_db()
    assert campaign.state == "finished"
    assert make.states(campaign) == ["succeeded"] * 4
    assert Result.objects.count() == Run.objects.count() == 4
    assert Job.objects.count() == 8


def test_looking_again_changes_nothing_while_a_job_is_under_way(run: Run) -> None:
    look()
    report(job_of(run, "server"), Job.State.RUNNING)
    look()
    assert Job.objects.count() == 1
    run.refresh_from_db()
    assert (run.stage, run.stopping) == (0, False)


def test_a_run_whose_worker_was_killed_before_it_began_is_begun_later(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    make.launched(cast, *pair)
    (run,) = make.take(*pair, now=timezone.now())
    look()
    assert not Job.objects.exists()
    Run.objects.update(updated_at=timezone.now() - timedelta(seconds=6))
    look()
    look()
    run.refresh_from_db()
    assert run.state == "running"
    assert Job.objects.count() == 1


def test_a_run_whose_worker_was_killed_before_it_recorded_is_recorded_once(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(job_of(run, "server"), Job.State.READY)
    look()
    measure(run)

    def die(**values: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("apps.campaigns.services.succeed_run", die)
        with pytest.raises(SystemExit):
            carry_out.advance(run.pk)
    assert not Result.objects.exists()
    look()
    assert bulky.take_next(now=timezone.now())
    assert Result.objects.count() == 1
    assert Trial.objects.get(pk=run.trial_id).state == "succeeded"


def test_a_cancel_that_nobody_heard_of_is_noticed(run: Run, cast: SimpleNamespace) -> None:
    report(job_of(run, "server"), Job.State.READY)
    look()
    Campaign.objects.update(state="cancelled")
    look()
    for job in Job.objects.exclude(state=Job.State.ENDED):
        assert job.stop_requested_at
        report(job, Job.State.ENDED, SILENT)
    look()
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert not Reservation.objects.filter(released_at=None).exists()


def test_jobs_that_vanished_do_not_hold_a_run_for_ever(run: Run) -> None:
    report(job_of(run, "server"), Job.State.READY)
    look()
    rewriting.delete(Job.objects.all())
    look()
    run.refresh_from_db()
    assert run.state == "failed"


def test_one_run_that_can_not_be_taken_on_does_not_keep_the_others(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    others = make.nodes(cast.team, "c", "d")
    make.launched(cast, *pair)
    make.launched(cast, *others)
    make.take(now=timezone.now())
    Run.objects.update(updated_at=timezone.now() - timedelta(seconds=6))
    first, second = Run.objects.order_by("pk")
    begin = carry_out.begin

    def stumble(run: Run) -> bool:
        if run == first:
            raise ValueError("broken")
        return begin(run)

    monkeypatch.setattr(carry_out, "begin", stumble)
    look()
    assert [job.run_ref for job in Job.objects.all()] == [second.pk]


def test_a_look_takes_as_many_queries_for_many_runs_as_for_one(
    cast: SimpleNamespace, django_assert_max_num_queries
) -> None:
    nodes = make.nodes(cast.team, *(f"n{i}" for i in range(20)))
    for client, server in zip(nodes[::2], nodes[1::2], strict=True):
        make.launched(cast, client, server, repetitions=1)
    for run in make.take(now=timezone.now()):
        carry_out.begin(run)
    # Runs, their jobs, what was set aside of them, and what was set aside of those that are over.
    with django_assert_max_num_queries(4):
        look()


@pytest.fixture
def over(run: Run) -> Run:
    """Return a run whose jobs have all ended, and which nobody has taken on."""
    report(job_of(run, "server"), Job.State.READY)
    carry_out.advance(run.pk)
    measure(run)
    return run


def test_the_timetable_reads_nothing_itself(over: Run, handed: list[tuple], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "remind", lambda *message: handed.append(message))
    monkeypatch.setattr("apps.results.services.record_run", lambda **values: pytest.fail("it was read"))
    look()
    over.refresh_from_db()
    assert over.state == "running"
    assert handed == [(queue.CLOSE_RUN, over.pk)]
    assert queue.queue_of(queue.CLOSE_RUN) == queue.SHORT
    assert not Reservation.objects.filter(run=over, released_at=None).exists()


def test_a_run_that_somebody_reads_is_not_waited_for(
    over: Run, handed: list[tuple], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "is_held", lambda work, row_id: (work, row_id) == (closure.CLOSE, over.pk))
    look()
    assert not handed


def test_a_run_at_whose_reading_workers_were_lost_is_given_up(over: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(**values: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("apps.results.services.record_run", die)
        for losses in range(closure.MOST_LOSSES):
            with pytest.raises(SystemExit):
                closure.close(over.pk, in_turn=losses > 0)
            over.refresh_from_db()
            assert (over.state, over.readings) == ("running", losses + 1)
    assert closure.close(over.pk, in_turn=True) and failure_of(over) == "reading-lost"


def test_what_the_end_of_the_server_took_with_it_is_no_loss(over: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(**values: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("apps.results.services.record_run", die)
        for _time in range(2 * closure.MOST_LOSSES):
            # PostgreSQL began to serve after the last worker began to read.
            Run.objects.filter(pk=over.pk).update(updated_at=timezone.now() - timedelta(days=365))
            with pytest.raises(SystemExit):
                closure.close(over.pk)
            over.refresh_from_db()
            assert (over.state, over.readings) == ("running", 1)
    assert closure.close(over.pk, in_turn=True)
    over.refresh_from_db()
    assert over.state == "succeeded"


def test_a_fault_of_the_database_is_no_loss(over: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**values: object) -> None:
        raise DatabaseError("gone")

    with monkeypatch.context() as patch:
        patch.setattr("apps.results.services.record_run", fail)
        for _time in range(closure.MOST_LOSSES + 1):
            tasks.close_run(over.pk)
    assert SetAside.objects.get(work=closure.CLOSE, row_id=over.pk).attempts == 1
    isolation.try_again(SetAside.objects.get(), now=timezone.now())
    look()
    over.refresh_from_db()
    assert over.state == "succeeded"
    assert not SetAside.objects.exists()


@pytest.mark.parametrize("slow", ["apps.agents.compression.unpack", "apps.bench.judges.read_run"])
def test_what_takes_too_long_to_be_read_fails_by_name(slow: str, over: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def spin(*values: object, **more: object) -> None:
        while True:
            pass

    monkeypatch.setattr(slow, spin)
    monkeypatch.setattr(cpu_time, "QUICK_S", 0.2)
    monkeypatch.setattr(cpu_time, "READING_S", 0.2)
    assert failure_of(over) == "too-slow"


def test_outputs_that_are_too_large_together_fail_by_name(over: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # With one sign of another script each of the others takes four bytes, too.
    text = 1000 * b"x" + "\N{HIGH BRIGHTNESS SYMBOL}".encode()
    rewriting.update(JobOutput.objects.filter(job=job_of(over, "client")), stdout_z=zlib.compress(text))
    monkeypatch.setattr("apps.results.services.MOST_BYTES_OF_A_RUN", 4000)
    assert failure_of(over) == "too-much-output"


def test_outputs_that_hold_too_many_values_together_fail_by_name(over: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.bench.outputs.documents.MOST_VALUES_OF_A_RUN", 10)
    assert failure_of(over) == "too-many-values"
    assert over.reason["message"]["params"]["most"] == 10


@pytest.mark.parametrize(
    ("started", "ended"),
    [(-370 * 365 * 86400.0, 0.0), (0.0, 257 * 365 * 86400.0), (0.0, -5.0), (-3600.0, 0.0), (0.0, 3600.0)],
)
def test_times_that_cannot_be_are_kept_and_nothing_is_computed_of_them(
    over: Run, started: float, ended: float
) -> None:
    job = job_of(over, "client")
    times = {"started_at": job.started_at + timedelta(seconds=started)}
    times["ended_at"] = job.ended_at + timedelta(seconds=ended)
    rewriting.update(Job.objects.filter(pk=job.pk), **times)
    look()
    result = Result.objects.get()
    flags = {flag["name"]: flag for flag in result.flags}
    assert flags["times-impossible"]["message"]["params"] == {"nodes": job.node.name}
    job.refresh_from_db()
    output = results.output_of(job, Plan.from_json(Run.objects.get(pk=over.pk).plan))
    assert (output.started_at, output.ended_at) == (None, None)
    assert {"started_at": job.started_at, "ended_at": job.ended_at} == times


def test_usual_times_are_not_flagged(over: Run) -> None:
    look()
    assert "times-impossible" not in {flag["name"] for flag in Result.objects.get().flags}
