"""Where a backup may be: nothing of anybody's is lost by it, and it is not lost itself."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.core import whole_files
from launch import backup, drafts, last_step, restore
from launch.home import Home
from tests.launch.kept import served
from tests.no_files import NO_FILES

pytestmark = pytest.mark.usefixtures("no_database_of_the_tests")


@pytest.mark.parametrize("make", NO_FILES)
def test_what_is_no_file_stays_in_its_place(make: Callable[[Path], None], tmp_path: Path) -> None:
    place = tmp_path / "place"
    make(place)
    before = place.stat()
    with pytest.raises(backup.BackupError, match="is no file, but a device, a pipe or a socket"):
        backup.make(Home(tmp_path / "none"), place)
    with pytest.raises(backup.BackupError, match="is no file, but a device, a pipe or a socket"):
        restore.restore(Home(tmp_path / "none"), place)
    with pytest.raises(OSError, match="is no file, but a device, a pipe or a socket"):
        whole_files.write_whole(place, "content")
    assert os.path.samestat(place.stat(), before)


@pytest.mark.parametrize("way", ["itself", "below", "through a link", "through a link to it"])
@pytest.mark.parametrize("name", [*last_step.FILES, last_step.SECRET, "restored", "restored.new"])
def test_no_backup_is_among_what_it_packs_or_what_it_replaces(tmp_path: Path, name: str, way: str) -> None:
    var = tmp_path / "var"
    var.mkdir()
    place = var / name
    if name == last_step.SECRET:
        place.write_text("as it was\n")
        file = place
    else:
        place.mkdir(exist_ok=True)
        file = place / "of today" / "x.backup" if way == "below" else place / "x.backup"
    if way == "through a link":
        (tmp_path / "link").symlink_to(file)
        file = tmp_path / "link"
    elif way == "through a link to it" and place.is_dir():
        place.rename(tmp_path / "another disk")
        place.symlink_to(tmp_path / "another disk")
        file = tmp_path / "another disk" / "x.backup"
    words = "which each backup packs and each restore replaces: keep backups elsewhere"
    for verb in (backup.make, restore.restore):
        with pytest.raises(backup.BackupError, match=words):
            verb(Home(var), file)
    assert name != last_step.SECRET or place.read_text() == "as it was\n"


def test_one_in_the_services_folder_beside_them_is_made_and_restored(var: Path) -> None:
    file = var / "x.backup"
    with served(var):
        backup.make(Home(var), file)
    restore.restore(Home(var), file)
    assert file.exists()


@pytest.mark.parametrize("name", last_step.FILES)
def test_no_draft_is_packed_nor_is_anything_waited_for(var: Path, tmp_path: Path, name: str) -> None:
    place = var / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / "1").write_text("of the service")
    (place / f"x.backup.abc{drafts.END}").write_text("secrets")
    os.mkfifo(place / "pipe")
    os.mkfifo(tmp_path / f"a{drafts.END}")
    (tmp_path / f"b{drafts.END}").symlink_to(place / "pipe")
    with served(var):
        backup.make(Home(var), tmp_path / "x.backup")
    with backup.opened(tmp_path / "x.backup") as one:
        assert one.archive
        assert [item for item in one.archive.namelist() if item.startswith(f"{name}/")] == [f"{name}/1"]
