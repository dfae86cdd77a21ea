"""Workers that were lost with PostgreSQL, or with the whole service, count against no import and no archive."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.archive.imports import work
from apps.archive.imports.models import Import
from apps.archive.incoming import services as incoming
from apps.archive.models import IncomingArchive
from tests.archive.imports import sending

LONG_AGO = timedelta(days=365)


@pytest.mark.parametrize(("ago", "losses"), [(timedelta(0), 1), (LONG_AGO, 0)])
def test_an_import_whose_worker_went_with_the_server_has_lost_none(
    cast: SimpleNamespace, ago: timedelta, losses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = sending.send(cast, {"a.csv": b"streams,rate\n1,941\n"}, kind="table")
    seen: list[int] = []
    monkeypatch.setattr(work, "_advance", lambda row, *_more: seen.append(row.stuck))
    Import.objects.filter(pk=imported.pk).update(state="reading", claimed_at=timezone.now() - ago, stuck=0)
    work.advance_import(import_id=imported.pk, now=timezone.now())
    assert seen == [losses]


@pytest.mark.parametrize(("ago", "state"), [(timedelta(0), "refused"), (LONG_AGO, "waiting")])
def test_an_archive_whose_worker_went_with_the_server_is_taken_again(
    cast: SimpleNamespace, ago: timedelta, state: str
) -> None:
    row = IncomingArchive.objects.create(
        team=cast.team, created_by=cast.oscar, name="a.zip", size=7, state="checking",
        attempts=incoming.MOST_ATTEMPTS, alive_at=timezone.now() - ago,
    )  # fmt: skip
    incoming.resume(now=timezone.now())
    row.refresh_from_db()
    assert row.state == state
