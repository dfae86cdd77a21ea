"""Go through the files of what was sent, and of archives within it."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from apps.archive.imports.containers import limits as words
from apps.archive.imports.containers import zips
from apps.archive.imports.containers.limits import DAMAGES, ContainerEntry, UnpackingLimits, printable
from apps.archive.imports.containers.meter import Meter, Metered
from apps.bench.text import Message, _

_BLOCK = tarfile.BLOCKSIZE
# So many words in a tar's headers may hold for all its files: each has a copy of them.
_MOST_WORDS = 500


class _Tar(tarfile.TarFile):
    """A tar that is read in one go: it keeps each of its `members`, with all words of its headers."""

    members: list[tarfile.TarInfo]


def read_entries(file: BinaryIO, name: str, meter: Meter | None = None) -> Iterator[ContainerEntry]:
    """Yield the files that a seekable file holds, itself if it is no archive; only one of them is held in memory.

    An entry with an unsafe path, a link, or one that is too large has a `refusal`; ContainerError refuses the file.
    The meter may be that of several files, which then have its limits together.
    """
    walk = _Walk(meter or Meter(UnpackingLimits()))
    try:
        yield from walk.entries(file, printable(name), 0)
    except DAMAGES as error:
        raise words.damaged(name) from error


class _Walk:
    """One walk through a file and the archives within it."""

    def __init__(self, meter: Meter) -> None:
        self._limits = meter.limits
        self._meter = meter

    def entries(self, file: BinaryIO, name: str, depth: int) -> Iterator[ContainerEntry]:
        """Yield what a file holds that lies within `depth` archives."""
        kind = _kind(file)
        if kind and depth >= self._limits.depth:
            yield ContainerEntry(
                name, refusal=Message(_("An archive this deep within others is not opened: unpack it first."))
            )
        elif kind == "zip":
            yield from self._zip(file, name, depth)
        elif kind == "tar":
            yield from self._tar(Metered(file, self._meter, name), name, depth)
        elif kind == "gzip":
            yield from self._gzip(file, name, depth)
        elif depth:
            yield ContainerEntry(name, file.read())
        else:
            yield self._whole(Metered(file, self._meter, name), name)

    def _whole(self, stream: Metered, name: str) -> ContainerEntry:
        self._meter.count_file(name)
        content = stream.read()
        if len(content) > self._limits.entry_bytes:
            return ContainerEntry(name, refusal=words.too_large(self._limits))
        return ContainerEntry(name, content)

    def _inner(self, content: bytes, name: str, depth: int) -> Iterator[ContainerEntry]:
        yield from self.entries(io.BytesIO(content), name, depth + 1)

    def _gzip(self, file: BinaryIO, name: str, depth: int) -> Iterator[ContainerEntry]:
        own = name[:-3] if name.lower().endswith(".gz") else name
        with gzip.GzipFile(fileobj=file) as packed:
            stream = Metered(packed, self._meter, name, zips.length_of(file))
            try:
                whole = None if _is_tar(stream.peek(_BLOCK)) else self._whole(stream, own)
            except (EOFError, zlib.error, gzip.BadGzipFile):
                # One damaged file says nothing of its neighbours.
                whole = ContainerEntry(name, refusal=words.damaged(name).message)
            if whole is None:
                yield from self._tar(stream, name, depth)
            elif whole.refusal:
                yield whole
            else:
                yield from self._inner(whole.content, own, depth)

    def _tar(self, stream: Metered, name: str, depth: int) -> Iterator[ContainerEntry]:
        stream.allow(0)
        with _Tar.open(fileobj=stream, mode="r|") as archive:
            while (member := archive.next()) is not None:
                archive.members.clear()
                if len(archive.pax_headers) > _MOST_WORDS:
                    raise words.damaged(name)
                # The next headers lie behind the data of this one.
                stream.allow(max(0, member.size))
                path = printable(member.name)
                # Folders take time, too.
                self._meter.count_file(name)
                if not member.isdir() and not words.is_litter(path):
                    refused = self._refusal(member, path)
                    data = None if refused else archive.extractfile(member)
                    if data is None:
                        yield ContainerEntry(path, refusal=refused)
                    else:
                        yield from self._inner(data.read(), path, depth)

    def _refusal(self, member: tarfile.TarInfo, path: str) -> Message | None:
        if not member.isreg() or member.issparse():
            return words.link(path)
        if member.size > self._limits.entry_bytes:
            return words.too_large(self._limits)
        return words.path_refusal(member.name, path)

    def _zip(self, file: BinaryIO, name: str, depth: int) -> Iterator[ContainerEntry]:
        with zips.open_zip(file, self._limits, name) as archive:
            if zips.holds_workbook(archive):
                file.seek(0)
                yield self._whole(Metered(file, self._meter, name), name)
                return
            for info in archive.infolist():
                # Folders, and what is passed by, take time, too.
                self._meter.count_file(name)
                path = zips.name_of(info)
                if info.is_dir() or words.is_litter(path):
                    continue
                refused = zips.refusal_of(info, path, self._limits)
                content = b""
                if refused is None:
                    try:
                        with zips.open_file(archive, info) as data:
                            content = data.read()
                    except DAMAGES:
                        refused = words.damaged(path).message
                    self._meter.count_bytes(len(content), name)
                if refused is not None:
                    yield ContainerEntry(path, refusal=refused)
                else:
                    yield from self._inner(content, path, depth)


def _kind(file: BinaryIO) -> str:
    file.seek(0)
    start = file.read(_BLOCK)
    file.seek(0)
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if start.startswith(b"\x1f\x8b"):
        return "gzip"
    return "tar" if _is_tar(start) else ""


def _is_tar(block: bytes) -> bool:
    """Return whether a block is the header of a tar: its checksum tells."""
    try:
        tarfile.TarInfo.frombuf(block[:_BLOCK], "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError):
        return False
    return True
