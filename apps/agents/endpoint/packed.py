"""What travels compressed: outputs, collected files and telemetry, believed only once they are known to unpack."""

import base64
import binascii
import re
import zlib
from collections.abc import Mapping
from typing import Any

from apps.agents.endpoint.exchange import Problem, bad_field
from apps.agents.services import GivenFile

# Of one output or file, unpacked, and of all files of a job together; jobs' own limits are lower.
MOST_OUTPUT_BYTES = 64 * 1024 * 1024
MOST_TELEMETRY_BYTES = 8 * 1024 * 1024
MOST_FILES = 100
# As long as they were, files are counted up to this (bytes).
MOST_SIZE = 2**62
_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._][A-Za-z0-9._+-]{0,99}")


def stream_of(data: Mapping[str, Any], name: str, maximum: int = MOST_OUTPUT_BYTES) -> bytes | None:
    """Return a member as the zlib stream it travels in, None without one; it unpacks to at most `maximum` bytes."""
    return _checked(name, data.get(name), maximum)[0]


def files_of(data: Mapping[str, Any]) -> tuple[GivenFile, ...]:
    """Return the collected files of a report; Problem 400 for a name that is no plain one, 413 for too much."""
    entries = data.get("collected") or []
    if not isinstance(entries, list) or len(entries) > MOST_FILES:
        raise bad_field("collected", f"must be a list of at most {MOST_FILES} files")
    files: dict[str, GivenFile] = {}
    left = MOST_OUTPUT_BYTES
    for place, entry in enumerate(entries):
        where = f"collected[{place}]"
        if not isinstance(entry, dict):
            raise bad_field(where, "must be an object")
        name, size = entry.get("name"), entry.get("size")
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in files:
            raise bad_field(f"{where}.name", "must be a plain name of a file, given once")
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < MOST_SIZE:
            raise bad_field(f"{where}.size", "must be a whole number, 0 or more")
        content_z, length = _checked(f"{where}.content", entry.get("content"), left)
        if content_z is None:
            raise bad_field(f"{where}.content", "is missing")
        left -= length
        is_cut, is_cut_on_way = (entry.get(flag) is True for flag in ("truncated", "cut_on_way"))
        files[name] = GivenFile(name, content_z, size, is_cut, is_cut_on_way)
    return tuple(files.values())


def _checked(name: str, value: object, maximum: int) -> tuple[bytes | None, int]:
    """Return a zlib stream in base64 as bytes, and the length of what it holds."""
    if value is None:
        return None, 0
    if not isinstance(value, str):
        raise bad_field(name, "must be a text")
    try:
        packed = base64.b64decode(value, validate=True)
        stream = zlib.decompressobj()
        # A limit of 0 would be none.
        size = len(stream.decompress(packed, maximum + 1))
    except (binascii.Error, ValueError, zlib.error):
        raise bad_field(name, "must be zlib data in base64") from None
    if size > maximum:
        raise Problem(413, "too-large", f"“{name}” unpacks to more than {maximum} bytes.")
    if not stream.eof or stream.unused_data:
        raise bad_field(name, "must be one whole zlib stream")
    return packed, size
