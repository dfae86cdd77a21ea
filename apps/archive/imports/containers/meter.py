"""Count what is unpacked while it is unpacked, and stop before it is too much."""

import gzip
import io
import tarfile
from typing import BinaryIO

from apps.archive.imports.containers import limits as words
from apps.archive.imports.containers.limits import HARMLESS, MIB, UnpackingLimits

# What a tar's headers may take before each file, and all of them: a byte of them costs as much as a hundred of data.
_MOST_HEADERS, _MOST_ALL_HEADERS = 16 * 1024, 64 * MIB


class Meter:
    """The files, folders and bytes met so far in what was sent and in the archives within it."""

    def __init__(self, limits: UnpackingLimits) -> None:
        self.limits = limits
        self._files = 0
        self._bytes = 0
        self._headers = 0

    def count_file(self, name: str) -> None:
        """Count a file; ContainerError if there are too many."""
        self._files += 1
        if self._files > self.limits.entries:
            raise words.too_many_files(name, self.limits)

    def count_headers(self, count: int, name: str) -> None:
        """Count bytes of a tar's headers; ContainerError if there are too many."""
        self._headers += count
        if self._headers > _MOST_ALL_HEADERS:
            raise words.damaged(name)

    def count_bytes(self, count: int, name: str) -> None:
        """Count bytes that were unpacked; ContainerError if there are too many."""
        self._bytes += count
        if self._bytes > self.limits.total_bytes:
            raise words.too_many_bytes(name, self.limits)


class Metered(io.RawIOBase):
    """A stream that counts what is read from it; `packed` is its length before it was unpacked, None if it is plain.

    ContainerError if there is too much in all, for its packed size, or of what a tar's headers may take.
    """

    def __init__(self, stream: BinaryIO | gzip.GzipFile, meter: Meter, name: str, packed: int | None = None) -> None:
        self._stream = stream
        self._meter = meter
        self._name = name
        self._most = None if packed is None else max(HARMLESS, packed * meter.limits.ratio)
        self._count = 0
        self._allowed: int | None = None
        self._data_end = 0
        self._ahead = b""

    def peek(self, size: int) -> bytes:
        """Return the next bytes, `size` of them if there are so many, without taking them."""
        if size > len(self._ahead):
            self._ahead += self._take(size - len(self._ahead))
        return self._ahead

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; without a `size` as many as one file may have, and one."""
        if size < 0:
            size = self._meter.limits.entry_bytes + 1
        ahead, self._ahead = self._ahead[:size], self._ahead[size:]
        return ahead + self._take(size - len(ahead))

    def allow(self, size: int) -> None:
        """Let the data of a tar's file be read from here on and the headers behind it, and no more."""
        self._meter.count_headers(max(0, self._count - self._data_end), self._name)
        self._data_end = self._count + size
        self._allowed = self._data_end + _MOST_HEADERS + tarfile.RECORDSIZE

    def _take(self, size: int) -> bytes:
        parts = []
        while size > 0 and (part := self._stream.read(min(size, MIB))):
            self._count += len(part)
            self._meter.count_bytes(len(part), self._name)
            if self._most is not None and self._count > self._most:
                raise words.bomb(self._name, self._meter.limits)
            if self._allowed is not None and self._count > self._allowed:
                raise words.damaged(self._name)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
