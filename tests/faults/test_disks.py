"""What is left on disks is seen: of jobs on agents' disks, and of temporary files whose processes are gone."""

import fcntl
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.faults import disks, small_disks
from tests.faults.small_disks import SmallDisk


@pytest.fixture
def site(tmp_path: Path) -> SimpleNamespace:
    """Return a site's disks: an agent's, and a folder of temporary files that a process holds."""
    for name in ("agents/one/spool", "agents/one/work", "var/tmp/held", "shared"):
        (tmp_path / name).mkdir(parents=True)
    agent = SimpleNamespace(name="one", local=SimpleNamespace(folder=tmp_path / "agents" / "one"))
    with (tmp_path / "var/tmp/held/lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield SimpleNamespace(root=tmp_path, var=tmp_path / "var", shared=tmp_path / "shared", agents={"one": agent})


def test_nothing_is_left_where_all_is_in_use(site: SimpleNamespace) -> None:
    assert list(disks.left_on_disks(site)) == []


@pytest.mark.parametrize(
    ("folder", "name"),
    [("agents/one/spool", "job.jsonl"), ("agents/one/work", "job"), ("var/tmp/held", "upload")],
)
def test_a_file_that_nobody_needs_is_left(site: SimpleNamespace, folder: str, name: str) -> None:
    (site.root / folder / name).touch()
    (finding,) = disks.left_on_disks(site)
    assert f"{folder}/{name}" in finding.text


def test_a_folder_whose_process_is_gone_is_left(site: SimpleNamespace) -> None:
    folder = site.var / "tmp" / "gone"
    folder.mkdir()
    assert disks.abandoned(site) == [folder]
    (folder / "lock").touch()
    assert disks.abandoned(site) == [folder]
    (finding,) = disks.left_on_disks(site)
    assert "gone" in finding.text


def test_a_service_without_temporary_files_has_left_none(site: SimpleNamespace, tmp_path: Path) -> None:
    site.var = tmp_path / "empty"
    assert disks.abandoned(site) == []


@pytest.mark.skipif(not small_disks.MAY_MOUNT, reason="nothing can be mounted here")
def test_a_small_disk_is_full_for_a_while_and_leaves_what_was_on_it(tmp_path: Path) -> None:
    folder = tmp_path / "agents" / "one"
    disk, record = SmallDisk(folder, 1), folder / "record"
    try:
        record.write_text("before")
        with disk.full():
            with pytest.raises(OSError, match="No space left"):
                (folder / "more").write_bytes(b"0" * 4096)
            record.unlink()
            # What comes free is taken, too.
            time.sleep(3 * small_disks._AGAIN_S)
            with pytest.raises(OSError, match="No space left"):
                record.write_bytes(b"0" * 4096)
        record.write_text("after")
    finally:
        disk.take_away()
    assert not folder.is_mount()
    assert record.read_text() == "after"
    assert sorted(path.name for path in folder.iterdir()) == ["more", "record"]
