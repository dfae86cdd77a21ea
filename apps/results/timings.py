"""How well the commands of a stage began at one instant, and for how long all of them ran together."""

from django.db import transaction

from apps.agents.models import Job
from apps.bench import timing
from apps.bench.toolkit import Plan
from apps.campaigns.models import Run
from apps.results import impossible_times
from apps.results.models import StageTiming


@transaction.atomic
def record_timings(*, run: Run) -> list[StageTiming]:
    """Keep how each stage with a common start began, of a run whose jobs have all ended, whatever came of it."""
    stages = Plan.from_json(run.plan or {"stages": []}).stages
    if not any(stage.together for stage in stages):
        return []
    if impossible_times.steps_during(run):
        return []
    jobs = Job.objects.filter(run_ref=run.pk, start_at__isnull=False)
    timings = []
    for index, stage in enumerate(stages):
        members = [job for job in jobs if job.stage == index and not impossible_times.are_impossible(job)]
        if not members:
            continue
        start = timing.timing_of(
            planned=min(job.start_at.timestamp() for job in members if job.start_at),
            starts=[job.started_at.timestamp() for job in members if job.started_at],
            ends=[job.ended_at.timestamp() for job in members if job.started_at and job.ended_at],
            commands=len(members),
        )
        errors = [job.clock_error_s for job in members if job.clock_error_s is not None]
        timings.append(
            StageTiming(
                run=run,
                stage=index,
                name=stage.name[:50],
                commands=len(members),
                started=start.started,
                skew_s=start.skew_s,
                late_s=start.late_s,
                overlap=start.overlap,
                clock_error_s=max(errors, default=None),
            )
        )
    return StageTiming.objects.bulk_create(timings, ignore_conflicts=True)
