"""Waiting for jobs to get somewhere."""

import zlib
from collections.abc import Sequence

from apps.agents.models import Job
from tests.agents.live import wait_for


def ended(job: Job, timeout_s: float = 60.0) -> Job:
    """Return the job with its output, once it has ended."""
    done = Job.objects.select_related("output").filter(pk=job.pk).exclude(state__in=Job.OPEN_STATES)
    return wait_for(done.first, timeout_s)


def all_ended(jobs: Sequence[Job], timeout_s: float = 180.0) -> list[Job]:
    """Return the jobs with their outputs, once all of them have ended."""
    ours = Job.objects.filter(pk__in=[job.pk for job in jobs])
    wait_for(lambda: not ours.filter(state__in=Job.OPEN_STATES).exists(), timeout_s)
    return list(ours.select_related("output").prefetch_related("collected"))


def reached(job: Job, state: Job.State) -> Job:
    """Return the job once it is in a state."""
    return wait_for(Job.objects.filter(pk=job.pk, state=state).first)


def printed(job: Job) -> dict[str, str]:
    """Return what the job printed by stream, leaving out a stream without a word."""
    texts = {"stdout": zlib.decompress(job.output.stdout_z), "stderr": zlib.decompress(job.output.stderr_z)}
    return {name: text.decode() for name, text in texts.items() if text}
