"""Commands beside the measurement: what they need is carried to the node, and their faults break nothing."""

import dataclasses
import zlib
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.agents import services as agents
from apps.agents.models import FactSnapshot, Job
from apps.bench.toolkit import Command, Plan, Stage, ToolFailure
from apps.campaigns.models import Run
from apps.results import faults
from apps.results.services import output_of
from apps.testbeds.models import Node
from tests import rewriting
from tests.workers.factories import job_of, listen, measure, report, start
from workers import carry_out
from workers.steps import JobView, Step, next_step

BESIDE = Command(
    role="client",
    node_index=0,
    argv=("ping", "-c", "1", "{work}", "{program:sh}"),
    time_limit_s=5,
    optional=True,
    files=(("in", "{program:mpirun}"),),
    collect=("out",),
    environment=(("OMP_NUM_THREADS", "2"),),
)


def with_stage_before(run: Run, *commands: Command) -> Run:
    """Have the run begin with a stage of these commands instead."""
    plan = Plan.from_json(run.plan)
    run.plan = Plan((Stage("around-before", commands), *plan.stages)).as_json()
    run.save(update_fields=["plan"])
    rewriting.delete(Job.objects.filter(run_ref=run.pk))
    carry_out._queue_stage(run, Plan.from_json(run.plan))
    return run


def test_a_plan_is_carried_to_the_job_whole(cast: SimpleNamespace, pair: list[Node]) -> None:
    with_stage_before(start(cast, pair), BESIDE)
    job = Job.objects.get()
    assert (job.optional, job.files, job.collect) == (True, [["in", "{program:mpirun}"]], ["out"])
    assert (job.environment, job.argv) == ([["OMP_NUM_THREADS", "2"]], list(BESIDE.argv))


def test_an_optional_job_that_cannot_start_breaks_nothing(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = with_stage_before(start(cast, pair), BESIDE)
    values = {"fault": "not-allowed", "fault_detail": "sh is not on the allow-list"}
    report(Job.objects.get(), Job.State.ENDED, **values)
    carry_out.advance(run.pk)
    listen(run)
    rewriting.update(Job.objects.filter(role="server"), stage=1)
    measure(run_with_last_client(run))
    assert carry_out.advance(run.pk)
    run.refresh_from_db()
    assert run.state == "succeeded", run.reason


def run_with_last_client(run: Run) -> Run:
    """Let `job_of` find the measuring client: put the optional one out of the way."""
    rewriting.update(Job.objects.filter(run_ref=run.pk, optional=True), role="beside")
    return run


def test_a_job_that_is_needed_and_cannot_start_says_which_program_is_missing(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    run = with_stage_before(start(cast, pair), dataclasses.replace(BESIDE, optional=False))
    for detail, program in (
        ("sh is not on the allow-list", "sh"),
        ("mpirun is not on the allow-list", "mpirun"),
        ("ping is not on the allow-list", "ping"),
    ):
        job = job_of(run, "client")
        job.fault, job.fault_detail = "not-allowed", detail
        with pytest.raises(ToolFailure) as failure:
            faults.raise_for([job])
        assert failure.value.message.params["program"] == program
        job.optional = True
        faults.raise_for([job])


def test_parsers_are_given_files_facts_and_telemetry(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = with_stage_before(start(cast, pair), BESIDE)
    job = Job.objects.get()
    facts = FactSnapshot.objects.create(node=job.node, digest="x", facts={"hostname": "kisti01"})
    Job.objects.update(facts=facts)
    file = agents.GivenFile("out", zlib.compress(b"1 2\n"), 4)
    empty = zlib.compress(b"")
    end = agents.JobReport(
        state=Job.State.ENDED,
        started_at=timezone.now(),
        ended_at=timezone.now(),
        stdout_z=empty,
        stderr_z=empty,
        collected=(file,),
        telemetry_z=zlib.compress(b'{"v": 1}'),
    )
    agents.record_report(node_id=job.node_id, job_id=job.pk, report=end)
    output = output_of(Job.objects.get(), Plan.from_json(run.plan))
    assert output.collected == {"out": b"1 2\n"}
    assert output.facts == {"hostname": "kisti01"}
    assert output.telemetry == {"v": 1}
    assert output.stage == "around-before"


@pytest.mark.parametrize("said", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_telemetry_that_is_none_is_none(cast: SimpleNamespace, pair: list[Node], said: bytes) -> None:
    run = with_stage_before(start(cast, pair), BESIDE)
    job = Job.objects.get()
    empty = zlib.compress(b"")
    now = timezone.now()
    end = agents.JobReport(
        state=Job.State.ENDED, ended_at=now, stdout_z=empty, stderr_z=empty, telemetry_z=zlib.compress(said)
    )
    agents.record_report(node_id=job.node_id, job_id=job.pk, report=end)
    assert output_of(Job.objects.get(), Plan.from_json(run.plan)).telemetry == {}


SERVER = JobView(
    background=True, awaits_pattern=True, has_started=True, is_ready=False, has_ended=True, has_fault=False
)


def test_an_optional_server_that_never_was_ready_is_not_waited_for() -> None:
    def step(job: JobView) -> Step:
        running = dataclasses.replace(SERVER, is_ready=True, has_ended=False)
        return next_step(stages=2, stage=0, stopping=False, cancelled=False, jobs=[job, running])

    assert step(SERVER) is Step.STOP
    assert step(dataclasses.replace(SERVER, optional=True)) is Step.NEXT_STAGE
    assert step(dataclasses.replace(SERVER, optional=True, has_ended=False)) is Step.WAIT
