"""What harms is refused as a whole, or file by file, and nothing of it is left behind."""

import gzip
import html
import io
import tarfile
import zipfile
from datetime import timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone

from apps.archive.imports import reader, services, work
from apps.archive.imports.models import Import
from apps.campaigns.errors import Refused
from apps.core import cpu_time
from apps.testbeds.models import Node
from tests import leasing
from tests.archive.imports import sending
from tests.archive.imports.sending import recording, zipped

GOOD = recording("iperf3-tcp/winsweep_pnu/w64K_cubic_r1.json")
MIB = 1024 * 1024


def gigabyte_of_text() -> bytes:
    """Return 1 GB of lines as gzip has them: a few megabytes."""
    lines = b"[  5]   0.00-1.00   sec   112 MBytes   941 Mbits/sec\n" * 20_000
    # What gzip packed may be put together as often as one likes.
    return gzip.compress(lines) * 1000


@pytest.mark.parametrize("kind", ["outputs", "table"])
def test_bombs_are_refused_and_leave_nothing(cast: SimpleNamespace, folder: Path, kind: str) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml" if kind == "table" else "good.json", GOOD)
        archive.writestr("zeros", bytes(40 * MIB))
    imported = sending.send(cast, {"bomb.xlsx": file.getvalue()}, kind=kind)
    assert imported.state == "refused" and "times its size" in imported.reason["msgid"]
    assert imported.reason["params"]["name"] == "bomb.xlsx"
    assert not imported.items.exists() and list((folder / "imports").iterdir()) == []


