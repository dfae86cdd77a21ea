"""However small the pieces are that a download is made of, many are sent at a time: each is a turn of the loop."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import AsyncRequestFactory

from apps.core import streams
from apps.core.streams import JOINED_S, send
from apps.results.downloads import csv_lines

ROOT = Path(__file__).resolve().parents[2]


def lines() -> Iterator[bytes]:
    return csv_lines({"trial": number, "metric": "goodput", "value": 941.5} for number in range(20_000))


def single_bytes() -> Iterator[bytes]:
    return (b"%d" % (number % 10) for number in range(300_000))


def large() -> Iterator[bytes]:
    return (bytes([number]) * 100_000 for number in range(5))


async def sent(make: Callable[[], Iterator[bytes]]) -> list[tuple[float, bytes]]:
    """Return when each piece came, since the sending began (s), and what it was."""
    begun = time.monotonic()
    answer = send(AsyncRequestFactory().get("/"), make, name="a", kind="text/csv", reads_database=False)
    return [(time.monotonic() - begun, piece) async for piece in answer.streaming_content]


def test_whatever_is_streamed_is_sent_by_one_function() -> None:
    kinds = re.compile(r"\b(StreamingHttpResponse|FileResponse)\(")
    files = [path for path in (ROOT / "apps").rglob("*.py") if kinds.search(path.read_text())]
    assert files == [Path(streams.__file__)]


@pytest.mark.parametrize("make", [lines, single_bytes, large])
async def test_small_pieces_are_joined(make: Callable[[], Iterator[bytes]]) -> None:
    pieces = [piece for _at, piece in await sent(make)]
    whole = b"".join(make())
    assert b"".join(pieces) == whole
    assert pieces[0] == next(make())
    assert len(pieces) <= 2 + len(whole) // (32 * 1024)


async def test_what_is_made_slowly_is_sent_as_it_comes() -> None:
    def slowly() -> Iterator[bytes]:
        for _number in range(8):
            yield b"0" * 10
            time.sleep(JOINED_S / 3)

    (first, piece), (second, _piece), *_more = await sent(slowly)
    assert piece == b"0" * 10
    assert first < JOINED_S < second < 4 * JOINED_S
