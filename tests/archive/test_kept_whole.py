"""What was sent is on the disk before a row says so, and what is read is what was sent, or nothing is."""

import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile
from django.db import connection
from django.utils import timezone

from apps.accounts import quotas
from apps.archive.imports import columns, services, work
from apps.archive.imports.models import Import
from apps.archive.incoming import services as incoming
from apps.archive.models import IncomingArchive
from apps.campaigns.errors import Refused
from apps.core import messages
from apps.core.errors import ConflictError
from tests.archive.imports import sending
from tests.power import Disk

TABLE = "streams,rate (Mbit/s)\n" + "".join(f"{number},{1000 + number}\n" for number in range(900))
NOT_WHOLE = "What was sent is no longer whole on the server's disk: send it again."


@pytest.fixture(autouse=True)
def var(settings: Any, tmp_path: Path) -> Path:
    settings.VAR_DIR = tmp_path / "var"
    settings.VAR_DIR.mkdir()
    return tmp_path / "var"


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def create(cast: SimpleNamespace, kind: str, *contents: bytes) -> Import:
    files = [ContentFile(content, name=f"{number}.txt") for number, content in enumerate(contents)]
    return services.create_import(team=cast.team, user=cast.oscar, kind=kind, files=files)


def test_uploads_are_on_the_disk_before_their_sender_is_told(cast: SimpleNamespace, disk: Disk, var: Path) -> None:
    create(cast, "outputs", *(bytes([number]) * 5000 for number in range(3)))
    assert disk.may_lose(var) == []


def test_archives_are_on_the_disk_before_their_sender_is_told(cast: SimpleNamespace, disk: Disk, var: Path) -> None:
    incoming.take(team=cast.team, user=cast.oscar, file=ContentFile(b"PK\x03\x04" + bytes(9000), name="a.zip"))
    assert disk.may_lose(var) == []


def cut(path: Path) -> None:
    """Leave the first page of a file, as a power cut may."""
    path.write_bytes(path.read_bytes()[:4096])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def spoil(path: Path) -> None:
    """Leave a file as long as it was, with one digit changed, as a disk may."""
    path.write_bytes(path.read_bytes().replace(b"1299", b"1099"))


@pytest.mark.parametrize("harm", [cut, empty, spoil])
def test_of_a_table_that_is_not_what_was_sent_nothing_is_read(cast: SimpleNamespace, var: Path, harm: Any) -> None:
    imported = create(cast, "table", TABLE.encode())
    harm(var / "imports" / str(imported.pk) / "0")
    assert_refused(sending.advance(imported))


@pytest.mark.parametrize("harm", [cut, empty, spoil])
def test_nor_once_its_columns_have_a_meaning(cast: SimpleNamespace, var: Path, harm: Any) -> None:
    imported = sending.advance(create(cast, "table", TABLE.encode()))
    meanings: columns.Mapped = {
        "streams": {"as": "parameter", "name": "streams"},
        "rate (Mbit/s)": {"as": "metric", "name": "goodput", "unit": "Mbit/s"},
    }
    services.map_columns(imported=imported, tool="iperf3-tcp", mapping=meanings)
    harm(var / "imports" / str(imported.pk) / "0")
    assert_refused(sending.advance(imported))


@pytest.mark.parametrize(("harm", "number"), [(cut, 0), (empty, 1), (Path.unlink, 1)])
def test_nor_of_outputs_of_which_one_is_not(cast: SimpleNamespace, var: Path, harm: Any, number: int) -> None:
    recording = sending.recording("iperf3-tcp/winsweep_pnu/w1M_cubic_r0.json")
    imported = create(cast, "outputs", recording, sending.zipped({"one.json": recording, "two.json": recording}))
    harm(var / "imports" / str(imported.pk) / str(number))
    assert_refused(sending.advance(imported))


