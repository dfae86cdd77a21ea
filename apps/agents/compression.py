"""How raw output is kept: compressed as it came from the agent (zlib), or packed more tightly later (xz)."""

import lzma
import zlib
from collections.abc import Iterator

from apps.agents.bounds import MOST_OUTPUT_BYTES

_XZ = b"\xfd7zXZ\x00"
# Sizes of the dictionary (B).
_SMALLEST, _LARGEST = 4096, 8 * 1024 * 1024
# Of what is packed, and of a part of what is printed, as far as nobody needs more at once (B).
_CHUNK = 64 * 1024


class TooLongError(ValueError):
    """What is packed is longer than whoever asked for it takes."""


def unpack(packed: bytes | memoryview, most_bytes: int = MOST_OUTPUT_BYTES) -> bytes:
    """Return what was printed, byte for byte; TooLongError without unpacking more if that is over `most_bytes`."""
    data = head(packed, most_bytes + 1)
    if len(data) > most_bytes:
        raise TooLongError
    return data


def head(packed: bytes | memoryview, size: int) -> bytes:
    """Return the first `size` bytes of what was printed; no more is unpacked."""
    text = bytearray()
    for part in unpack_in_parts(packed, min(size, _CHUNK)):
        text += part[: size - len(text)]
        if len(text) == size:
            break
    return bytes(text)


def unpack_in_parts(packed: bytes | memoryview, size: int = _CHUNK) -> Iterator[bytes]:
    """Yield what was printed in parts of `size` bytes at most."""
    data = memoryview(packed)
    if bytes(data[: len(_XZ)]) == _XZ:
        tight = lzma.LZMADecompressor()
        part = tight.decompress(bytes(data), size)
        while part or not (tight.eof or tight.needs_input):
            yield part
            part = b"" if tight.eof else tight.decompress(b"", size)
        return
    loose = zlib.decompressobj()
    # By pieces: what a piece leaves is copied for each part.
    for start in range(0, len(data), _CHUNK):
        part = loose.decompress(data[start : start + _CHUNK], size)
        while part:
            yield part
            part = loose.decompress(loose.unconsumed_tail, size)


def pack(packed: bytes | memoryview) -> bytes:
    """Return what is stored packed more tightly, or as it is where that gains nothing."""
    data = bytes(packed)
    if not data or data.startswith(_XZ):
        return data
    length = sum(map(len, unpack_in_parts(data)))
    # No larger than the text needs: to prepare a dictionary takes longer than to compress a short text.
    size = min(max(length, _SMALLEST), _LARGEST)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": size}]
    press = lzma.LZMACompressor(check=lzma.CHECK_CRC32, filters=filters)
    tight = b"".join(map(press.compress, unpack_in_parts(data))) + press.flush()
    return tight if len(tight) < len(data) else data
