"""A service with a lab begins with the lab: where there can be none, that is told and nothing else starts."""

from pathlib import Path

import pytest

from launch import __main__ as command
from launch import commands, folder_lock, home, service
from launch.demo import ground


def test_a_lab_that_cannot_be_built_is_told_and_nothing_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "lab.yaml").write_text("name: x\n")
    monkeypatch.setenv("LAB", str(tmp_path / "lab.yaml"))
    monkeypatch.setenv("FATHOM_VAR", str(tmp_path / "var"))
    monkeypatch.setattr(service.Service, "start", lambda self: pytest.fail("the service was started"))
    assert command.main(["serve"]) == 1
    assert "lab.yaml: switches: write 1 to 1000 of them, not 0." in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["serve", "demo"])
@pytest.mark.parametrize("was_up", [False, True])
def test_a_lab_goes_with_a_service_that_cannot_start_unless_it_was_there_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, was_up: bool, verb: str
) -> None:
    state = {"nodes": [], "links": [], "management": {"address": "127.0.0.1"}, "inventory": str(tmp_path / "none")}
    (tmp_path / "none").touch()
    states = iter([state if was_up else None, state])
    taken: list[Path] = []
    monkeypatch.setenv("LAB", str(tmp_path / "lab.yaml"))
    monkeypatch.setenv("FATHOM_VAR", str(tmp_path / "var"))
    monkeypatch.setattr(ground, "lab_state", lambda folder: next(states))
    monkeypatch.setattr(ground, "build_lab", lambda *words: "")
    monkeypatch.setattr(ground, "take_lab_down", lambda root, folder: taken.append(folder))
    monkeypatch.setattr(service.Service, "start", lambda self: (_ for _ in ()).throw(commands.ManageError("no room")))
    assert command.main([verb]) == 1
    assert taken == ([] if was_up else [tmp_path / "var" / "lab"])


def test_nobody_builds_a_lab_that_might_be_left_behind() -> None:
    builders = {
        str(path.relative_to(home.ROOT))
        for folder in ("launch", "benchmarks")
        for path in (home.ROOT / folder).rglob("*.py")
        if "build_lab(" in path.read_text(encoding="utf-8")
    }
    assert builders == {"launch/demo/ground.py"}


@pytest.mark.parametrize("verb", ["serve", "demo"])
def test_who_comes_second_leaves_the_lab_of_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, verb: str
) -> None:
    monkeypatch.setenv("LAB", str(tmp_path / "lab.yaml"))
    monkeypatch.setenv("FATHOM_VAR", str(tmp_path))
    for name in ("build_lab", "take_lab_down"):
        monkeypatch.setattr(ground, name, lambda *_words, name=name: pytest.fail(name))
    first = home.Home(tmp_path)
    first.lock()
    assert command.main([verb]) == 1
    assert f"Fathom already runs on {tmp_path}" in capsys.readouterr().err
    first.unlock()


def test_a_folder_is_free_once_its_lab_is_down(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A service that fails in between does not give it back before."""
    own, others = home.Home(tmp_path), home.Home(tmp_path)
    taken: list[str] = []

    def take_down(_root: Path, _folder: Path) -> None:
        with pytest.raises(home.RunsError):
            others.lock()
        taken.append("down")

    monkeypatch.setattr(ground, "build_lab", lambda *_words: "")
    monkeypatch.setattr(ground, "take_lab_down", take_down)
    with pytest.raises(commands.ManageError), ground.standing_lab(home.ROOT, own):
        folder_lock.take(own, print, "service")
        own.unlock()
        raise commands.ManageError("no room")
    assert taken == ["down"]
    others.lock()
    others.unlock()
