"""What was sent is on the disk before a row says so, and what is read is what was sent, or nothing is."""

import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from apps.archive.imports import columns, services, work
from apps.archive.imports.models import Import
from apps.archive.incoming import services as incoming
from apps.archive.models import IncomingArchive
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
    made = create(cast, "table", TABLE.encode())
    harm(var / "imports" / str(made.pk) / "0")
    assert_refused(sending.advance(made))


@pytest.mark.parametrize("harm", [cut, empty, spoil])
def test_nor_once_its_columns_have_a_meaning(cast: SimpleNamespace, var: Path, harm: Any) -> None:
    made = sending.advance(create(cast, "table", TABLE.encode()))
    meanings: columns.Mapped = {
        "streams": {"as": "parameter", "name": "streams"},
        "rate (Mbit/s)": {"as": "metric", "name": "goodput", "unit": "Mbit/s"},
    }
    services.map_columns(imported=made, tool="iperf3-tcp", mapping=meanings)
    harm(var / "imports" / str(made.pk) / "0")
    assert_refused(sending.advance(made))


@pytest.mark.parametrize(("harm", "number"), [(cut, 0), (empty, 1), (Path.unlink, 1)])
def test_nor_of_outputs_of_which_one_is_not(cast: SimpleNamespace, var: Path, harm: Any, number: int) -> None:
    recording = sending.recording("iperf3-tcp/winsweep_pnu/w1M_cubic_r0.json")
    made = create(cast, "outputs", recording, sending.zipped({"one.json": recording, "two.json": recording}))
    harm(var / "imports" / str(made.pk) / str(number))
    assert_refused(sending.advance(made))


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
    made = sending.advance(create(cast, "table", TABLE.encode()))
    assert made.state == Import.State.MAPPING
    assert work.advance_import(import_id=made.pk, now=timezone.now()) is False
