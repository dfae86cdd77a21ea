"""Archives of strangers are opened without harm, or refused with a reason."""

import gzip
import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from typing import Literal

import pytest

from apps.archive.imports.containers import (
    ContainerEntry,
    ContainerError,
    Meter,
    Package,
    UnpackingLimits,
    is_workbook,
    read_entries,
)
from apps.archive.imports.containers.limits import MIB

SMALL = UnpackingLimits(entries=20, total_bytes=40 * MIB, entry_bytes=24 * MIB, ratio=50)


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file


def tarred(files: Mapping[str, bytes], mode: Literal["w", "w:gz"] = "w") -> io.BytesIO:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file


def entries(file: io.BytesIO, name: str = "sent", limits: UnpackingLimits = SMALL) -> list[ContainerEntry]:
    return list(read_entries(file, name, Meter(limits)))


def contents(file: io.BytesIO, name: str = "sent") -> dict[str, bytes]:
    return {entry.name: entry.content for entry in entries(file, name)}


def refusals(file: io.BytesIO) -> dict[str, str]:
    return {entry.name: str(entry.refusal) for entry in entries(file) if entry.refusal}


def code_of(file: io.BytesIO, limits: UnpackingLimits = SMALL) -> str:
    with pytest.raises(ContainerError) as caught:
        entries(file, limits=limits)
    return caught.value.code


FILES = {"run/1.json": b'{"start": {}}', "실험/핑.txt": b"PING"}


def test_a_plain_file_is_itself() -> None:
    assert contents(io.BytesIO(b"PING 10.0.0.1"), "ping.txt") == {"ping.txt": b"PING 10.0.0.1"}


@pytest.mark.parametrize("file", [zipped(FILES), tarred(FILES), tarred(FILES, "w:gz")], ids=["zip", "tar", "tar.gz"])
def test_it_yields_the_files_of_an_archive(file: io.BytesIO) -> None:
    assert contents(file) == FILES


def test_it_opens_an_archive_within_an_archive_and_no_deeper() -> None:
    packed = gzip.compress(b"PING")
    inner = tarred({"a.txt": b"a", "b.txt.gz": packed}, "w:gz").getvalue()
    search_entries = entries(zipped({"inner.tar.gz": inner, "c.txt.gz": packed}))
    assert [(entry.name, entry.content) for entry in search_entries] == [
        ("a.txt", b"a"),
        ("b.txt.gz", b""),
        ("c.txt", b"PING"),
    ]
    assert "unpack it first" in str(search_entries[1].refusal)


def test_it_passes_over_what_file_managers_add() -> None:
    assert contents(zipped({"__MACOSX/._a.txt": b"x", "logs/.DS_Store": b"x", "logs/a.txt": b"a"})) == {
        "logs/a.txt": b"a"
    }


def test_a_zip_of_korean_windows_has_korean_names() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo("측정.txt".encode("cp949").decode("cp437"))
        archive.writestr(info, b"PING")
    raw = file.getvalue()
    # Python marks such a name as UTF-8; Windows writes the bytes of its code page, and no mark.
    written = "측정.txt".encode("cp949").decode("cp437").encode()
    own = "측정.txt".encode("cp949")
    raw = raw.replace(written, own.ljust(len(written), b"x"))
    raw = raw.replace(struct.pack("<HH", 20, 0x800), struct.pack("<HH", 20, 0))
    (entry,) = entries(io.BytesIO(raw))
    assert entry.name.startswith("측정.txt")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../b", "C:\\temp\\x", "..\\x"])
def test_paths_that_lead_out_are_refused_one_by_one(name: str) -> None:
    for file in (zipped({name: b"x", "good.txt": b"PING"}), tarred({name: b"x", "good.txt": b"PING"})):
        search_entries = entries(file)
        assert ["leads out" in str(entry.refusal) for entry in search_entries] == [True, False]
        assert search_entries[0].content == b""


