"""Imports that nobody decides on expire after some days; those that are decided, or worked at, never do."""

from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.archive.imports import services, work
from apps.archive.imports.models import Import
from apps.campaigns.errors import WrongState
from apps.testbeds.models import Node
from tests import factories
from tests.agents.factories import listening
from tests.archive.imports import sending
from workers import tasks

TABLE = b"window (KiB),rate\n64,105\n"
OUTPUT = sending.recording("iperf3-tcp/winsweep_pnu/w64K_cubic_r1.json")


def changed(imported: Import, days: float) -> Import:
    """Let an import have changed so many days ago for the last time."""
    Import.objects.filter(pk=imported.pk).update(updated_at=timezone.now() - timedelta(days=days))
    imported.refresh_from_db()
    return imported


def test_what_nobody_decides_on_goes_with_its_files_and_says_what_to_do(
    cast: SimpleNamespace, folder: Path, client: Client
) -> None:
    table = sending.send(cast, {"a.csv": TABLE}, kind="table")
    outputs = sending.send(cast, {"a.json": OUTPUT})
    assert (table.state, outputs.state, outputs.items.count()) == ("mapping", "ready", 1)
    for imported in (table, outputs):
        changed(imported, 13.9)
    listening()
    tasks.retain()
    assert Import.objects.filter(state="expired").count() == 0
    assert (folder / "imports" / str(table.pk)).is_dir()
    for imported in (table, outputs):
        changed(imported, 14.1)
    tasks.retain()
    client.force_login(cast.oscar)
    for imported in (table, outputs):
        imported.refresh_from_db()
        assert (imported.state, imported.items.count(), imported.kept_until) == ("expired", 0, None)
        assert not (folder / "imports" / str(imported.pk)).exists()
        page = client.get(imported.get_absolute_url()).content.decode()
        assert "Nobody decided on it within 14 days" in page and "/imports/new/" in page
        with pytest.raises(WrongState, match="expired"):
            services.complete_import(imported=imported, groups={})
    assert client.post(f"{table.get_absolute_url()}discard/").status_code == 302


@pytest.mark.parametrize("state", ["waiting", "reading", "storing", "done", "refused", "expired"])
def test_what_is_worked_at_or_decided_never_expires(cast: SimpleNamespace, state: str) -> None:
    imported = Import.objects.create(team=cast.team, kind="outputs", name="a", state=state, total=3)
    changed(imported, 1000)
    work.expire(now=timezone.now())
    imported.refresh_from_db()
    assert (imported.state, imported.total, imported.kept_until) == (state, 3, None)


def test_whatever_is_said_of_it_begins_the_days_anew(cast: SimpleNamespace, ends: list[Node]) -> None:
    imported = changed(sending.send(cast, {"a.json": OUTPUT}), 13.9)
    sending.choose(imported, {"client": [ends[0].pk], "server": [ends[1].pk]})
    work.expire(now=timezone.now() + timedelta(days=13))
    imported.refresh_from_db()
    assert imported.state == "ready"
    work.expire(now=timezone.now() + timedelta(days=14))
    imported.refresh_from_db()
    assert imported.state == "expired"


def test_the_page_and_rest_tell_until_when_it_is_kept(cast: SimpleNamespace, client: Client, settings: Any) -> None:
    settings.UNDECIDED_DAYS = 3
    imported = sending.send(cast, {"a.json": OUTPUT})
    Import.objects.update(updated_at=datetime.fromisoformat("2026-03-01T20:00:00+00:00"))
    User.objects.filter(pk=cast.oscar.pk).update(timezone="Asia/Seoul")
    cast.oscar.refresh_from_db()
    client.force_login(cast.oscar)
    for address in (imported.get_absolute_url(), "/imports/"):
        assert ">2026-03-05 05:00</time>" in client.get(address).content.decode()
    told = client.get(f"/api/v1/imports/{imported.pk}/", **factories.bearer(cast.oscar)).json()
    assert told["kept_until"].startswith("2026-03-0") and told["state"] == "ready"
