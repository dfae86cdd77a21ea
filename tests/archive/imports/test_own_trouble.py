"""What is the service's own trouble ends no long work and deletes nothing: it is tried again, and goes through."""

import errno
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.db import DataError, InterfaceError, OperationalError, connection
from django.utils import timezone

from apps.archive.imports import reader, work
from apps.archive.incoming import services as archives
from apps.archive.models import IncomingArchive
from apps.core import troubles
from apps.core.models import SetAside
from tests.archive.imports import sending

OUTPUT = sending.recording("iperf3-tcp/winsweep_pnu/w64K_cubic_r1.json")


def of_database(kind: type[psycopg.Error]) -> Exception:
    """Return what Django makes of an error of the database."""
    error = OperationalError("could not extend file")
    error.__cause__ = kind("could not extend file")
    return error


OURS: dict[str, Callable[[], Exception]] = {
    "disk of the database full": lambda: of_database(psycopg.errors.DiskFull),
    "lock not had": lambda: of_database(psycopg.errors.LockNotAvailable),
    "deadlock": lambda: of_database(psycopg.errors.DeadlockDetected),
    "session terminated": lambda: of_database(psycopg.errors.AdminShutdown),
    "connection lost": lambda: InterfaceError("the connection is closed"),
    "disk full": lambda: OSError(errno.ENOSPC, "No space left on device"),
    "quota reached": lambda: OSError(errno.EDQUOT, "Disk quota exceeded"),
    "too many files": lambda: OSError(errno.EMFILE, "Too many open files"),
}


@pytest.mark.parametrize("name", OURS)
def test_an_import_is_carried_on_when_the_trouble_is_over(
    name: str, cast: SimpleNamespace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: Any, **_more: Any) -> bool:
        raise OURS[name]()

    with monkeypatch.context() as broken:
        broken.setattr(reader, "read_on", fail)
        imported = sending.send(cast, {"a.json": OUTPUT})
    assert (imported.state, imported.claimed_at, imported.stuck) == ("reading", None, 0)
    aside = SetAside.objects.get(work=work.ADVANCE_IMPORT, row_id=imported.pk)
    assert str(OURS[name]()) in aside.reason
    work.advance_import(import_id=imported.pk, now=timezone.now() + timedelta(hours=1))
    imported.refresh_from_db()
    assert (imported.state, imported.items.count()) == ("ready", 1)
    assert not SetAside.objects.exists()


@pytest.mark.parametrize("name", OURS)
def test_an_archive_is_looked_through_when_the_trouble_is_over(
    name: str, cast: SimpleNamespace, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR = tmp_path
    incoming = IncomingArchive.objects.create(team=cast.team, created_by=cast.oscar, name="a.zip", size=22)
    incoming.path.parent.mkdir(parents=True, exist_ok=True)
    incoming.path.write_bytes(b"not yet looked through")

    def fail(*_given: Any) -> None:
        raise OURS[name]()

    with monkeypatch.context() as broken:
        broken.setattr(archives, "_look_through", fail)
        archives.carry_out_next(now=timezone.now())
    incoming.refresh_from_db()
    assert (incoming.state, incoming.attempts) == ("waiting", 0)
    assert incoming.path.is_file()
    # What is wrong with the archive itself is told.
    archives.carry_out_next(now=timezone.now() + timedelta(hours=1))
    incoming.refresh_from_db()
    assert incoming.state == "refused"


@pytest.mark.django_db
def test_what_is_wrong_with_the_content_is_not_our_trouble() -> None:
    for error in (DataError("too long"), ValueError("no figure"), FileNotFoundError(), OSError(errno.EINVAL, "x")):
        assert not troubles.is_ours(error)
    assert connection.is_usable()
