"""A job's raw output and its collected files as downloads, read once there is room, unpacked while they are sent."""

from collections.abc import Callable, Iterator

from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.request import Request

from apps.agents import compression
from apps.agents.models import Job, JobFile, JobOutput
from apps.core.connections import give_back
from apps.core.streams import send


def download(request: HttpRequest | Request, job: Job, stream: str) -> StreamingHttpResponse:
    """Return what the job printed on `stream` (stdout or stderr), byte for byte, as a text file."""
    rows = JobOutput.objects.filter(job=job).values_list(f"{stream}_z", flat=True)
    return _download(request, rows.first, f"job-{job.pk}-{stream}.txt", "text/plain; charset=utf-8")


def download_file(request: HttpRequest | Request, file: JobFile) -> StreamingHttpResponse:
    """Return a file that a job gave back, byte for byte."""
    rows = JobFile.objects.filter(pk=file.pk).values_list("content_z", flat=True)
    return _download(request, rows.first, f"job-{file.job_id}-{file.name}", "application/octet-stream")


def _download(
    request: HttpRequest | Request, read: Callable[[], bytes | memoryview | None], name: str, kind: str
) -> StreamingHttpResponse:
    def parts() -> Iterator[bytes]:
        # Not before there is a place for it: it stays in memory until its reader has all of it.
        packed = read() or b""
        give_back()
        yield from compression.unpack_in_parts(packed)

    return send(request, parts, name=name, kind=kind, reads_database=False)
