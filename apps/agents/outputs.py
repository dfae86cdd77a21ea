"""A job's raw output and its collected files as downloads, decompressed while they are sent."""

import zlib
from collections.abc import AsyncIterator, Iterator

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.request import Request

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
        _unpacked_asynchronously(packed) if is_asynchronous else _unpacked(packed),
        content_type=kind,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _unpacked(packed: bytes) -> Iterator[bytes]:
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(packed, _CHUNK) if packed else b""
    while data:
        yield data
        data = unpacker.decompress(unpacker.unconsumed_tail, _CHUNK)


async def _unpacked_asynchronously(packed: bytes) -> AsyncIterator[bytes]:
    for part in _unpacked(packed):
        yield part
