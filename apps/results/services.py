"""Turn what a run's jobs printed into a stored result."""

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.agents import bounds, compression
from apps.agents import queries as agents
from apps.agents.facts import sound
from apps.agents.models import Job
from apps.bench import judges, settings
from apps.bench.outputs.documents import weighed_together, whole_of
from apps.bench.sweep import setting_names
from apps.bench.text import Message, _
from apps.bench.toolkit import Output, Plan, Reading, ToolFailure
from apps.bench.validity import ceilings
from apps.campaigns.models import Campaign, Run, Trial
from apps.core import cpu_time
from apps.results import faults, impossible_times, leftovers, other_addresses, outages, server_caches
from apps.results.models import Result, Sample, Series
from apps.testbeds import queries as inventory
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox

_TOO_SLOW = _("What the commands printed takes too long to be read.")
_TOO_LARGE = _("What the commands of the run printed would take more than %(most)s MiB of memory together.")
_PRINT_LESS = _("Have them print less, or lower the limit of the output: what is beyond it is cut off.")
_REPORT_IT = _("The raw output is kept on this page: report it together with the tool's version.")

# Of all jobs of a run, once unpacked and decoded: parsers take them together, in a process that has some GB.
MOST_BYTES_OF_A_RUN = 1024 * 1024 * 1024
# Agents send some ten thousand: 240 moments of some 50 figures.
MOST_VALUES_OF_TELEMETRY = 250_000
# Of all jobs of a run, as text in memory, where one sign of another script makes each of them take four bytes.
MOST_BYTES_OF_TELEMETRY = 256 * 1024 * 1024


class TakesLongError(Exception):
    """What a run printed takes longer to be read than it may now: it is to be read in its turn."""


@transaction.atomic
def record_run(*, run: Run, most_s: float = cpu_time.READING_S) -> Result:
    """Parse the ended jobs of `run` and store the result; ToolFailure says why there is none.

    A run has at most one result: recording it again returns the first. TakesLongError if it cannot be read within
    `most_s` of a processor, where that is less than READING_S.
    """
    existing = Result.objects.filter(run=run).first()
    if existing:
        return existing
    reading, skew = read_run(run, most_s)
    return _store(run, run.trial.experiment.tool, reading, skew)


def read_run(run: Run, most_s: float = cpu_time.READING_S) -> tuple[Reading, float | None]:
    """Return what today's parsers and judges read from a run's ended jobs, and the skew (s) of their starts.

    ToolFailure says why there is nothing to be read, TakesLongError that it takes more than `most_s`.
    """
    trial = run.trial
    tool = toolbox.get_tool(trial.experiment.tool)
    plan = Plan.from_json(run.plan or {"stages": []})
    jobs = jobs_of(run)
    steps = impossible_times.steps_during(run)
    holders = outages.outlived(jobs, plan, steps)
    faults.raise_for([job for job in jobs if job not in holders])
    jobs = outages.begun_under(holders, jobs)
    own = setting_names.own_parameters(trial.parameters)
    params = tool.clean(own)
    described = own if trial.campaign.origin == Campaign.Origin.IMPORTED else None
    capacity = inventory.least_capacity_bps(_resources_between(trial)) if ceilings.concerns(tool) else None
    nodes = sum(len(members) for members in trial.lane.roles.values())
    try:
        with cpu_time.limited(most_s), weighed_together():
            # Everything they hold is at hand: the limit ends no query.
            outputs = _outputs_of(jobs, plan, steps)
            if refusal := next(filter(None, map(settings.refusal_of, outputs)), None):
                raise refusal
            reading = judges.read_run(outputs, params, tool, capacity, nodes=nodes, described=described)
    except cpu_time.OutOfTimeError as error:
        if most_s < cpu_time.READING_S:
            raise TakesLongError from error
        raise ToolFailure("too-slow", Message(_TOO_SLOW), False, Message(_REPORT_IT)) from error
    reading = server_caches.judge(impossible_times.judge(reading, jobs, steps), trial.lane)
    return other_addresses.judge(leftovers.judge(reading, run), run), None if steps else start_skew_s(jobs)


def _resources_between(trial: Trial) -> list[str]:
    """Return the keys of a trial's nodes and of the links between them, not of those to a file system's servers."""
    if trial.experiment.file_system_id is None:
        return trial.lane.resources
    players = [pk for members in trial.lane.roles.values() for pk in members]
    return inventory.resources_of(list(Node.objects.filter(pk__in=players)))


def jobs_of(run: Run) -> list[Job]:
    """Return a run's jobs by stage, with node, output, collected files and facts."""
    return list(agents.jobs_of_run(run.pk))


def _outputs_of(jobs: Sequence[Job], plan: Plan, steps: Collection[str]) -> list[Output]:
    """Return the outputs of a run; ToolFailure as soon as those unpacked so far are too large together."""
    outputs: list[Output] = []
    size = 0
    for job, telemetry in zip(jobs, telemetries_of(jobs), strict=True):
        try:
            output = output_of(job, plan, steps, telemetry, MOST_BYTES_OF_A_RUN - size)
        except compression.TooLongError:
            raise _too_large() from None
        size += sum(map(_weight, (output.stdout, output.stderr, *output.collected.values())))
        if size > MOST_BYTES_OF_A_RUN:
            raise _too_large()
        outputs.append(output)
    return outputs


