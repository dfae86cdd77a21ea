"""A zip that is sent while it is made: nothing of it is kept, neither in memory nor on disk."""

import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_LEVEL = 1


@dataclass(frozen=True)
class Packed:
    """A file that is in the zip: its path, bytes and SHA-256 in hexadecimal."""

    path: str
    size: int
    sha256: str


class _Outlet(io.RawIOBase):
    """Hands on what is written to it, and cannot go back."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.parts.append(bytes(data))
        self._at += len(data)
        return len(data)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        """Do nothing, closed or not: a zip that was given up in the middle is ended by the collector, after this."""


class ZipStream:
    """Takes files one after the other; `packed` says of each what it came to."""

    def __init__(self) -> None:
        self._outlet = _Outlet()
        self._zip = zipfile.ZipFile(self._outlet, "w", compresslevel=_LEVEL)
        self.packed: list[Packed] = []

    def add(self, path: str, pieces: Iterable[bytes], *, is_packed: bool = False) -> Iterator[bytes]:
        """Yield the zip's bytes of a file that comes in pieces; one that is packed already is stored as it is."""
        # A file of which only the name is given has the compression of the zip, and the first moment that a zip can
        # tell: the same content gives the same bytes, whenever it is packed.
        self._zip.compression = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
        digest, size = hashlib.sha256(), 0
        with self._zip.open(path, "w", force_zip64=True) as file:
            for piece in pieces:
                file.write(piece)
                digest.update(piece)
                size += len(piece)
                yield from self._written()
        self.packed.append(Packed(path, size, digest.hexdigest()))
        yield from self._written()

    def close(self) -> Iterator[bytes]:
        """Yield the zip's directory, with which it ends."""
        self._zip.close()
        yield from self._written()

    def _written(self) -> Iterator[bytes]:
        if self._outlet.parts:
            yield b"".join(self._outlet.parts)
            self._outlet.parts.clear()
