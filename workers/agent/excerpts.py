"""Reports with less in them: the head and the tail of what was printed, for what is between did not get through."""

from __future__ import annotations

import base64
import zlib
from typing import Any

from .jobs import pack

# So much (bytes, before it is packed) is left of all outputs and files together, one try after the other.
STEPS = (8 * 2**20, 2 * 2**20, 512 * 2**10, 128 * 2**10, 32 * 2**10, 8 * 2**10)
# Where nobody says that size is the reason, no more than this is tried: packed it fits into proxies' usual 1 MiB.
UNSAID = 512 * 2**10
STREAMS = ("stdout", "stderr")
# What was read around the job goes first: its result matters more.
AROUND = "telemetry"


def steps_of(report: dict[str, Any], most: int | None = None) -> list[int]:
    """Return how much (bytes) is to be left of a report's outputs, one try after the other; at most `most`, if given.

    The first step may leave them whole, without what was read around the job.
    """
    size = sum(len(content) for content in _contents_of(report).values())
    whole = [size] if report.get(AROUND) else []
    steps = [*whole, *(step for step in STEPS if step < size)]
    return [step for step in steps if most is None or step <= most]


def shortened(report: dict[str, Any], limit: int) -> dict[str, Any]:
    """Return a report with at most about `limit` bytes of outputs and files in all: each one's head and tail.

    What was cut is marked as cut on the way, and a line in it says how much.
    """
    contents = _contents_of(report)
    shares = _shares({place: len(content) for place, content in contents.items()}, limit)
    cut = {place for place, content in contents.items() if len(content) > shares[place]}
    packed = {place: pack(ends_of(contents[place], shares[place])) for place in cut}
    less = {name: value for name, value in report.items() if name != AROUND}
    less |= {name: packed[name] for name in STREAMS if name in cut}
    if report.get("collected"):
        less["collected"] = [
            {**file, "content": packed[place], "truncated": True, "cut_on_way": True} if place in cut else file
            for place, file in enumerate(report["collected"])
        ]
    return {**less, "truncated": True, "cut_on_way": True} if cut & {*STREAMS} else less


def has_cut(report: dict[str, Any]) -> bool:
    """Say whether something of a report's outputs or files was cut on the way."""
    return any(part.get("cut_on_way") for part in (report, *(report.get("collected") or ())))


def ends_of(text: bytes, limit: int) -> bytes:
    """Return about `limit` bytes of a text, from its head and its tail in whole lines where it has lines."""
    if len(text) <= limit:
        return text
    half = limit // 2
    head, tail = text[:half], text[len(text) - half :]
    # Half a line can say something else than the whole one did.
    last, first = head.rfind(b"\n") + 1, tail.find(b"\n") + 1
    head = head[:last] if last > half // 2 else head + b"\n"
    tail = tail[first:] if 0 < first <= half // 2 else tail
    missing = len(text) - len(head) - len(tail)
    return head + b"[fathom-agent: %d bytes were cut here on the way]\n" % missing + tail


def _contents_of(report: dict[str, Any]) -> dict[str | int, bytes]:
    """Return what a report has of outputs (by name) and collected files (by place)."""
    packed: dict[str | int, str] = {name: report[name] for name in STREAMS if name in report}
    packed.update(enumerate(file["content"] for file in report.get("collected") or ()))
    return {place: zlib.decompress(base64.b64decode(content)) for place, content in packed.items()}


def _shares(sizes: dict[str | int, int], limit: int) -> dict[str | int, int]:
    """Share `limit` bytes out so that the small ones stay whole."""
    shares: dict[str | int, int] = {}
    left = limit
    for number, (place, size) in enumerate(sorted(sizes.items(), key=lambda entry: entry[1])):
        shares[place] = min(size, left // (len(sizes) - number))
        left -= shares[place]
    return shares
