"""Runs carried out on agents, stage by stage, to their recorded end."""

import dataclasses
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.agents.models import Job
from apps.bench import tools
from apps.bench.toolkit import Plan
from apps.campaigns import services
from apps.campaigns.models import Campaign, Reservation, Run
from apps.core.models import SetAside
from apps.results.models import Result
from apps.testbeds.models import Node, NodeAddress
from tests import rewriting
from tests.campaigns import factories as make
from tests.workers import poison
from tests.workers.factories import SILENT, job_of, listen, measure, report, start, window_sweep
from workers import carry_out, reconcile, tasks


def test_it_starts_the_server_first(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    job = Job.objects.get()
    assert (run.state, run.stage) == ("running", 0)
    assert (job.node, job.role, job.stage, job.run_ref) == (pair[1], "server", 0, run.pk)
    assert job.argv[:2] == ["iperf3", "-s"]
    assert job.background
    assert job.ready_pattern
    assert Plan.from_json(run.plan).stages[0].commands[0].argv == tuple(job.argv)


def test_it_measures_from_the_first_address_of_each_node(cast: SimpleNamespace, pair: list[Node]) -> None:
    NodeAddress.objects.create(node=pair[1], address="192.0.2.9", position=5)
    run = start(cast, pair)
    listen(run)
    assert pair[1].addresses.first().address in job_of(run, "client").argv
    assert "192.0.2.9" not in job_of(run, "client").argv


def test_the_client_follows_when_the_server_listens(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    report(job_of(run, "server"), Job.State.RUNNING)
    assert not carry_out.advance(run.pk)
    assert Job.objects.count() == 1
    report(job_of(run, "server"), Job.State.READY)
    assert not carry_out.advance(run.pk)
    client = job_of(run, "client")
    assert (client.node, client.stage, client.background) == (pair[0], 1, False)
    assert "65536" in client.argv


def test_an_advance_that_comes_twice_does_nothing_twice(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    listen(run)
    carry_out.advance(run.pk)
    assert Job.objects.count() == 2
    measure(run)
    assert carry_out.advance(run.pk)
    assert not carry_out.advance(run.pk)
    assert Result.objects.count() == 1


def test_a_server_for_one_test_is_asked_to_stop_if_it_does_not_end_by_itself(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    run = start(cast, pair)
    listen(run)
    report(job_of(run, "client"), Job.State.ENDED, window_sweep())
    assert not carry_out.advance(run.pk)
    server = job_of(run, "server")
    assert server.stop_requested_at is None
    rewriting.update(Job.objects.filter(role="client"), ended_at=timezone.now() - timedelta(seconds=1))
    assert not carry_out.advance(run.pk)
    server.refresh_from_db()
    assert server.stop_requested_at is not None
    run.refresh_from_db()
    assert (run.state, run.stopping) == ("running", True)
    report(server, Job.State.ENDED, SILENT)
    assert carry_out.advance(run.pk)


def test_a_measurement_ends_as_a_result_and_the_next_begins_at_once(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    listen(run)
    measure(run)
    assert carry_out.advance(run.pk)
    run.refresh_from_db()
    assert run.state == "succeeded"
    assert run.result.samples.get(metric="goodput").value > 100e6
    assert make.states(run.trial.campaign) == ["succeeded", "running", "pending", "pending"]
    following = Run.objects.get(state="running")
    assert Job.objects.filter(run_ref=following.pk).count() == 1


def test_who_comes_second_to_a_measurements_end_leaves_its_reading_to_the_first(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    run = start(cast, pair)
    listen(run)
    measure(run)
    services.release_run(run=run, now=timezone.now())
    assert not carry_out.advance(run.pk, leaves_end=True)
    run.refresh_from_db()
    assert run.state == "running"
    # The first is gone, it turns out: a tick has it read.
    reconcile.reconcile(now=timezone.now())
    tasks.close_run(run.pk)
    run.refresh_from_db()
    assert run.state == "succeeded"


def test_a_run_is_begun_once(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    (run,) = make.take(*pair)
    assert carry_out.begin(run)
    assert not carry_out.begin(run)
    assert Job.objects.count() == 1


def test_a_claim_that_cannot_be_stored_is_set_aside_and_not_tried_for_ever(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    campaign = make.launched(cast, *pair)
    trial = campaign.trials.order_by("pk")[0]
    poison.row(Run, trial.pk, column="trial_id", insert=True, state="check_violation")
    assert carry_out.schedule() == 1
    assert Run.objects.get().trial != trial
    assert SetAside.objects.filter(row_id=trial.pk).exists()


def test_a_cancelled_run_is_stopped_and_its_nodes_given_back(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    listen(run)
    services.cancel_campaign(campaign=run.trial.campaign, user=cast.oscar, now=timezone.now())
    assert not carry_out.advance(run.pk)
    assert all(job.stop_requested_at for job in Job.objects.all())
    # Neither was handed out yet, so both have ended by now.
    assert Job.objects.filter(state=Job.State.ENDED).exists()
    for job in Job.objects.exclude(state=Job.State.ENDED):
        report(job, Job.State.ENDED, SILENT)
    assert carry_out.advance(run.pk)
    run.refresh_from_db()
    assert (run.state, Campaign.objects.get().state) == ("cancelled", "cancelled")
    assert not Reservation.objects.filter(released_at=None).exists()
    assert not Result.objects.exists()


def test_commands_of_one_instant_get_a_start_a_little_ahead(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch, settings
) -> None:
    settings.START_LEAD_S = 0.25
    tool = tools.get("iperf3-tcp")
    plan = type(tool).plan

    def together(self, params, nodes):
        made = plan(self, params, nodes)
        return Plan(tuple(dataclasses.replace(stage, together=True) for stage in made.stages))

    monkeypatch.setattr(type(tool), "plan", together)
    before = timezone.now()
    run = start(cast, pair)
    lead = job_of(run, "server").start_at - before
    assert timedelta(seconds=0.25) <= lead < timedelta(seconds=30)


def test_a_gone_run_is_nobodys_business(db: None) -> None:
    assert not carry_out.advance(12345)


def test_the_way_from_one_measurement_to_the_next_takes_few_queries(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    listen(run)
    measure(run)
    with CaptureQueriesContext(connection) as captured:
        carry_out.advance(run.pk)
    asked = [query["sql"] for query in captured.captured_queries]
    begun = next(place for place, sql in enumerate(asked) if sql.startswith('INSERT INTO "agents_job"'))
    recorded = next(place for place, sql in enumerate(asked) if sql.startswith('INSERT INTO "results_result"'))
    # What was printed is read when the next measurement has begun already.
    assert begun < 25 < recorded


def test_a_server_that_never_ends_by_itself_is_asked_to_stop_at_once(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tools.get("iperf3-tcp")
    plan = type(tool).plan

    def stubborn(self, params, nodes):
        serve, measure_stage = plan(self, params, nodes).stages
        server = dataclasses.replace(serve.commands[0], ends_by_itself=False)
        return Plan((dataclasses.replace(serve, commands=(server,)), measure_stage))

    monkeypatch.setattr(type(tool), "plan", stubborn)
    run = start(cast, pair)
    listen(run)
    report(job_of(run, "client"), Job.State.ENDED, window_sweep())
    assert not carry_out.advance(run.pk)
    assert job_of(run, "server").stop_requested_at is not None