def test_a_gigabyte_of_text_is_refused_early(cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = gigabyte_of_text()
    assert len(sent) < 8 * MIB
    read: list[int] = []
    take = reader.look_at
    monkeypatch.setattr(reader, "look_at", lambda content: read.append(len(content)) or take(content))
    imported = sending.send(cast, {"log.txt.gz": sent})
    assert (imported.state, imported.groups) == ("ready", [])
    assert "larger than %(most)s MiB" in imported.items.get().refusal["msgid"]
    assert read == []


def test_garbage_is_refused_by_its_ends_without_reading_all_of_it(cast: SimpleNamespace) -> None:
    imported = sending.send(cast, {"zeros": bytes(2 * MIB), "lines": b"\n" * (2 * MIB) + b"x", "one": b"a" * 2 * MIB})
    texts = {item.file: item.refusal["msgid"] for item in imported.items.all()}
    assert texts == dict.fromkeys(
        ("zeros", "lines", "one"),
        "No tool is known by the beginning or the end of this file: send all of it as the tool printed it.",
    )


def test_paths_links_scripts_and_control_characters_do_no_harm(cast: SimpleNamespace, ends: list[Node]) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name in (
            "../../etc/cron.d/x",
            "<script>alert(1)</script>/a.json",
            "\x1b[2J\x00b.json",
            "=cmd|' /C calc'!A0",
        ):
            member = tarfile.TarInfo(name)
            member.size = len(GOOD)
            archive.addfile(member, io.BytesIO(GOOD))
        member = tarfile.TarInfo("link")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    imported = sending.send(cast, {"x.tar.gz": file.getvalue()})
    assert imported.state == "ready"
    refused = imported.items.filter(refusal__isnull=False).values_list("file", flat=True)
    assert list(refused) == ["../../etc/cron.d/x", "link"]
    assert not [name for name in imported.items.values_list("file", flat=True) if "\x1b" in name or "\x00" in name]


SAID = {
    "all lead out": ({"../../x.json": GOOD, "/etc/x.json": GOOD}, "has the reason of each"),
    "no file": ({"folder/": b""}, "No file is in it."),
}


@pytest.mark.parametrize("case", SAID)
def test_an_import_of_which_nothing_is_left_says_why(cast: SimpleNamespace, client: Client, case: str) -> None:
    files, words = SAID[case]
    imported = sending.send(cast, {"a.zip": zipped(files)})
    assert (imported.state, imported.groups) == ("ready", [])
    client.force_login(cast.oscar)
    reason = client.get(f"/api/v1/imports/{imported.pk}/").json()["reason"]
    assert words in reason
    page = html.unescape(client.get(imported.get_absolute_url()).content.decode())
    assert page.count(reason) == 1
    items = client.get(f"/api/v1/imports/{imported.pk}/items/").json()["results"]
    assert len(items) == imported.total
    for item in items:
        assert "leads out of the archive" in item["reason"] and item["reason"] in page


def test_what_is_there_already_is_the_reason_of_an_import_of_which_nothing_is_left(
    cast: SimpleNamespace, ends: list[Node]
) -> None:
    roles = {"client": [ends[0].pk], "server": [ends[1].pk]}
    imported = sending.send(cast, {"a.json": GOOD})
    assert imported.reason is None
    sending.store(sending.choose(imported, roles))
    again = sending.send(cast, {"a.json": GOOD})
    assert (again.groups, again.reason and again.reason["msgid"].partition(":")[0]) == (
        [],
        "All of it is there already",
    )


def test_nul_and_broken_encodings_within_outputs_are_stored_nowhere(cast: SimpleNamespace, ends: list[Node]) -> None:
    texts = {
        "nul.txt": b"$ ping -c 1 \x00x\n\x00\x00 what\n[exit 1]\n",
        "half.txt": b"PING \xed\xa0\x80 (10.0.0.1)\n\xff\xfe\n",
        "utf16.json": GOOD.decode().encode("utf-16"),
    }
    imported = sending.send(cast, texts)
    assert imported.state == "ready" and imported.groups == []
    assert imported.items.filter(refusal__isnull=False).count() == 3


def test_too_many_measurements_are_refused(cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_ITEMS", 2)
    imported = sending.send(cast, {f"{number}.txt": b"x" for number in range(3)})
    assert imported.state == "refused" and "send it in parts" in imported.reason["msgid"]


def test_too_many_files_or_bytes_are_refused_at_the_door(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [ContentFile(b"x", name=str(number)) for number in range(3)]
    monkeypatch.setattr(services, "MOST_FILES", 2)
    with pytest.raises(Refused, match="At most 2 files"):
        services.create_import(team=cast.team, user=cast.oscar, kind="outputs", files=files)
    monkeypatch.setattr(services, "MOST_BYTES", 1)
    with pytest.raises(Refused, match="MiB together"):
        services.create_import(team=cast.team, user=cast.oscar, kind="outputs", files=files[:2])
    assert not Import.objects.exists()


def test_a_file_at_which_workers_are_lost_is_passed_over(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, ends: list[Node]
) -> None:
    class Lost(BaseException):
        """A worker that was killed: nothing of it is caught."""

    take = reader.look_at

    def deadly(content: bytes, zone: tzinfo) -> object:
        if content == b"deadly":
            raise Lost
        return take(content, zone)

    monkeypatch.setattr(reader, "look_at", deadly)
    files = [ContentFile(text, name=str(number)) for number, text in enumerate((GOOD, b"deadly", b"x"))]
    imported = services.create_import(team=cast.team, user=cast.oscar, kind="outputs", files=files)
    now = timezone.now()
    for _attempt in range(2):
        with pytest.raises(Lost):
            work.advance_import(import_id=imported.pk, now=now)
        # Nobody else takes it on while another worker is at it, however long that takes.
        with leasing.elsewhere(work.ADVANCE_IMPORT, imported.pk):
            work.advance_import(import_id=imported.pk, now=timezone.now() + timedelta(hours=5))
    work.advance_import(import_id=imported.pk, now=now)
    imported.refresh_from_db()
    assert imported.state == "ready"
    assert [item.refusal["msgid"][:21] if item.refusal else "" for item in imported.items.all()] == [
        "",
        "Reading this file too",
        imported.items.last().refusal["msgid"][:21],
    ]


def test_what_takes_longer_is_carried_on_by_the_next_turn(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, ends: list[Node]
) -> None:
    monkeypatch.setattr(work, "TURN_S", -1.0)
    imported = sending.send(cast, {"a.zip": zipped({"a.json": GOOD, "b.txt": b"x"})})
    assert (imported.state, imported.claimed_at, imported.done) == ("reading", None, 1)
    monkeypatch.setattr(work, "TURN_S", 60.0)
    assert sending.advance(imported).state == "ready"
    work.advance_import(import_id=imported.pk, now=timezone.now())
    imported.refresh_from_db()
    assert imported.items.count() == 2


@pytest.mark.parametrize(("kind", "refusal"), [(b"slow", "takes too long"), (b"faulty", "went wrong on our side")])
def test_a_file_that_cannot_be_read_is_refused_and_the_others_are_read(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, ends: list[Node], kind: bytes, refusal: str
) -> None:
    look_at = reader.look_at

    def hostile(content: bytes, zone: tzinfo) -> list:
        while content == b"slow":
            pass
        if content == b"faulty":
            raise OverflowError
        return look_at(content, zone)

    monkeypatch.setattr(cpu_time, "READING_S", 0.3)
    monkeypatch.setattr(reader, "look_at", hostile)
    imported = sending.send(cast, {"a.zip": zipped({"a.txt": kind, "b.json": GOOD})})
    assert imported.state == "ready"
    refusals = {item.file: item.refusal and item.refusal["msgid"] for item in imported.items.all()}
    assert refusal in refusals.pop("a.txt")
    assert refusals == {"b.json": None}


def test_a_line_of_pairs_takes_no_time(cast: SimpleNamespace, ends: list[Node]) -> None:
    imported = sending.send(cast, {"a.txt": b"a=b" * 20 + b"  x\n"})
    assert imported.state == "ready"
