"""Headers of a tar cost neither memory nor time; a worker that is lost on the way to a file is told."""

import gzip
import io
import tarfile
import tracemalloc
import zipfile
from types import SimpleNamespace

import pytest
from django.core.files.base import ContentFile

from apps.archive.imports import reader, services
from apps.archive.imports.containers import ContainerError, Meter, UnpackingLimits, meter, read_entries
from apps.archive.imports.containers.limits import MIB
from apps.archive.imports.models import Import
from apps.core import cpu_time
from tests.archive.imports import sending

ANY_RATIO = UnpackingLimits(ratio=100_000)
FOLDER = tarfile.TarInfo("d")
FOLDER.type = tarfile.DIRTYPE
BLOCK, END = FOLDER.tobuf(tarfile.USTAR_FORMAT), bytes(2 * tarfile.BLOCKSIZE)


def words(size: int, kind: bytes, first: int = 0) -> bytes:
    """Return a header of so many bytes of words, each of another name."""
    content = b"".join(b"11 %06d=\n" % number for number in range(first, first + size // 11))
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, len(content)
    return header.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % tarfile.BLOCKSIZE)


def read(raw: bytes) -> list[str]:
    return [entry.name for entry in read_entries(io.BytesIO(gzip.compress(raw, 1)), "sent", Meter(ANY_RATIO))]


@pytest.mark.parametrize(
    "raw",
    [
        words(MIB, tarfile.XGLTYPE) + BLOCK,
        words(11_000, tarfile.XGLTYPE) + BLOCK,
        b"".join(words(3_300, tarfile.XGLTYPE, first) + BLOCK for first in (0, 300)),
        (words(11_000, tarfile.XHDTYPE) + BLOCK) * 200,
    ],
    ids=["one too long", "too many words", "too many words together", "too many headers"],
)
def test_headers_beyond_what_any_program_writes_are_damage(raw: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "_MOST_ALL_HEADERS", MIB)
    with pytest.raises(ContainerError, match="damaged"):
        read(raw + END)


def test_files_of_a_tar_are_forgotten_once_they_are_read() -> None:
    raw = words(5_000, tarfile.XGLTYPE) + BLOCK * 9_000 + END
    tracemalloc.start()
    try:
        assert read(raw) == []
        assert tracemalloc.get_traced_memory()[1] < 16 * MIB
    finally:
        tracemalloc.stop()


def sent(cast: SimpleNamespace, *names: str) -> Import:
    """Return an import that nobody has read yet."""
    files = [ContentFile(b"x", name=name) for name in names]
    return services.create_import(team=cast.team, user=cast.oscar, kind="outputs", files=files)


def test_an_import_ends_that_loses_its_workers_on_the_way_to_a_file(cast: SimpleNamespace) -> None:
    imported = sent(cast, "a.txt")
    Import.objects.filter(pk=imported.pk).update(stuck=reader.MOST_LOSSES + 1)
    sending.advance(imported)
    assert imported.state == Import.State.REFUSED
    assert "Workers were lost" in str(imported.reason)


def test_each_turn_reads_a_file_whatever_passing_by_the_others_took(cast: SimpleNamespace) -> None:
    imported = sent(cast, "a.txt", "b.txt", "c.txt")
    turns = [reader.read_on(imported, is_time_up=lambda: True) for _ in range(3)]
    assert (turns, imported.done) == ([False, False, True], 3)


def test_files_of_an_import_have_its_limits_together(cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LIMITS", UnpackingLimits(entries=2))
    assert sending.advance(sent(cast, "a.txt", "b.txt")).state == Import.State.READY
    imported = sending.advance(sent(cast, "a.txt", "b.txt", "c.txt"))
    assert (imported.state, "more than" in str(imported.reason)) == (Import.State.REFUSED, True)


def folders_of_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(9_000):
            archive.writestr(f"d{number}/", b"")
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [folders_of_zip(), gzip.compress(BLOCK * 2_000 + END, 1), gzip.compress(b"", 1) * 50_000],
    ids=["folders of a zip", "folders of a tar", "empty members of a gzip"],
)
def test_what_holds_no_file_ends_in_time(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(cpu_time, "READING_S", 0.001)
    files = [ContentFile(content, name="a.zip")]
    imported = services.create_import(team=cast.team, user=cast.oscar, kind="outputs", files=files)
    sending.advance(imported)
    assert (imported.state, "takes too long" in str(imported.reason)) == (Import.State.REFUSED, True)