def test_links_and_devices_are_refused() -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, kind in (("soft", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("fifo", tarfile.FIFOTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    assert set(refusals(file)) == {"soft", "hard", "fifo"}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive_:
        info = zipfile.ZipInfo("soft")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive_.writestr(info, "/etc/passwd")
    assert "a link" in refusals(file)["soft"]


def test_names_with_scripts_and_control_characters_are_only_text() -> None:
    name = "<script>alert(1)</script>\x1b[2J\u202etxt.exe"
    (entry,) = entries(tarred({name: b"PING"}))
    assert entry.name == "<script>alert(1)<\u2044script>\ufffd[2J\ufffdtxt.exe".replace("\u2044", "/")


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = zipped({"zeros": bytes(20 * MIB)})
    assert len(bomb.getvalue()) < MIB
    assert code_of(bomb) == "bomb"


def test_a_gzip_bomb_and_a_packed_tar_bomb_are_refused_early() -> None:
    assert code_of(io.BytesIO(gzip.compress(bytes(23 * MIB)))) == "bomb"
    assert code_of(tarred({"zeros": bytes(23 * MIB)}, "w:gz")) == "bomb"


def test_a_bomb_within_an_archive_is_one_too() -> None:
    assert code_of(zipped({"x.gz": gzip.compress(bytes(23 * MIB))}, zipfile.ZIP_STORED)) == "bomb"


def test_a_zip_that_lies_about_its_sizes_is_damaged_and_takes_no_memory() -> None:
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packed.compress(bytes(30 * MIB)) + packed.flush()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("x", data)
    raw = file.getvalue()
    for mark, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = raw.find(mark) + at
        raw = raw[:start] + struct.pack("<H", zipfile.ZIP_DEFLATED) + raw[start + 2 :]
    assert "damaged" in refusals(io.BytesIO(raw))["x"]


def test_more_files_or_bytes_than_allowed_are_refused() -> None:
    many = {f"{number}.txt": b"x" for number in range(21)}
    assert code_of(zipped(many)) == "entries"
    assert code_of(tarred(many, "w:gz")) == "entries"
    large = {f"{number}": bytes(range(256)) * 4096 * 21 for number in range(2)}
    assert code_of(zipped(large, zipfile.ZIP_STORED)) == "bytes"
    assert code_of(tarred(large)) == "bytes"


# Of the fewer there are no more bytes than there may be.
@pytest.mark.parametrize("count", [40_000, 20_000])
@pytest.mark.parametrize(
    "comment", [b"", struct.pack("<4sQ2H2L4Q20x", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 1024, 0)]
)
def test_a_directory_too_large_to_read_is_refused_unread(
    comment: bytes, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comment of its last file may look like the end of a larger zip, which says that the directory is small."""
    header = "<4s4B4HL2L5H2L"
    entry = struct.pack(header, b"PK\1\2", 20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    last = struct.pack(header, b"PK\1\2", 20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, len(comment), 0, 0, 0, 0) + b"a"
    directory = entry * count + last + comment
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), 100, 0)
    monkeypatch.setattr("zipfile.ZipInfo", lambda *values: pytest.fail("it was read"))
    file = io.BytesIO(b"PK\x03\x04" + bytes(96) + directory + end)
    assert code_of(file, limits=UnpackingLimits(entries=1)) == "entries"


def test_a_file_that_looks_like_a_directory_is_none() -> None:
    files = {"a": b"PK\1\2" * 1000}
    assert contents(zipped(files, zipfile.ZIP_STORED)) == files


def test_one_large_file_is_refused_and_its_neighbours_are_read() -> None:
    limits = UnpackingLimits(entry_bytes=MIB)
    files = {"large": bytes(2 * MIB), "small": b"PING"}
    for file in (zipped(files), tarred(files), tarred(files, "w:gz")):
        search_entries = entries(file, limits=limits)
        assert ["larger than 1 MiB" in str(entry.refusal) for entry in search_entries] == [True, False]
        assert search_entries[1].content == b"PING"
    assert "larger" in str(entries(io.BytesIO(bytes(2 * MIB)), limits=limits)[0].refusal)


def test_endless_headers_of_a_tar_are_refused() -> None:
    member = tarfile.TarInfo("x")
    member.pax_headers = {"comment": "a" * (5 * MIB)}
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member)
    assert code_of(file) == "damaged"


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE])
def test_headers_of_a_tar_that_follow_each_other_without_end_are_damaged(kind: bytes) -> None:
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = kind, 0
    block = header.tobuf(tarfile.GNU_FORMAT)
    assert code_of(io.BytesIO(block * 1900 + bytes(2 * tarfile.BLOCKSIZE))) == "damaged"


@pytest.mark.parametrize("file", [zipped(FILES), tarred(FILES, "w:gz")], ids=["zip", "tar.gz"])
def test_half_an_archive_is_refused(file: io.BytesIO) -> None:
    raw = file.getvalue()
    assert code_of(io.BytesIO(raw[: len(raw) // 2])) == "damaged"


def test_a_damaged_file_does_not_take_the_others_with_it() -> None:
    broken = gzip.compress(b"PING" * 100)[:-20]
    assert list(refusals(zipped({"a.gz": broken, "b.txt": b"b"}))) == ["a.gz"]


def test_encrypted_files_are_refused() -> None:
    raw = zipped({"secret": b"x"}).getvalue()
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = raw.find(mark) + at
        raw = raw[:start] + b"\x01\x00" + raw[start + 2 :]
    assert "encrypted" in refusals(io.BytesIO(raw))["secret"]


def test_a_workbook_is_one_file() -> None:
    file = zipped({"[Content_Types].xml": b"<x/>", "xl/workbook.xml": b"<x/>"})
    others = zipped(FILES), io.BytesIO(b"a,b")
    assert is_workbook(file, "a.xlsx") and not any(is_workbook(other, "a.xlsx") for other in others)
    assert contents(file, "book.xlsx") == {"book.xlsx": file.getvalue()}


def test_a_package_gives_its_files_as_streams() -> None:
    package = Package(zipped({"data/a.csv": b"1\n2\n", "b.json": b"{}"}), "a.zip", SMALL)
    assert package.names == ["data/a.csv", "b.json"]
    assert package.size("b.json") == 2
    with package.open("data/a.csv") as stream:
        assert list(stream) == [b"1\n", b"2\n"]


@pytest.mark.parametrize("name", ["../a", "/a", "a/../b"])
def test_a_package_with_one_unsafe_path_is_refused_whole(name: str) -> None:
    with pytest.raises(ContainerError) as caught:
        Package(zipped({"manifest.json": b"{}", name: b"x"}), "a.zip", SMALL)
    assert caught.value.code == "unsafe"


def test_what_is_no_zip_is_no_package() -> None:
    for raw in (b"", b"PK\x03\x04", b"PK\x05\x06", bytes(1000)):
        with pytest.raises(ContainerError) as caught:
            Package(io.BytesIO(raw), "a.zip", SMALL)
        assert (caught.value.code, caught.value.message.params) == ("damaged", {"name": "a.zip"})
