"""What travels compressed: outputs, collected files and telemetry, believed only once they are known to unpack."""

import base64
import binascii
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.agents.bounds import FILE_NAME, MOST_FILES, MOST_OUTPUT_BYTES, MOST_TELEMETRY_BYTES
from apps.agents.endpoint.exchange import Problem, bad_field
from apps.agents.services import GivenFile

# As long as they were, files are counted up to this (bytes).
MOST_SIZE = 2**62


@dataclass(frozen=True)
class Pack:
    """A zlib stream, and how many bytes it holds: the first ones of those that came, if it `is_cut`."""

    stream: bytes
    size: int
    is_cut: bool


def telemetry_of(data: Mapping[str, Any]) -> bytes:
    """Return the telemetry as the zlib stream it travels in, nothing without it; Problem 413 for too much."""
    telemetry = _head_of("telemetry", data.get("telemetry"), MOST_TELEMETRY_BYTES)
    if telemetry is not None and telemetry.is_cut:
        raise Problem(413, "too-large", f"“telemetry” unpacks to more than {MOST_TELEMETRY_BYTES} bytes.")
    return telemetry.stream if telemetry is not None else b""


def output_of(data: Mapping[str, Any], name: str, most_bytes: int) -> Pack | None:
    """Return the first `most_bytes` of an output, as the agent itself keeps them; None without one."""
    return _head_of(name, data.get(name), min(most_bytes, MOST_OUTPUT_BYTES))


def files_of(data: Mapping[str, Any], most_bytes: int) -> tuple[GivenFile, ...]:
    """Return the collected files of a report; Problem 400 for a name that is no plain one.

    Of all together the first `most_bytes` are kept, as the agent itself keeps them.
    """
    entries = data.get("collected") or []
    if not isinstance(entries, list) or len(entries) > MOST_FILES:
        raise bad_field("collected", f"must be a list of at most {MOST_FILES} files")
    files: dict[str, GivenFile] = {}
    left = min(most_bytes, MOST_OUTPUT_BYTES)
    for place, entry in enumerate(entries):
        where = f"collected[{place}]"
        if not isinstance(entry, dict):
            raise bad_field(where, "must be an object")
        name, size = entry.get("name"), entry.get("size")
        if not isinstance(name, str) or not FILE_NAME.match(name) or name in files:
            raise bad_field(f"{where}.name", "must be a plain name of a file, given once")
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < MOST_SIZE:
            raise bad_field(f"{where}.size", "must be a whole number, 0 or more")
        content = _head_of(f"{where}.content", entry.get("content"), left)
        if content is None:
            raise bad_field(f"{where}.content", "is missing")
        left -= content.size
        is_cut, is_cut_on_way = (entry.get(flag) is True for flag in ("truncated", "cut_on_way"))
        files[name] = GivenFile(name, content.stream, size, is_cut or content.is_cut, is_cut_on_way)
    return tuple(files.values())


def _head_of(name: str, value: object, most_bytes: int) -> Pack | None:
    """Return what a zlib stream in base64 holds up to `most_bytes`; it is unpacked no further."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise bad_field(name, "must be a text")
    try:
        packed = base64.b64decode(value, validate=True)
        stream = zlib.decompressobj()
        # A limit of 0 would be none.
        content = stream.decompress(packed, most_bytes + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise bad_field(name, "must be zlib data in base64") from None
    if len(content) > most_bytes:
        return Pack(zlib.compress(content[:most_bytes]), most_bytes, is_cut=True)
    if not stream.eof or stream.unused_data:
        raise bad_field(name, "must be one whole zlib stream")
    return Pack(packed, len(content), is_cut=False)
