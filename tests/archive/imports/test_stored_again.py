"""What keeps an import from being stored removes nothing that was sent: a person sees why, and stores it again."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection

from apps.archive.imports import checks, reader, services, work
from apps.archive.imports.models import Import
from apps.testbeds.models import FileSystem, Link, Node
from tests.archive.imports import sending

OUTPUT = sending.recording("iperf3-tcp/winsweep_pnu/w64K_cubic_r1.json")


class KilledError(BaseException):
    """Stands for the death of a worker: nothing handles it."""


def die(*_given: object) -> None:
    """Be killed."""
    raise KilledError


@pytest.fixture
def ready(cast: SimpleNamespace, folder: Path, ends: list[Node]) -> Import:
    """Return an import that lacks nothing but being stored."""
    roles = {"client": [ends[0].pk], "server": [ends[1].pk]}
    return sending.choose(sending.send(cast, {"a.json": OUTPUT}), roles)


def test_an_import_whose_workers_die_goes_back_to_whoever_sent_it(
    ready: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = services.store_import(imported=ready)
    for _death in range(reader.MOST_LOSSES):
        assert imported.state == "storing"
        with monkeypatch.context() as dying:
            dying.setattr(work.store, "store", die)
            with pytest.raises(KilledError):
                sending.advance(imported)
        imported.refresh_from_db()
    imported = sending.advance(imported)
    assert (imported.state, imported.stuck, imported.items.count()) == ("ready", 0, 1)
    assert imported.reason and "Workers were lost" in str(imported.reason)
    assert sending.store(imported).state == "done"


@pytest.mark.parametrize("name", ["near", "far", "file system", "user"])
@pytest.mark.parametrize("step", ["check_on", "store"])
def test_what_is_deleted_in_mid_store_takes_nothing_along(
    name: str, step: str, ready: Import, cast: SimpleNamespace, ends: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    system = FileSystem.objects.create(team=cast.team, name="scratch")
    for choice in ready.choices.values():
        choice["file_system"] = system.pk
    ready.save()
    things = {"near": ends[0], "far": ends[1], "file system": system, "user": cast.oscar}
    Link.objects.all().delete()
    check_on, store = checks.check_on, work.store.store

    def check(*given: Any, **more: Any) -> bool:
        if step == "check_on":
            things[name].delete()
        is_whole = check_on(*given, **more)
        if step == "store":
            things[name].delete()
        return is_whole

    def store_at_once(*given: Any) -> Any:
        campaign = store(*given)
        connection.check_constraints()
        return campaign

    monkeypatch.setattr(checks, "check_on", check)
    monkeypatch.setattr(work.store, "store", store_at_once)
    stored = sending.store(ready)
    assert (stored.state, stored.items.count()) == ("ready", 1)
    assert "deleted or changed meanwhile" in str(stored.reason)
