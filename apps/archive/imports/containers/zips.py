"""Zips: no directory that is too large is read, and what it says of each file before the file is."""

import io
import stat
import zipfile
from typing import TYPE_CHECKING, BinaryIO, cast

from apps.archive.imports.containers import limits as words
from apps.archive.imports.containers.limits import (
    DAMAGES,
    HARMLESS,
    LONGEST_NAME,
    MIB,
    ContainerError,
    UnpackingLimits,
    printable,
)
from apps.bench.text import Message, _

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# Only office programs put this into a zip.
_WORKBOOK = "[Content_Types].xml"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What each file begins with in a zip's directory. Beside a file there may be its folder, or what a file manager adds.
_HEAD, _HEADS_EACH = b"PK\1\2", 2


class Package:
    """A zip of a known form, of which every file was checked before any is read; ContainerError refuses it whole."""

    def __init__(self, file: BinaryIO, name: str, limits: UnpackingLimits | None = None) -> None:
        limits = limits or UnpackingLimits()
        try:
            self._zip = open_zip(file, limits, printable(name))
        except DAMAGES as error:
            raise words.damaged(name) from error
        self._files: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            if info.is_dir():
                continue
            path = name_of(info)
            refused = refusal_of(info, path, limits)
            if path in self._files:
                refused = Message(_("%(name)s is in the archive twice."), {"name": path})
            if refused is not None:
                raise ContainerError("unsafe", refused)
            self._files[path] = info
        if len(self._files) > limits.entries:
            raise words.too_many_files(printable(name), limits)

    @property
    def names(self) -> list[str]:
        """Return the paths of the files, in the archive's order."""
        return list(self._files)

    def size(self, name: str) -> int:
        """Return how many bytes a file has; KeyError if there is none of the name."""
        return self._files[name].file_size

    def open(self, name: str) -> io.BufferedReader:
        """Return a stream of a file's bytes, at most as many as `size` says; KeyError if there is none of the name.

        Reading damaged data raises one of ``DAMAGES``.
        """
        return open_file(self._zip, self._files[name])


def is_workbook(file: BinaryIO, name: str) -> bool:
    """Say whether a file is a zip of an office program, such as XLSX; ContainerError refuses the zip by this name."""
    file.seek(0)
    if file.read(4) != b"PK\x03\x04":
        return False
    try:
        return holds_workbook(open_zip(file, UnpackingLimits(), printable(name)))
    except DAMAGES:
        return False


def holds_workbook(archive: zipfile.ZipFile) -> bool:
    """Say whether a zip was made by an office program."""
    return _WORKBOOK in archive.namelist()


def open_zip(file: BinaryIO, limits: UnpackingLimits, name: str) -> zipfile.ZipFile:
    """Return a zip of acceptable size; ContainerError, or one of ``DAMAGES``, if it is none."""
    try:
        archive = zipfile.ZipFile(cast(BinaryIO, _Directory(file, limits.entries)))
    except _TooMuchError as error:
        raise words.too_many_files(name, limits) from error
    # What the files hold may look like a directory.
    archive.fp = file
    total = sum(info.file_size for info in archive.infolist())
    if total > max(HARMLESS, length_of(file) * limits.ratio):
        raise words.bomb(name, limits)
    if total > limits.total_bytes:
        raise words.too_many_bytes(name, limits)
    return archive


def open_file(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> io.BufferedReader:
    """Return a stream of a file's bytes that unpacks no more at a time than it is asked for.

    Python's own would unpack a gigabyte at once where the directory lies about the size.
    """
    return io.BufferedReader(_Raw(cast(zipfile.ZipExtFile, archive.open(info))), MIB // 4)


def name_of(info: zipfile.ZipInfo) -> str:
    """Return the path of a file as it is shown; one without the mark of UTF-8 may be that all the same, or Korean."""
    if not info.flag_bits & 0x800:
        for encoding in ("utf-8", "cp949"):
            try:
                return printable(info.filename.encode("cp437").decode(encoding))
            except UnicodeError:
                continue
    return printable(info.filename)


def refusal_of(info: zipfile.ZipInfo, name: str, limits: UnpackingLimits) -> Message | None:
    """Return why a file of a zip is refused, or None."""
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return words.link(name)
    if info.flag_bits & 0x1:
        return Message(_("%(name)s is encrypted: send it without a password."), {"name": name})
    if info.compress_type not in _METHODS:
        text = _("%(name)s is packed in an unusual way: pack it with deflate, as zip does by itself.")
        return Message(text, {"name": name})
    if info.file_size > limits.entry_bytes:
        return words.too_large(limits)
    return words.path_refusal(info.orig_filename, name)


def length_of(file: BinaryIO) -> int:
    """Return how many bytes a file has, and stay where it is."""
    here = file.tell()
    length = file.seek(0, io.SEEK_END)
    file.seek(here)
    return length


class _TooMuchError(Exception):
    """More is asked for at once than there may be."""


class _Directory:
    """A file of which no directory is given that is too large: Python reads it whole, and all its heads at once."""

    def __init__(self, file: BinaryIO, entries: int) -> None:
        self._file, self._entries = file, entries
        self.seek, self.tell = file.seek, file.tell

    def seekable(self) -> bool:
        return True

    def read(self, count: int = -1) -> bytes:
        if count < 0:
            count = max(0, length_of(self._file) - self.tell())
        if count > self._entries * LONGEST_NAME * 2 + MIB:
            raise _TooMuchError
        data = self._file.read(count)
        if data.startswith(_HEAD) and data.count(_HEAD) > self._entries * _HEADS_EACH:
            raise _TooMuchError
        return data


class _Raw(io.RawIOBase):
    """A file of a zip, read in the steps of who reads."""

    def __init__(self, stream: zipfile.ZipExtFile) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        part = self._stream.read(len(view))
        view[: len(part)] = part
        return len(part)
