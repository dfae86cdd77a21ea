"""Runs of tools that write to a file system, as far as that, and agents that fall silent and come back."""

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

from django.utils import timezone

from apps.agents import services as agents
from apps.agents.models import Agent, Job, Listener
from apps.bench import tools
from apps.bench.toolkit import Output, Plan, Tool
from apps.bench.tools._storage import places
from apps.campaigns import services
from apps.campaigns.models import Run
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.testbeds import factories as inventory
from tests.workers.factories import enrol, report
from workers import carry_out, stops

DONE = Output("client", "", "", (), b"", b"", 0)
KILLED = Output("client", "", "", (), b"", b"", None, signal=15)
REFUSED = Output("client", "", "", (), b"", b"rm: cannot remove '/gpfs/x': Permission denied", 1)
# What has a tool write files that need not be there.
WRITING: dict[str, dict[str, Any]] = {
    "gridftp": {"write_to": "file"},
    "gridftp-third-party": {"write_to": "file"},
    "gridftp-striped": {"write_to": "file"},
    "imb": {"benchmark": "S_Write_Indv"},
}
WRITERS = [tool for tool in tools.all_tools() if places.CLEAN_PROGRAM in tool.programs]


def begin(cast: SimpleNamespace, pair: list[Node], tool: Tool | None = None) -> Run:
    """Return a run that has just begun, of a tool that writes to a file system of two nodes."""
    tool = tool or tools.get("iozone")
    others = make.nodes(cast.team, *(f"other{number}" for number in range(len(tool.roles) - 2)))
    enrol(*others)
    members = [*pair, *others]
    is_alone = len(tool.roles) == 1
    roles = {role.name: pair if is_alone else [node] for role, node in zip(tool.roles, members, strict=False)}
    gpfs = inventory.file_system(cast.team, "gpfs", inventory.cluster(cast.team, "", *members), mount_path="/gpfs")
    draft = make.campaign(cast)
    services.create_experiment(
        campaign=draft,
        user=cast.oscar,
        roles=make.players(**roles),
        name="records",
        tool=tool.slug,
        fixed=WRITING.get(tool.slug, {}),
        repetitions=1,
        max_attempts=2,
        retry_wait_s=0,
        file_system=gpfs,
        context=False,
    )
    services.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    assert carry_out.schedule() == 1
    return Run.objects.get()


def stage_of(run: Run) -> str:
    run.refresh_from_db()
    return Plan.from_json(run.plan).stages[run.stage].name


def jobs_of(run: Run) -> list[Job]:
    """Return the open jobs of a run."""
    return list(Job.objects.filter(run_ref=run.pk, state__in=Job.OPEN_STATES).order_by("stage", "node"))


def write(run: Run) -> None:
    """Have the mounts seen and all that is started before a program that writes be ready; that begins to write."""
    while all(job.background for job in jobs_of(run)):
        for job in jobs_of(run):
            report(job, Job.State.READY)
            if Plan.from_json(run.plan).stages[job.stage].name == places.CHECK:
                report(job, Job.State.ENDED, DONE)
        carry_out.advance(run.pk)
        run.refresh_from_db()
    assert stage_of(run) not in (places.CHECK, places.CLEAN)
    for job in jobs_of(run):
        report(job, Job.State.RUNNING)


def end(run: Run, output: Output = DONE, **values: Any) -> None:
    for job in jobs_of(run):
        report(job, Job.State.ENDED, None if "fault" in values else output, **values)
    carry_out.advance(run.pk)


def cancel(run: Run, cast: SimpleNamespace) -> None:
    services.cancel_campaign(campaign=run.trial.campaign, user=cast.oscar, now=timezone.now())
    stops.stop_runs(run_ids=[run.pk])


def fall_silent() -> None:
    """Have all agents be away for so long that they are lost."""
    now = timezone.now()
    heard = {"listening_since": now - timedelta(hours=1), "heard_until": now}
    Listener.objects.update_or_create(pk=1, defaults=heard)
    Agent.objects.update(last_seen_at=now - timedelta(seconds=31))


def lose(run: Run) -> None:
    """Have all agents fall silent, and the run go on as far as it can."""
    fall_silent()
    Job.objects.filter(state=Job.State.RUNNING).update(delivered_at=timezone.now())
    for _time in range(4):
        agents.mark_lost_jobs(now=timezone.now())
        carry_out.advance(run.pk)


def come_back() -> datetime:
    """Have all agents be back without anything of a lost job, and return what time it is."""
    now = timezone.now()
    Agent.objects.update(last_seen_at=now)
    Job.objects.filter(may_run_until__gt=now).update(may_run_until=now)
    return now + timedelta(milliseconds=1)
