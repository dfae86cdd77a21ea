"""Where root writes a backup, and what its servers leave in the folder of a user, whatever takes a name meanwhile."""

import contextlib
import zipfile
from pathlib import Path

import pytest

from launch import backup, embedded, owners, process
from launch.home import Home
from tests.launch.test_owners import USER, archive, home, needs_root
from tests.launch.test_planted_links import of_root, state_of

__all__ = ["archive", "home", "of_root"]
pytestmark = needs_root


def test_a_backup_is_written_to_the_folder_that_was_asked_for_whatever_takes_its_name(
    home: Home, of_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "backups"
    place.mkdir()

    def swap(_address: str, _archive: zipfile.ZipFile) -> None:
        place.rename(tmp_path / "away")
        place.symlink_to(of_root)

    monkeypatch.setattr(backup, "_address", lambda *_args: contextlib.nullcontext(""))
    monkeypatch.setattr(backup, "_dump", swap)
    before = state_of(of_root)
    backup.make(home, place / "x.backup")
    assert state_of(of_root) == before
    assert [path.name for path in (tmp_path / "away").iterdir()] == ["x.backup"]


@pytest.mark.parametrize("name", ["backups", "backups/nightly"])
def test_a_folder_that_is_a_link_by_now_is_not_had(of_root: Path, tmp_path: Path, name: str) -> None:
    asked = tmp_path / "backups" / "nightly"
    asked.mkdir(parents=True)
    place = owners.resolved(asked)
    (tmp_path / name).rename(tmp_path / "away")
    (of_root / "nightly").mkdir(exist_ok=True)
    (tmp_path / name).symlink_to(of_root)
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"), owners.pinned(place):
        pass


@pytest.mark.parametrize("is_left", [False, True])
def test_what_roots_broker_leaves_is_the_folders_users(home: Home, is_left: bool) -> None:
    data = home.folder / "valkey"
    server = embedded.valkey(data)
    for name in ("appendonlydir", "appendonlydir.refused") if is_left else ():
        (data / name).mkdir()
        (data / name / "x.aof").write_text("")
    server = embedded.valkey(data)
    child = process.Child(server.process, log=home.logs / "valkey.log")
    try:
        child.wait_ready()
    finally:
        child.stop()
        server.forget_sockets()
    left = {path: path.lstat().st_uid for path in data.rglob("*")}
    assert data / "appendonlydir" in left
    assert set(left.values()) == {USER.pw_uid}
