"""A campaign that is cancelled has its jobs stopped at once, whoever else is at work on its runs."""

import threading
import zlib
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from apps.agents.models import Job, JobOutput
from apps.campaigns import queries, services
from apps.campaigns.models import Campaign, Reservation, Run
from apps.core import queue
from apps.results.models import Sample
from apps.testbeds.models import Node
from tests import rewriting
from tests.workers.factories import SILENT, job_of, listen, measure, report, start
from workers import carry_out, closure, stops


def cancel(run: Run, cast: SimpleNamespace) -> None:
    services.cancel_campaign(campaign=run.trial.campaign, user=cast.oscar, now=timezone.now())


def test_its_jobs_are_asked_to_stop_without_a_worker(
    cast: SimpleNamespace, pair: list[Node], django_capture_on_commit_callbacks: Any
) -> None:
    run = start(cast, pair)
    listen(run)
    report(job_of(run, "client"), Job.State.RUNNING)
    with django_capture_on_commit_callbacks(execute=True):
        cancel(run, cast)
    assert {job.stop_requested_at is not None for job in Job.objects.all()} == {True}
    run.refresh_from_db()
    assert (run.stopping, run.state) == (True, "running")
    for job in Job.objects.all():
        report(job, Job.State.ENDED, SILENT)
    assert carry_out.advance(run.pk)
    run.refresh_from_db()
    assert run.state == "cancelled"


@pytest.mark.parametrize("is_readable", [True, False])
def test_what_was_measured_whole_is_read_though_the_campaign_was_cancelled(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch, is_readable: bool
) -> None:
    # Whoever reads is late.
    monkeypatch.setattr(queue, "remind", lambda *_message: None)
    run = start(cast, pair)
    listen(run)
    measure(run)
    carry_out.advance(run.pk, hands_over=True)
    if not is_readable:
        rewriting.update(JobOutput.objects.all(), stdout_z=zlib.compress(b"damaged"))
    cancel(run, cast)
    assert closure.close(run.pk)
    run.refresh_from_db()
    assert run.state == run.trial.state == ("succeeded" if is_readable else "cancelled")
    assert Sample.objects.filter(trial=run.trial).exists() is is_readable


def test_a_run_without_a_command_yet_ends_at_once(
    cast: SimpleNamespace, pair: list[Node], django_capture_on_commit_callbacks: Any
) -> None:
    run = start(cast, pair)
    Run.objects.update(plan=None, state="starting", stage=-1)
    rewriting.delete(Job.objects.all())
    with django_capture_on_commit_callbacks(execute=True):
        cancel(run, cast)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert not Reservation.objects.filter(released_at=None).exists()


def test_a_run_that_was_claimed_meanwhile_begins_nothing(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    Run.objects.update(plan=None, state="starting", stage=-1)
    rewriting.delete(Job.objects.all())
    Campaign.objects.update(state="cancelled")
    assert not carry_out.begin(Run.objects.get())
    assert not Job.objects.exists()
    run.refresh_from_db()
    assert run.state == "cancelled"


def test_a_stop_that_fails_is_left_to_the_workers(
    cast: SimpleNamespace,
    pair: list[Node],
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = start(cast, pair)
    report(job_of(run, "server"), Job.State.RUNNING)

    def away(*, run_ids: Any) -> None:
        raise OperationalError("away")

    monkeypatch.setattr(stops, "stop_runs", away)
    with django_capture_on_commit_callbacks(execute=True):
        cancel(run, cast)
    assert Job.objects.get().stop_requested_at is None
    carry_out.advance(run.pk)
    assert Job.objects.get().stop_requested_at is not None


@pytest.mark.django_db(transaction=True)
def test_what_is_queued_at_this_moment_is_stopped_too(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    server = job_of(run, "server")
    report(server, Job.State.READY)
    with transaction.atomic():
        queries.lock_open_run(run.pk)
        stopper = threading.Thread(target=_in_a_connection_of_its_own, args=(run.pk,))
        stopper.start()
        stopper.join(0.3)
        assert stopper.is_alive()
        carry_out.advance(run.pk)
        assert job_of(run, "client").stop_requested_at is None
    stopper.join(10)
    client = job_of(run, "client")
    assert (client.state, client.fault) == ("ended", "stopped")
    server.refresh_from_db()
    assert server.stop_requested_at is not None


def _in_a_connection_of_its_own(run_id: int) -> None:
    try:
        stops.stop_runs(run_ids=[run_id])
    finally:
        connection.close()
