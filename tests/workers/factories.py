"""Agents that say what a test has them say."""

import zlib
from types import SimpleNamespace

from django.utils import timezone

from apps.agents import program
from apps.agents import services as agents
from apps.agents.models import Agent, Job
from apps.bench.toolkit import Output
from apps.campaigns.models import Run
from apps.core import secrets
from apps.testbeds.models import Node
from tests.bench.tools import recordings
from tests.campaigns import factories as make
from workers import carry_out

SILENT = Output("server", "serve", "north", ("iperf3", "-s"), b"Server listening on 5201\n", b"", 0)


def enrol(*nodes: Node) -> None:
    """Give nodes agents that were heard of just now."""
    for node in nodes:
        issued = secrets.issue("agent")
        Agent.objects.create(
            node=node,
            prefix=issued.prefix,
            digest=issued.digest,
            last_seen_at=timezone.now(),
            version=program.version(),
        )


def start(cast: SimpleNamespace, pair: list[Node], **values: object) -> Run:
    """Launch a campaign and start its first run."""
    make.launched(cast, *pair, **values)
    assert carry_out.schedule() == 1
    return Run.objects.get()


def window_sweep() -> Output:
    """Return what a client of iperf3 printed in two seconds over the emulated link."""
    return recordings.load("iperf3-tcp", "json_tcp.txt")


def job_of(run: Run, role: str) -> Job:
    """Return the run's job in a role."""
    return Job.objects.get(run_ref=run.pk, role=role)


def report(job: Job, state: Job.State, output: Output | None = None, **values: object) -> None:
    """Have the job's agent report a state, at its end with what was printed."""
    now = timezone.now()
    facts: dict[str, object] = {"state": state}
    if state in (Job.State.RUNNING, Job.State.READY, Job.State.ENDED) and "fault" not in values:
        facts["started_at"] = now
    if state == Job.State.READY or (state == Job.State.ENDED and job.ready_at):
        facts["ready_at"] = job.ready_at or now
    if state == Job.State.ENDED:
        facts["ended_at"] = now
    if output:
        facts |= {"exit_code": output.exit_code, "signal": output.signal}
        facts |= {"stdout_z": zlib.compress(output.stdout), "stderr_z": zlib.compress(output.stderr)}
    agents.record_report(node_id=job.node_id, job_id=job.pk, report=agents.JobReport(**{**facts, **values}))
    job.refresh_from_db()


def listen(run: Run) -> None:
    """Have the run's server listen, and take the run on."""
    report(job_of(run, "server"), Job.State.READY)
    carry_out.advance(run.pk)


def measure(run: Run, output: Output | None = None) -> None:
    """Have the run's client end with what it printed, and its server too, but take the run no further."""
    report(job_of(run, "client"), Job.State.ENDED, output or window_sweep())
    report(job_of(run, "server"), Job.State.ENDED, SILENT)
