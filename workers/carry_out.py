"""Carry out runs: from a claimed run to jobs on agents, stage by stage, to its recorded end."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from apps.agents import queries as agents_queries
from apps.agents import services as agents
from apps.agents.models import Job
from apps.bench.toolkit import AROUND, FILE_SERVER, Plan, ToolFailure
from apps.campaigns import queries
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Run
from apps.core import isolation, queue
from apps.core.models import SetAside
from workers import clean_up, closure, common_start, plans
from workers.steps import JobView, Step, next_step

# Whoever takes a run on, a run with which that failed is set aside under one name.
TAKE_ON = "take_on_runs"

# Runs claimed at a time: enough to keep claims cheap, few enough that the first starts while others are claimed.
BATCH = 50
# So long may a server for one test, which ends with its client, take to end before it is stopped.
PATIENCE = timedelta(seconds=0.5)


def schedule(needing: Collection[str] | None = None) -> int:
    """Start every trial that can start now, or those that need one of some resources; return how many did.

    It looks again until all that it chose began: of a claim that another pass won, the lanes that wait for nothing
    else would not be woken by anybody.
    """
    started = 0
    while True:
        now = timezone.now()
        ready = agents_queries.ready_nodes(now)
        kept = clean_up.kept_back(now)
        claims = campaigns.take_runs(ready_nodes=ready, now=now, limit=BATCH, needing=needing, kept_back=kept)
        begun = sum(_begin_by_itself(run, now) for run in claims.runs)
        started += begun
        # A run that could not begin has given its nodes back, and the next of its lane may start at once.
        if claims.chosen < BATCH and begun == claims.chosen:
            return started


def write_fault(run_id: int, fault: SetAside) -> None:
    """Say in the log of a run's campaign that the run cannot be taken on, and is tried again."""
    campaigns.write_fault(Run.objects.values_list("trial__campaign", flat=True).get(pk=run_id), fault)


def _begin_by_itself(run: Run, now: datetime) -> bool:
    """Begin a run; one that fails is set aside, for a later look to begin it, and False."""
    try:
        return begin(run)
    except Exception as error:
        isolation.set_aside(TAKE_ON, run.pk, error, now=now, tell=write_fault)
        return False


def begin(run: Run) -> bool:
    """Make the plan of a claimed run and queue its first jobs; False if it failed instead, or was begun before."""
    try:
        plan = plans.make_plan(run)
    except ToolFailure as failure:
        closure.fail(run, failure)
        return False
    with transaction.atomic():
        if not campaigns.begin_run(run=run, plan=plan, now=timezone.now()):
            _cancel_if_unwanted(run)
            return False
        _queue_stage(run, plan)
    return True


def _cancel_if_unwanted(run: Run) -> None:
    """End a run whose campaign was cancelled between its claim and its first command."""
    if Campaign.objects.filter(pk=run.trial.campaign_id, state=Campaign.State.CANCELLED).exists():
        campaigns.cancel_run(run=run, now=timezone.now())


def advance(run_id: int, *, leaves_end: bool = False, hands_over: bool = False, in_turn: bool = False) -> bool:
    """Take a run as far as its jobs allow; True if all of them have ended, and with them the run.

    The next measurement on its nodes begins before what this one printed is read, which may take a while. With
    `leaves_end` whoever gave the nodes back a moment ago is left to read it (or a tick, should that one be gone):
    two at a time would only take the processors that the next measurement needs to begin. With `hands_over` another
    worker is asked to read it. `in_turn`: its turn has come to be read, however long that takes.
    """
    with transaction.atomic():
        run = queries.lock_open_run_for_step(run_id)
        if run is None or run.plan is None:
            return False
        step, jobs = _take_step(run)
        if step is not Step.CLOSE:
            return False
        # The other jobs' messages come at this moment, too.
        leftovers = max((job.may_run_until for job in jobs if job.may_run_until), default=None)
        is_first = campaigns.release_run(run=run, now=timezone.now(), fenced_until=leftovers)
        if is_first:
            clean_up.owe_what_is_left(run)
    if leaves_end and not is_first:
        return False
    if is_first:
        # What it gave back can let no other lane start.
        schedule(needing=run.trial.lane.resources)
    if hands_over:
        queue.remind(queue.CLOSE_RUN, run_id)
        return True
    return closure.close(run_id, in_turn=in_turn)


