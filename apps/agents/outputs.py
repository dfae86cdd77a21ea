"""A job's raw output and its collected files as downloads, decompressed while they are sent."""

from collections.abc import AsyncIterator

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.request import Request

from apps.agents import compression
from apps.agents.models import Job, JobFile

_CHUNK = 64 * 1024


def download(request: HttpRequest | Request, job: Job, stream: str) -> StreamingHttpResponse:
    """Return what the job printed on `stream` (stdout or stderr), byte for byte, as a text file."""
    stored = getattr(job, "output", None)
    packed = bytes(getattr(stored, f"{stream}_z")) if stored else b""
    return _download(request, packed, f"job-{job.pk}-{stream}.txt", "text/plain; charset=utf-8")


def download_file(request: HttpRequest | Request, file: JobFile) -> StreamingHttpResponse:
    """Return a file that a job gave back, byte for byte."""
    return _download(request, bytes(file.content_z), f"job-{file.job_id}-{file.name}", "application/octet-stream")


def _download(request: HttpRequest | Request, packed: bytes, name: str, kind: str) -> StreamingHttpResponse:
    plain_request = getattr(request, "_request", request)
    # Under ASGI Django would first gather what a plain iterator gives.
    is_asynchronous = isinstance(plain_request, ASGIRequest)
    return StreamingHttpResponse(
        _unpacked_asynchronously(packed) if is_asynchronous else compression.unpack_in_parts(packed, _CHUNK),
        content_type=kind,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def _unpacked_asynchronously(packed: bytes) -> AsyncIterator[bytes]:
    for part in compression.unpack_in_parts(packed, _CHUNK):
        yield part
