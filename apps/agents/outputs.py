"""A job's raw output as a download, decompressed while it is sent."""

import zlib
from collections.abc import AsyncIterator, Iterator

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.request import Request

from apps.agents.models import Job

_CHUNK = 64 * 1024


def download(request: HttpRequest | Request, job: Job, stream: str) -> StreamingHttpResponse:
    """Return what the job printed on `stream` (stdout or stderr), byte for byte, as a text file."""
    stored = getattr(job, "output", None)
    packed = bytes(getattr(stored, f"{stream}_z")) if stored else b""
    plain_request = getattr(request, "_request", request)
    # Under ASGI Django would first gather what a plain iterator gives.
    is_asynchronous = isinstance(plain_request, ASGIRequest)
    return StreamingHttpResponse(
        _unpacked_asynchronously(packed) if is_asynchronous else _unpacked(packed),
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="job-{job.pk}-{stream}.txt"'},
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
