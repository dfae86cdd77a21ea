"""What of an agent's folder is cleared away beside it is made anew: nothing that its next start needs is lost."""

import json
import os
import shutil
from pathlib import Path

import pytest

from apps.agents.models import Agent
from apps.testbeds.models import Node
from tests.agent.program import AgentProgram
from tests.agent.states import ended
from tests.agents import factories
from tests.agents.live import wait_for
from workers.agent.clock import Clock
from workers.agent.config_keeper import ConfigKeeper
from workers.agent.disks import Disk
from workers.agent.removal import Clearing
from workers.agent.spool import Spool
from workers.agent.troubles import Troubles
from workers.agent.unsent import Unsent

CONFIG = {"server": "http://localhost:1", "token": "secret", "node": "left"}


def write_config(folder: Path, **values: str) -> Path:
    path = folder / "agent.json"
    path.write_text(json.dumps(CONFIG | values))
    path.chmod(0o600)
    return path


def everything_in(folder: Path) -> set[tuple[str, int]]:
    """Return each file and folder of an agent, as (name, rights)."""
    return {
        (path.name, path.stat().st_mode) for path in (folder, *folder.iterdir()) if path.name != "status.json.new"
    }


@pytest.mark.django_db(transaction=True)
def test_whatever_is_removed_is_there_for_the_next_start(agent: AgentProgram, node: Node) -> None:
    wait_for(lambda: Agent.objects.filter(last_seen_at__isnull=False).first())
    wait_for(lambda: (agent.folder / "status.json").exists() and (agent.folder / "place").exists())
    whole, text = everything_in(agent.folder), (agent.folder / "agent.json").read_text()
    assert {"agent.json", "lock", "place", "spool", "work"} < {name for name, _mode in whole}
    for paths in (sorted(agent.folder.iterdir()), [agent.folder]):
        for path in paths:
            (shutil.rmtree if path.is_dir() else Path.unlink)(path)
        # Ends the poll under way.
        ended(factories.job(node, "say"))
        wait_for(lambda: agent.folder.exists() and everything_in(agent.folder) == whole, 60)
    assert (agent.folder / "agent.json").read_text() == text
    assert "config-unusable" not in [trouble["code"] for trouble in Agent.objects.get().troubles]
    agent.stop()
    agent.start()
    assert ended(factories.job(node, "say")).fault == ""


@pytest.mark.parametrize(("name", "mode"), [("spool", 0o700), ("work", 0o711), ("spool/a.jsonl", 0o700)])
def test_jobs_in_hand_are_known_after_a_restart(tmp_path: Path, name: str, mode: int) -> None:
    (tmp_path / "work").mkdir(mode=0o711)
    spool = Spool(tmp_path / "spool")
    record = spool.accept({"id": "a", "argv": ["true"]})
    spool.note(record, started_at=1.0)
    troubles = Troubles(spool, tmp_path / "work", Clock(), Clearing(), (), Unsent())
    assert troubles.look() == []
    (shutil.rmtree if (tmp_path / name).is_dir() else Path.unlink)(tmp_path / name)
    assert troubles.look() == []
    assert (tmp_path / name.split("/")[0]).stat().st_mode & 0o777 == mode
    spool.note(record, ended_at=2.0)
    spool.sync(record)
    # What is in hand would be known after a restart.
    opened = Spool.open(tmp_path / "spool").get("a")
    assert opened is not None
    assert opened.facts == {"job": {"id": "a", "argv": ["true"]}, "started_at": 1.0, "ended_at": 2.0}


def test_what_is_put_back_is_what_its_owner_wrote_last(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    path.chmod(0o640)
    keeper = ConfigKeeper(tmp_path, Disk())
    path.write_text(json.dumps(CONFIG | {"user": "bench"}))
    assert keeper.trouble() is None
    before, state = path.read_text(), path.stat()
    path.unlink()
    assert keeper.trouble() is None
    now = path.stat()
    assert path.read_text() == before
    assert (now.st_mode, now.st_uid, now.st_gid) == (state.st_mode, state.st_uid, state.st_gid)
    assert [entry.name for entry in tmp_path.iterdir()] == ["agent.json"]


def test_what_the_next_start_could_not_read_is_told(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    keeper = ConfigKeeper(tmp_path, Disk())
    path.write_text("{")
    assert keeper.trouble()[0] == "config-unusable"
    write_config(tmp_path)
    assert keeper.trouble() is None
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    code, words = keeper.trouble()
    assert (code, f"{path} was removed and cannot be put back" in words) == ("config-unusable", True)
    assert not (tmp_path / "nowhere").exists()
    path.unlink()
    assert keeper.trouble() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a folder away")
def test_the_token_is_put_into_no_folder_of_another_user(tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    folder.mkdir(mode=0o711)
    write_config(folder)
    keeper = ConfigKeeper(folder, Disk())
    shutil.rmtree(folder)
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    assert "another user's" in keeper.trouble()[1]
    assert list(folder.iterdir()) == []
