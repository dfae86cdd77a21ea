"""What keeps an import from being stored removes nothing that was sent: a person sees why, and stores it again."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from apps.archive.imports import reader, services, work
from apps.archive.imports.models import Import
from apps.testbeds.models import Node
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