def advance_in_turn(run_id: int, *, now: datetime) -> bool:
    """Read what a run printed that waited for its turn; False if others are at it, or that fails for now."""

    def take_on(pk: int) -> bool:
        return advance(pk, in_turn=True)

    return any(isolation.for_each(closure.CLOSE, [run_id], take_on, now=now, tell=write_fault, atomic=False))


def job_views(run_ids: Collection[int]) -> dict[int, list[JobView]]:
    """Return what the decision on the next step needs to know of the jobs of each run."""
    views: dict[int, list[JobView]] = {run_id: [] for run_id in run_ids}
    rows = Job.objects.filter(run_ref__in=run_ids).values_list(
        *("run_ref", "stage", "background", "optional", "ready_pattern"),
        *("started_at", "ready_at", "ended_at", "state", "fault", "may_run_until"),
    )
    for run_id, stage, background, optional, ready_pattern, *rest in rows:
        started_at, ready_at, ended_at, state, fault, may_run_until = rest
        views[run_id or 0].append(
            JobView(
                stage=stage,
                background=background,
                optional=optional,
                awaits_pattern=bool(ready_pattern),
                has_started=started_at is not None,
                is_ready=ready_at is not None,
                has_ended=state not in Job.OPEN_STATES,
                has_fault=bool(fault),
                ended_at=ended_at,
                may_run_until=may_run_until,
            )
        )
    return views


def _take_step(run: Run) -> tuple[Step, list[JobView]]:
    """Do what the run needs next, and return what that was and the jobs that it depended on."""
    plan = Plan.from_json(run.plan or {"stages": []})
    cancelled = run.trial.campaign.state == Campaign.State.CANCELLED
    jobs = job_views([run.pk])[run.pk]
    due = plan.clean_up_due(run.stage)
    step = next_step(
        stages=len(plan.stages),
        stage=run.stage,
        stopping=run.stopping,
        cancelled=cancelled,
        jobs=jobs,
        cleans=due is not None,
    )
    if step is Step.STOP and not cancelled and _ends_soon(plan, jobs):
        return Step.WAIT, jobs
    if step is Step.NEXT_STAGE:
        campaigns.enter_stage(run=run, stage=run.stage + 1, now=timezone.now())
        _queue_stage(run, plan)
    elif step is Step.STOP:
        now = timezone.now()
        campaigns.mark_stopping(run=run, now=now)
        agents.request_stop(run_ref=run.pk, now=now, spared=plan.clean_up)
    elif step is Step.CLEAN_UP and due is not None:
        now = timezone.now()
        # All else has ended: nothing of it is to be waited for, or stopped, any more.
        campaigns.mark_stopping(run=run, now=now)
        campaigns.enter_stage(run=run, stage=due, now=now)
        _queue_stage(run, plan)
    return step, jobs


def _ends_soon(plan: Plan, jobs: Sequence[JobView]) -> bool:
    """Say whether what still runs are servers for one test, whose clients ended just now; a tick looks again."""
    own = {index for index, stage in enumerate(plan.stages) if not stage.name.startswith(AROUND)}
    servers = [command for index in own for command in plan.stages[index].commands if command.background]
    ended = [job.ended_at for job in jobs if job.ended_at]
    if all(job.has_ended for job in jobs if job.stage in own):
        # What still runs only holds what they needed, such as settings.
        return False
    if any(job.is_broken for job in jobs) or not ended or not all(server.ends_by_itself for server in servers):
        return False
    # A clock that was set back leaves them ahead.
    return abs(timezone.now() - max(ended)) < PATIENCE


def _queue_stage(run: Run, plan: Plan) -> None:
    stage = plan.stages[run.stage]
    roles = {FILE_SERVER: plan.servers, **run.trial.lane.roles}
    nodes = [roles[command.role][command.node_index] for command in stage.commands]
    start_at = common_start.common_start(nodes=nodes) if stage.together else None
    agents.queue_jobs(
        specs=[
            agents.JobSpec(
                node_id=node,
                run_ref=run.pk,
                role=command.role,
                stage=run.stage,
                argv=command.argv,
                background=command.background,
                ready_pattern=command.ready_pattern or "",
                time_limit_s=command.time_limit_s,
                start_at=start_at,
                optional=command.optional,
                files=command.files,
                collect=command.collect,
                environment=command.environment,
            )
            for node, command in zip(nodes, stage.commands, strict=True)
        ]
    )
