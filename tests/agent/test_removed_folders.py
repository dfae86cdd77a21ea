"""Folders of an agent that are cleared away beside it are made anew, with what is in hand."""

import shutil
from pathlib import Path

import pytest

from workers.agent.clock import Clock
from workers.agent.disks import Disk
from workers.agent.keeper import Keeper
from workers.agent.removal import Clearing
from workers.agent.spool import Spool
from workers.agent.troubles import Troubles
from workers.agent.unsent import Unsent


@pytest.mark.parametrize(("name", "mode"), [("spool", 0o700), ("work", 0o711)])
def test_a_folder_that_was_removed_is_made_anew(tmp_path: Path, name: str, mode: int) -> None:
    (tmp_path / "work").mkdir(mode=0o711)
    spool = Spool(tmp_path / "spool")
    record = spool.accept({"id": "a", "argv": ["true"]})
    spool.note(record, started_at=1.0)
    troubles = Troubles(spool, tmp_path / "work", Clock(), Clearing(), Keeper(None, Disk()), Unsent())
    assert troubles.look() == []
    shutil.rmtree(tmp_path / name)
    assert troubles.look() == []
    assert (tmp_path / name).stat().st_mode & 0o777 == mode
    spool.note(record, ended_at=2.0)
    spool.sync(record)
    # What is in hand would be known after a restart.
    opened = Spool.open(tmp_path / "spool").get("a")
    assert opened is not None
    assert opened.facts == {"job": {"id": "a", "argv": ["true"]}, "started_at": 1.0, "ended_at": 2.0}
