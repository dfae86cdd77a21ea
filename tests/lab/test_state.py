import fcntl
from pathlib import Path

import pytest

from lab.state import Place


def test_two_folders_never_share_a_name(tmp_path: Path) -> None:
    one, two = Place(tmp_path / "one"), Place(tmp_path / "two")
    assert one.namespace_prefix != two.namespace_prefix
    assert one.interface_prefix != two.interface_prefix
    assert one.namespace_of("kisti-1").startswith("fathom-")


def test_a_folder_has_the_same_names_however_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Place(Path("lab")).token == Place(tmp_path / "lab").token


def test_an_interface_of_a_large_lab_still_has_at_most_15_bytes(tmp_path: Path) -> None:
    prefix = Place(tmp_path).interface_prefix
    assert max(map(len, (f"{prefix}br", f"{prefix}m249", f"{prefix}999a"))) <= 15


def test_the_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write_state({"lab": "부산"})
    assert place.read_state() == {"lab": "부산"}
    place.forget_state()
    place.forget_state()
    assert place.read_state() is None


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_broken_state_is_no_state(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)
    assert Place(tmp_path).read_state() is None


def test_one_command_at_a_time_holds_the_lock(tmp_path: Path) -> None:
    place = Place(tmp_path / "made" / "now")
    with place.locked(), (place.folder / "lock").open("w") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with (place.folder / "lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
