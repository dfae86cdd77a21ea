"""A job's raw output and its collected files as downloads, decompressed while they are sent."""

import functools

from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.request import Request

from apps.agents import compression
from apps.agents.models import Job, JobFile
from apps.core.streams import send


def download(request: HttpRequest | Request, job: Job, stream: str) -> StreamingHttpResponse:
    """Return what the job printed on `stream` (stdout or stderr), byte for byte, as a text file."""
    output = getattr(job, "output", None)
    packed = bytes(getattr(output, f"{stream}_z")) if output else b""
    return _download(request, packed, f"job-{job.pk}-{stream}.txt", "text/plain; charset=utf-8")


def download_file(request: HttpRequest | Request, file: JobFile) -> StreamingHttpResponse:
    """Return a file that a job gave back, byte for byte."""
    return _download(request, bytes(file.content_z), f"job-{file.job_id}-{file.name}", "application/octet-stream")


def _download(request: HttpRequest | Request, packed: bytes, name: str, kind: str) -> StreamingHttpResponse:
    parts = functools.partial(compression.unpack_in_parts, packed)
    return send(request, parts, name=name, kind=kind, reads_database=False)
