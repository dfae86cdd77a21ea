"""Runs that give no result, and the reason that is kept."""

import dataclasses
from types import SimpleNamespace

import pytest
from django.db import DatabaseError
from django.utils import timezone

from apps.agents.models import Job
from apps.bench import tools
from apps.bench.toolkit import ToolFailure
from apps.campaigns.models import Experiment, Reservation, Run, Trial
from apps.results.models import Result
from apps.testbeds.models import Node, NodeAddress
from tests import rewriting
from tests.bench.tools import recordings
from tests.campaigns import factories as make
from tests.workers.factories import SILENT, job_of, listen, measure, report, start
from workers import carry_out


def test_what_the_tool_says_is_the_reason_of_a_failure(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    listen(run)
    measure(run, recordings.load("iperf3-tcp", "err_refused.txt"))
    assert carry_out.advance(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert run.reason["code"] == "refused"
    assert run.reason["message"]["msgid"]
    assert not Result.objects.exists()
    assert Trial.objects.get(pk=run.trial_id).state == "pending"
    assert not Reservation.objects.filter(run=run, released_at=None).exists()


def test_a_server_that_never_listens_fails_the_run_with_what_it_said(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    said = dataclasses.replace(
        SILENT,
        stdout=b"",
        stderr=b"iperf3: error - unable to start listener for connections: Address already in use\n",
        exit_code=1,
    )
    report(job_of(run, "server"), Job.State.ENDED, said)
    assert carry_out.advance(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert run.reason["code"] == "port-busy"


def test_a_lost_agent_fails_the_attempt_and_stops_the_other_side(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    listen(run)
    rewriting.update(
        Job.objects.filter(role="client"),
        state=Job.State.LOST,
        fault="agent-lost",
        ended_at=timezone.now(),
        fault_detail="silent",
    )
    assert not carry_out.advance(run.pk)
    server = job_of(run, "server")
    assert server.stop_requested_at is not None
    report(server, Job.State.ENDED, dataclasses.replace(SILENT, exit_code=None, signal=15))
    assert carry_out.advance(run.pk)
    run.refresh_from_db()
    assert (run.state, run.reason["code"], run.reason["retryable"]) == ("failed", "agent-lost", True)


def test_a_program_that_is_not_allowed_fails_the_trial_for_good(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    report(job_of(run, "server"), Job.State.ENDED, fault="not-allowed")
    assert carry_out.advance(run.pk)
    trial = Trial.objects.get(pk=run.trial_id)
    assert (trial.state, trial.reason["code"]) == ("failed", "not-allowed")
    assert trial.reason["remedy"]["msgid"]


def test_a_node_without_an_address_fails_with_what_to_do(cast: SimpleNamespace, pair: list[Node]) -> None:
    NodeAddress.objects.filter(node=pair[1]).delete()
    campaign = make.launched(cast, *pair)
    assert carry_out.schedule() == 0
    assert set(make.states(campaign)) == {"failed"}
    reason = Trial.objects.first().reason
    assert reason["code"] == "no-address"
    assert reason["message"]["params"] == {"node": "pnu01"}
    assert "Add one" in reason["remedy"]["msgid"]
    assert not Reservation.objects.filter(released_at=None).exists()


def test_a_tool_that_is_gone_fails_with_its_name(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    Experiment.objects.update(tool="no-such-tool")
    assert carry_out.schedule() == 0
    assert Trial.objects.first().reason["code"] == "tool-missing"


def test_parameters_the_tool_no_longer_takes_fail_with_their_names(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    rewriting.update(Trial.objects, parameters={"window": 1, "colour": "red"})
    assert carry_out.schedule() == 0
    reason = Trial.objects.first().reason
    assert reason["code"] == "bad-parameters"
    assert "colour" in reason["message"]["params"]["why"]


def test_a_node_that_left_the_inventory_fails_the_trial(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    lane = campaign.experiments.get().lanes.get()
    (run,) = make.take(*pair)
    lane.roles = {"client": [pair[0].pk], "server": [10**9]}
    run.trial.lane = lane
    assert not carry_out.begin(run)
    assert Trial.objects.get(pk=run.trial_id).reason["code"] == "node-missing"


def test_output_that_breaks_the_parser_fails_the_trial_and_is_kept(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(cast, pair)
    listen(run)
    measure(run)

    def stumble(*arguments: object) -> None:
        raise KeyError("end")

    monkeypatch.setattr(type(tools.get("iperf3-tcp")), "parse", stumble)
    assert carry_out.advance(run.pk)
    trial = Trial.objects.get(pk=run.trial_id)
    assert (trial.state, trial.reason["code"]) == ("failed", "unreadable")
    assert job_of(run, "client").output.stdout_z


def test_a_database_that_fails_leaves_the_run_open(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(cast, pair)
    listen(run)
    measure(run)

    def fail(*, run: Run, most_s: float) -> None:
        raise DatabaseError("connection lost")

    with monkeypatch.context() as patch:
        patch.setattr("apps.results.services.record_run", fail)
        with pytest.raises(DatabaseError):
            carry_out.advance(run.pk)
    run.refresh_from_db()
    assert run.state == "running"
    assert carry_out.advance(run.pk)


def test_a_plan_the_tool_refuses_fails_the_trial(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    NodeAddress.objects.filter(node=pair[0]).update(address="2001:db8::1")
    make.launched(cast, *pair)
    assert carry_out.schedule() == 0
    assert Trial.objects.first().state == "failed"


def test_a_failure_carries_its_remedy(cast: SimpleNamespace, pair: list[Node], monkeypatch) -> None:
    run = start(cast, pair)
    report(job_of(run, "server"), Job.State.ENDED, fault="not-found")
    carry_out.advance(run.pk)
    kept = ToolFailure.from_json(Run.objects.get(pk=run.pk).reason)
    assert kept.code == "not-found"
    assert kept.remedy is not None


def test_a_mistake_in_a_tool_fails_its_trials_and_keeps_no_node(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*arguments: object) -> None:
        raise KeyError("window")

    monkeypatch.setattr(type(tools.get("iperf3-tcp")), "plan", stumble)
    campaign = make.launched(cast, *pair)
    assert carry_out.schedule() == 0
    assert set(make.states(campaign)) == {"failed"}
    assert Trial.objects.first().reason["code"] == "no-plan"
    assert not Reservation.objects.filter(released_at=None).exists()


def test_a_database_that_fails_while_a_plan_is_made_leaves_the_run_to_be_begun(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise DatabaseError("connection lost")

    make.launched(cast, *pair)
    (run,) = make.take(*pair)
    with monkeypatch.context() as patch:
        patch.setattr("workers.plans._players", fail)
        with pytest.raises(DatabaseError):
            carry_out.begin(run)
    run.refresh_from_db()
    assert run.state == "starting"
    assert carry_out.begin(run)
