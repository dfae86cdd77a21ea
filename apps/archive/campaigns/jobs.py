"""Jobs as records of an archive, and what they printed as its files."""

from collections.abc import Iterator
from typing import Any

from apps.accounts.models import User
from apps.agents import compression
from apps.agents.models import Job
from apps.archive.campaigns import fields
from apps.archive.campaigns.records import Json, record
from apps.testbeds.queries.readers import of_own_nodes


def withheld_of(runs: list[int], reader: User | None) -> set[int]:
    """Return the runs of which the reader may not read every command."""
    jobs = Job.objects.filter(run_ref__in=runs)
    others = jobs.exclude(pk__in=of_own_nodes(jobs, reader).order_by().values("pk"))
    return {int(number or 0) for number in others.order_by().values_list("run_ref", flat=True)}


def jobs_of(runs: list[int], reader: User | None) -> dict[int, list[Job]]:
    """Return {run: its jobs in the order of their stages}, with what they printed, of what the reader may read."""
    jobs: dict[int, list[Job]] = {}
    whole = set(runs) - withheld_of(runs, reader)
    rows = Job.objects.filter(run_ref__in=whole).select_related("output").prefetch_related("collected")
    for job in rows.order_by("stage", "created_at", "pk"):
        jobs.setdefault(int(job.run_ref or 0), []).append(job)
    return jobs


def job_record(job: Job, path: str) -> Json:
    """Return a job's record without its node and facts; `path` is what its files' paths begin with."""
    output = getattr(job, "output", None)
    printed = None
    if output is not None:
        printed = {
            **record(output, fields.OUTPUT),
            **{name: f"{path}.{name}" if data else None for name, data in _printed(output)},
        }
    collected = [
        {**record(file, fields.COLLECTED), "path": f"{path}.file-{place}"}
        for place, file in enumerate(job.collected.all())
    ]
    return {"id": str(job.pk), **record(job, fields.JOB), "output": printed, "collected": collected}


def outputs_of(job: Job, path: str) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield path and parts of what a job printed, what its agent read meanwhile, and the files it gave back."""
    output = getattr(job, "output", None)
    for name, data in _printed(output) if output is not None else ():
        if data:
            yield f"{path}.{name}", compression.unpack_in_parts(data)
    for place, file in enumerate(job.collected.all()):
        yield f"{path}.file-{place}", compression.unpack_in_parts(file.content_z)


def _printed(output: Any) -> list[tuple[str, bytes]]:
    """Return what a job printed and its agent read, packed, each with its name; b"" where there is nothing."""
    parts = [("stdout", output.stdout_z), ("stderr", output.stderr_z), ("telemetry", output.telemetry_z)]
    pairs = [(name, bytes(data)) for name, data in parts]
    return [(name, data if compression.head(data, 1) else b"") for name, data in pairs]