def _too_large() -> ToolFailure:
    message = Message(_TOO_LARGE, {"most": MOST_BYTES_OF_A_RUN // 2**20})
    return ToolFailure("too-much-output", message, False, Message(_PRINT_LESS))


def _weight(text: bytes) -> int:
    """Return how many bytes a text takes at most once it is decoded: with one sign of another script four each."""
    return len(text) * (1 if text.isascii() else 4)


def output_of(
    job: Job,
    plan: Plan,
    steps: Collection[str] = (),
    telemetry: dict[str, Any] | None = None,
    most_bytes: int = MOST_BYTES_OF_A_RUN,
) -> Output:
    """Return a job's raw output in the form that parsers take; times in server time, s since the epoch.

    Without times where the server's clock was set meanwhile, by these `steps`. TooLongError if an output or the files
    are longer than `most_bytes` by themselves.
    """
    printed = printed_by(job, most_bytes)
    collected = {}
    for file in job.collected.all():
        collected[file.name] = compression.unpack(file.content_z, most_bytes)
        most_bytes -= len(collected[file.name])
    is_timed = not impossible_times.are_impossible(job, steps)
    return Output(
        role=job.role,
        stage=plan.stages[job.stage].name,
        node=job.node.name,
        argv=tuple(job.argv),
        stdout=printed["stdout"],
        stderr=printed["stderr"],
        exit_code=job.exit_code,
        signal=job.signal,
        timed_out=job.timed_out,
        started_at=job.started_at.timestamp() if job.started_at and is_timed else None,
        ended_at=job.ended_at.timestamp() if job.ended_at and is_timed else None,
        collected=collected,
        telemetry=telemetry_of(job) if telemetry is None else telemetry,
        facts=sound(job.facts.facts) if job.facts else {},
        clock_offset_s=job.clock_offset_s,
        clock_error_s=job.clock_error_s,
        is_cut=_is_cut(job),
        is_background=job.background,
    )


def _is_cut(job: Job) -> bool:
    output = getattr(job, "output", None)
    return bool(output and output.truncated) or any(file.truncated for file in job.collected.all())


def telemetry_of(job: Job) -> dict[str, Any]:
    """Return what the agent read from the kernel around a job, as it said it; {} if nothing usable, or too much."""
    return next(telemetries_of([job]))


def telemetries_of(jobs: Iterable[Job]) -> Iterator[dict[str, Any]]:
    """Yield the same of each job of a run, which are held together: {} for what would be too much then."""
    left = MOST_BYTES_OF_TELEMETRY
    for job in jobs:
        output = getattr(job, "output", None)
        document = None
        with suppress(ValueError, ToolFailure):
            text = compression.unpack(output.telemetry_z, bounds.MOST_TELEMETRY_BYTES).decode() if output else ""
            left -= sys.getsizeof(text)
            document = whole_of(text, MOST_VALUES_OF_TELEMETRY) if text and left >= 0 else None
        yield document if isinstance(document, dict) else {}


def printed_by(job: Job, most_bytes: int = MOST_BYTES_OF_A_RUN) -> dict[str, bytes]:
    """Return what a job printed, byte for byte: {"stdout", "stderr"}; TooLongError if both are longer together."""
    out, errors = _packed_of(job)
    stdout = compression.unpack(out, most_bytes)
    return {"stdout": stdout, "stderr": compression.unpack(errors, most_bytes - len(stdout))}


def _packed_of(job: Job) -> tuple[bytes, bytes]:
    output = getattr(job, "output", None)
    return (output.stdout_z, output.stderr_z) if output else (b"", b"")


def start_skew_s(jobs: Sequence[Job]) -> float | None:
    """Return how far apart (s) the jobs of a stage started, its planned instant included; the worst stage."""
    moments: dict[int, list[datetime]] = {}
    for job in jobs:
        if job.start_at and job.started_at and not impossible_times.are_impossible(job):
            moments.setdefault(job.stage, []).extend((job.start_at, job.started_at))
    return max(((max(stage) - min(stage)).total_seconds() for stage in moments.values()), default=None)


def _store(run: Run, slug: str, reading: Reading, skew: float | None) -> Result:
    data = reading.as_json()
    result = Result.objects.create(
        run=run,
        trial_id=run.trial_id,
        experiment_id=run.trial.experiment_id,
        tool=slug,
        tool_version=reading.tool_version,
        requested=data["requested"],
        granted=data["granted"],
        observed=data["observed"],
        flags=data["flags"],
        start_skew_s=skew,
    )
    store_figures(result, reading, with_series=True)
    return result


def store_figures(result: Result, reading: Reading, *, with_series: bool) -> None:
    """Store the samples of a reading, and its series if asked for."""
    Sample.objects.bulk_create(
        Sample(
            result=result,
            trial_id=result.trial_id,
            experiment_id=result.experiment_id,
            metric=sample.metric,
            value=sample.value,
        )
        for sample in reading.samples
    )
    if not with_series:
        return
    Series.objects.bulk_create(
        Series(
            result=result,
            metric=series.metric,
            stream=series.stream,
            unit=series.unit,
            times=list(series.times),
            values=list(series.values),
        )
        for series in reading.series
    )
