"""What is the service's own trouble ends no long work and deletes nothing: it is tried again, and goes through."""

import errno
import html
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.db import DataError, InterfaceError, OperationalError, connection
from django.utils import timezone
from rest_framework.fields import DateTimeField

from apps.archive.imports import reader, work
from apps.archive.incoming import services as archives
from apps.archive.models import IncomingArchive
from apps.core import troubles
from apps.core.models import SetAside
from tests import factories
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


# What is told of each.
TOLD = {
    "disk of the database full": "full",
    "lock not had": "locked",
    "deadlock": "locked",
    "session terminated": "away",
    "connection lost": "away",
    "disk full": "full",
    "quota reached": "full",
    "too many files": "machine",
}


def shown(cast: SimpleNamespace, page: str, address: str) -> tuple[str, dict[str, Any]]:
    """Return what whoever sent a thing sees of it: its page, and over REST."""
    browser = factories.signed_in(cast.oscar)
    return html.unescape(browser.get(page).content.decode()), browser.get(address).json()


def assert_told(page: str, retry: dict[str, Any], name: str, aside: SetAside) -> None:
    """The reason and the next time are told; what the error itself says is not."""
    words = troubles.WORDS[TOLD[name]]
    assert retry == {"why": words, "attempts": 1, "next_at": DateTimeField().to_representation(aside.retry_at)}
    assert words in page
    assert "It is tried again by itself:" in page
    assert aside.retry_at.isoformat()[:19] in page
    assert str(OURS[name]()) not in page


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
    page, told = shown(cast, imported.get_absolute_url(), f"/api/v1/imports/{imported.pk}/")
    assert_told(page, told["retry"], name, aside)
    work.advance_import(import_id=imported.pk, now=timezone.now() + timedelta(hours=1))
    imported.refresh_from_db()
    assert (imported.state, imported.items.count()) == ("ready", 1)
    assert not SetAside.objects.exists()
    page, told = shown(cast, imported.get_absolute_url(), f"/api/v1/imports/{imported.pk}/")
    assert told["retry"] is None
    assert "tried again" not in page


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
        broken.setattr(archives, "_take_on", fail)
        archives.carry_out_next(now=timezone.now())
    incoming.refresh_from_db()
    assert (incoming.state, incoming.attempts) == ("waiting", 0)
    assert incoming.path.is_file()
    aside = SetAside.objects.get(work=archives.TAKE_ARCHIVES, row_id=incoming.pk)
    page, told = shown(cast, incoming.get_absolute_url(), f"/api/v1/campaign-archives/{incoming.pk}/")
    assert_told(page, told["retry"], name, aside)
    # What is wrong with the archive itself is told.
    archives.carry_out_next(now=timezone.now() + timedelta(hours=1))
    incoming.refresh_from_db()
    assert incoming.state == "refused"


@pytest.mark.django_db
def test_what_is_wrong_with_the_content_is_not_our_trouble() -> None:
    for error in (DataError("too long"), ValueError("no figure"), FileNotFoundError(), OSError(errno.EINVAL, "x")):
        assert not troubles.is_ours(error)
    assert connection.is_usable()