def assert_refused(imported: Import) -> None:
    assert imported.state == Import.State.REFUSED
    assert messages.render(imported.reason) in (NOT_WHOLE, "What was sent is no longer there: send it again.")
    assert imported.items.count() == 0


@pytest.mark.parametrize("harm", [cut, empty])
@pytest.mark.parametrize("agreed", [False, True])
def test_an_archive_that_is_shorter_than_was_sent_is_to_be_sent_again(
    cast: SimpleNamespace, var: Path, harm: Any, agreed: bool
) -> None:
    path = var / "sent.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", bytes(9000))
    made = incoming.take(team=cast.team, user=cast.oscar, file=ContentFile(path.read_bytes(), name="a.zip"))
    if agreed:
        IncomingArchive.objects.filter(pk=made.pk).update(state="agreed", preview={"counts": {}})
    harm(made.path)
    assert incoming.carry_out_next(now=timezone.now())
    made.refresh_from_db()
    words = "The file is gone, or no longer whole: send the archive again."
    assert (made.state, messages.render(made.reason), made.path.exists()) == ("refused", words, False)
    with pytest.raises(ConflictError):
        incoming.agree(incoming=made, user=cast.oscar)


def test_what_is_whole_is_read(cast: SimpleNamespace) -> None:
    imported = sending.advance(create(cast, "table", TABLE.encode()))
    assert imported.state == Import.State.MAPPING
    assert work.advance_import(import_id=imported.pk, now=timezone.now()) is False


class SlowDisk(Disk):
    """Notes of each wait for the disk whether it was within a transaction."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(monkeypatch)
        self.waits: list[bool] = []
        real = os.fsync

        def fsync(descriptor: int) -> None:
            self.waits.append(connection.in_atomic_block)
            real(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)


def take_archive(cast: SimpleNamespace) -> IncomingArchive:
    return incoming.take(team=cast.team, user=cast.oscar, file=ContentFile(b"PK\x03\x04" + bytes(9000), name="a.zip"))


def send_table(cast: SimpleNamespace) -> Import:
    return create(cast, "table", TABLE.encode())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("send", [send_table, take_archive])
def test_no_transaction_waits_for_the_disk(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, send: Callable[[SimpleNamespace], Any]
) -> None:
    disk = SlowDisk(monkeypatch)
    send(cast)
    assert disk.waits
    assert not any(disk.waits)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("send", [send_table, take_archive])
def test_others_of_the_team_are_taken_while_one_waits_for_the_disk(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, send: Callable[[SimpleNamespace], Any]
) -> None:
    real, waits, goes_on = os.fsync, threading.Event(), threading.Event()

    def fsync(descriptor: int) -> None:
        if threading.current_thread().name == "slow":
            waits.set()
            assert goes_on.wait(60)
        real(descriptor)

    def send_slowly() -> None:
        try:
            made.append(send(cast).pk)
        finally:
            connection.close()

    monkeypatch.setattr(os, "fsync", fsync)
    made: list[int] = []
    slow = threading.Thread(target=send_slowly, name="slow")
    slow.start()
    try:
        assert waits.wait(30)
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '3s'")
        other = send(cast)
    finally:
        goes_on.set()
        slow.join()
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
    assert made
    assert made[0] < other.pk


@pytest.mark.parametrize("send", [send_table, take_archive])
def test_what_no_longer_fits_once_it_is_on_the_disk_leaves_nothing(
    cast: SimpleNamespace, settings: Any, var: Path, monkeypatch: pytest.MonkeyPatch, send: Any
) -> None:
    settings.QUOTA_STORED_BYTES = 20_000
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        quotas.set_stored(sizes={cast.team.pk: 19_999}, now=timezone.now())

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises((Refused, ValidationError)):
        send(cast)
    kept = [path for name in ("imports", "archives") for path in (var / name).glob("*")]
    assert (kept, Import.objects.count(), IncomingArchive.objects.count()) == ([], 0, 0)
