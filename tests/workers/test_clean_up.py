"""A run of a storage tool that is cancelled, or breaks, still removes what it wrote."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.agents.models import Job
from apps.bench.toolkit import Command, Output, Plan, Stage
from apps.campaigns import services
from apps.campaigns.models import Event, Reservation, Run
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.testbeds import factories as inventory
from tests.workers.factories import report
from workers import carry_out, stops

DONE = Output("client", "", "", (), b"", b"", 0)
KILLED = Output("client", "", "", (), b"", b"", None, signal=15)
REFUSED = Output("client", "", "", (), b"", b"rm: cannot remove", 1)


@pytest.fixture
def run(cast: SimpleNamespace, pair: list[Node]) -> Run:
    """Return a run of two clients of a file system that have begun to write."""
    gpfs = inventory.file_system(cast.team, "gpfs", inventory.cluster(cast.team, "", *pair), mount_path="/gpfs")
    draft = make.campaign(cast)
    services.create_experiment(
        campaign=draft,
        user=cast.oscar,
        roles=make.players(client=pair),
        name="records",
        tool="iozone",
        fixed={"file_size": "1 GiB", "read": "no"},
        repetitions=1,
        max_attempts=1,
        file_system=gpfs,
    )
    services.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    assert carry_out.schedule() == 1
    return Run.objects.get()


def jobs_of(run: Run) -> list[Job]:
    """Return the jobs of the stage that the run is in."""
    run.refresh_from_db()
    return list(Job.objects.filter(run_ref=run.pk, stage=run.stage).order_by("node"))


def stage_of(run: Run) -> str:
    run.refresh_from_db()
    return Plan.from_json(run.plan).stages[run.stage].name


def write(run: Run) -> None:
    """Have the mounts seen, and the clients begin to write."""
    for job in jobs_of(run):
        report(job, Job.State.READY)
        report(job, Job.State.ENDED, DONE)
    carry_out.advance(run.pk)
    assert stage_of(run) == "write"
    for job in jobs_of(run):
        report(job, Job.State.RUNNING)


def end(jobs: list[Job], output: Output = DONE, **values: object) -> None:
    for job in jobs:
        report(job, Job.State.ENDED, None if "fault" in values else output, **values)


def cancel(run: Run, cast: SimpleNamespace) -> None:
    services.cancel_campaign(campaign=run.trial.campaign, user=cast.oscar, now=timezone.now())
    stops.stop_runs(run_ids=[run.pk])


def test_a_cancelled_run_removes_its_files_and_holds_its_nodes_until_then(run: Run, cast: SimpleNamespace) -> None:
    write(run)
    cancel(run, cast)
    end(jobs_of(run), KILLED)
    assert not carry_out.advance(run.pk)
    assert stage_of(run) == "clean"
    removing = jobs_of(run)
    assert [job.argv[:3] for job in removing] == [["rm", "-rf", "--"]] * 2
    assert all(job.argv[3].startswith("/gpfs/.fathom-") for job in removing)
    # The names of one run's files hold what no other run's do.
    assert len({re.match(r"/gpfs/\.fathom-([0-9a-f]{8})-iozone-", job.argv[3])[1] for job in removing}) == 1
    assert not any(job.stop_requested_at for job in removing)
    assert Reservation.objects.filter(released_at=None).exists()
    # It is waited for, and not begun again.
    assert not carry_out.advance(run.pk)
    assert len(jobs_of(run)) == 2
    end(removing)
    assert carry_out.advance(run.pk)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert not Reservation.objects.filter(released_at=None).exists()
    assert not Event.objects.filter(level="warning").exists()


def test_a_clean_up_under_way_is_not_stopped(run: Run, cast: SimpleNamespace) -> None:
    write(run)
    end(jobs_of(run))
    carry_out.advance(run.pk)
    assert stage_of(run) == "clean"
    first, second = jobs_of(run)
    report(first, Job.State.RUNNING)
    cancel(run, cast)
    carry_out.advance(run.pk)
    assert not Job.objects.filter(stop_requested_at__isnull=False).exists()
    assert second.state == "queued"
    end([first, second])
    assert carry_out.advance(run.pk)
    run.refresh_from_db()
    assert run.state == "cancelled"


def test_a_run_whose_agent_was_killed_removes_its_files_too(run: Run) -> None:
    write(run)
    broken, other = jobs_of(run)
    end([broken], fault="agent-restarted")
    carry_out.advance(run.pk)
    other.refresh_from_db()
    assert other.stop_requested_at
    end([other], KILLED)
    carry_out.advance(run.pk)
    assert stage_of(run) == "clean"
    end(jobs_of(run))
    assert carry_out.advance(run.pk)
    run.refresh_from_db()
    assert (run.state, run.reason["code"]) == ("failed", "agent-restarted")


def test_all_jobs_that_break_at_once_leave_nothing_either(run: Run) -> None:
    write(run)
    end(jobs_of(run), fault="agent-restarted")
    carry_out.advance(run.pk)
    assert stage_of(run) == "clean"
    carry_out.advance(run.pk)
    assert not Job.objects.filter(stop_requested_at__isnull=False).exists()


@pytest.mark.parametrize("values", [{"output": REFUSED}, {"fault": "not-allowed"}])
def test_what_could_not_be_removed_is_said(run: Run, cast: SimpleNamespace, values: dict[str, Any]) -> None:
    write(run)
    cancel(run, cast)
    end(jobs_of(run), KILLED)
    carry_out.advance(run.pk)
    first, second = jobs_of(run)
    end([first])
    end([second], **values)
    carry_out.advance(run.pk)
    (event,) = Event.objects.filter(level="warning")
    assert event.message["params"] == {
        **{"trial": run.trial_id, "node": "pnu01", "why": ""},
        "paths": second.argv[3],
    }


def test_nothing_is_removed_where_nothing_was_written(run: Run) -> None:
    first, second = jobs_of(run)
    end([first])
    carry_out.advance(run.pk)
    end([second], KILLED)
    assert carry_out.advance(run.pk)
    assert stage_of(run) == "check"


def test_a_plan_of_an_earlier_version_has_no_clean_up_of_its_own() -> None:
    command = Command(role="client", node_index=0, argv=("rm",), time_limit_s=1)
    plan = Plan((Stage("check", (command,)), Stage("clean", (command,), cleans_up_after="check")))
    written = plan.as_json()
    assert Plan.from_json(written) == plan
    assert plan.clean_up_due(0) is None
    for stage in written["stages"]:
        del stage["cleans_up_after"]
    assert Plan.from_json(written).clean_up is None
