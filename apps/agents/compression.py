"""How raw output is kept: compressed as it came from the agent (zlib), or packed more tightly later (xz)."""

import lzma
import zlib
from collections.abc import Iterator

_XZ = b"\xfd7zXZ\x00"
# Sizes of the dictionary (B).
_SMALLEST, _LARGEST = 4096, 8 * 1024 * 1024


def unpack(packed: bytes | memoryview) -> bytes:
    """Return what was printed, byte for byte."""
    data = bytes(packed)
    if not data:
        return b""
    return lzma.decompress(data) if data.startswith(_XZ) else zlib.decompress(data)


def unpack_in_parts(packed: bytes | memoryview, size: int) -> Iterator[bytes]:
    """Yield what was printed in parts of `size` bytes at most."""
    data = bytes(packed)
    if data.startswith(_XZ):
        tight = lzma.LZMADecompressor()
        part = tight.decompress(data, size)
        while part or not (tight.eof or tight.needs_input):
            yield part
            part = b"" if tight.eof else tight.decompress(b"", size)
        return
    loose = zlib.decompressobj()
    part = loose.decompress(data, size) if data else b""
    while part:
        yield part
        part = loose.decompress(loose.unconsumed_tail, size)


def pack(packed: bytes | memoryview) -> bytes:
    """Return what is stored packed more tightly, or as it is where that gains nothing."""
    data = bytes(packed)
    if not data or data.startswith(_XZ):
        return data
    printed = zlib.decompress(data)
    # No larger than the text needs: to prepare a dictionary takes longer than to compress a short text.
    size = min(max(len(printed), _SMALLEST), _LARGEST)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": size}]
    tight = lzma.compress(printed, check=lzma.CHECK_CRC32, filters=filters)
    return tight if len(tight) < len(data) else data
