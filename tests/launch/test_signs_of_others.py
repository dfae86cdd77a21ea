"""A sign of life that cannot be given is told as that: nobody is killed for it. What is cleared away comes back."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from launch import home, leftovers, liveness, owners, supervisor
from launch.home import ROOT, Home
from launch.liveness import FileSign
from launch.process import Process
from launch.service import Service
from tests.launch.kept import no_database_of_the_tests  # noqa: F401
from tests.launch.watching import wait_for

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of another user")
NOBODY = 65534


@pytest.fixture
def run() -> Iterator[Path]:
    """Return a folder of signs that another user can pass through to: not in pytest's, which closes its own anew."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = Path(place) / "var" / "run"
        folder.mkdir(parents=True, mode=0o755)
        yield folder


def _refusing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no file touched, as on a disk that was mounted anew to be read only."""

    def refuse(*_given: object, **_options: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", refuse)


def test_a_part_whose_sign_cannot_be_written_lives_on_and_that_is_told(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liveness, "ASK_EVERY_S", 0.05)
    monkeypatch.setattr(supervisor, "HALTS_EVERY_S", 0.1)
    sign, events = FileSign(run / "part.sign"), list[tuple[str, str]]()
    sign.make()
    part = Process("part", (sys.executable, "-c", "import time; time.sleep(600)"), sign=sign, hang_after_s=0.3)
    watched = supervisor.Supervisor(logs=run.parent / "log", report=lambda *event: events.append(event))
    watched.add(part)
    with monkeypatch.context() as during:
        _refusing(during)
        watched.start()
        try:
            words = (
                f"cannot give a sign of life, so no halt of it is noticed: {sign.file} cannot be written: Read-only"
            )
            assert wait_for(lambda: any(text.startswith(words) for _part, text in events)), events
            assert not wait_for(lambda: any("killed" in text for _part, text in events), 2), events
            during.undo()
            assert wait_for(lambda: ("part", "can give signs of life again") in events), events
        finally:
            watched.stop()


def test_a_sign_that_was_cleared_away_comes_back_with_its_folder(run: Path) -> None:
    sign = FileSign(run / "worker.sign")
    sign.make()
    sign.file.unlink()
    run.rmdir()
    assert sign() is False
    assert sign.file.exists()
    sign.file.touch()
    assert sign() is True
    assert sign() is False
    sign.file.unlink()
    run.rename(run.with_name("aside"))
    run.write_text("")
    with pytest.raises(liveness.UnwritableError, match="cannot be"):
        sign()


@as_root
def test_a_sign_is_of_whoever_the_folder_is_and_takes_the_place_of_roots(run: Path) -> None:
    os.chown(run, NOBODY, NOBODY)
    os.chown(run.parent, NOBODY, NOBODY)
    (run / "worker.sign").write_text("")
    assert (run / "worker.sign").stat().st_uid == 0
    FileSign(run / "worker.sign").make()
    assert (run / "worker.sign").stat().st_uid == NOBODY


@as_root
def test_every_file_that_a_part_touches_or_waits_by_is_the_folders_owners(
    tmp_path: Path,
    no_database_of_the_tests: None,  # noqa: F811
) -> None:
    service = Service(tmp_path)
    service.home.lock()
    try:
        service._set_environment()
        os.chown(service.home.run, NOBODY, NOBODY)
        for process in ("web", "worker", "worker-clock", "worker-long", "beat"):
            for end in ("sign", "waits"):
                (service.home.run / f"{process}.{end}").write_text("of root")
        signs = [process.sign for process in service._table() if isinstance(process.sign, FileSign)]
    finally:
        service.home.unlock()
    assert len(signs) >= 4
    assert {sign.file.stat().st_uid for sign in signs} == {NOBODY}
    assert list(service.home.run.glob("*.waits")) == []


def test_what_keeps_a_start_names_the_file_and_its_owner(tmp_path: Path) -> None:
    owner = owners.name_of(Path("/").stat().st_uid)
    words = home.not_ours(PermissionError(13, "Permission denied", "/"))
    assert words.startswith("/ cannot be used (Permission denied): it is ")
    assert os.geteuid() == 0 or f"it is {owner}'s" in words


def test_what_runs_is_written_again_where_it_was_cleared_away(tmp_path: Path) -> None:
    place = Home(tmp_path)
    place.lock()
    try:
        place.write_state({"pid": 1})
        before = place.state_file.stat()
        place.write_state({"pid": 1})
        assert os.path.samestat(before, place.state_file.stat())
        place.state_file.unlink()
        (place.run / "lock").unlink()
        place.run.rmdir()
        place.write_state({"pid": 1})
        assert place.read_state() == {"pid": 1}
    finally:
        place.unlock()


def test_a_supervisor_tells_each_minute_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "TRIM_EVERY_S", 0.1)
    tellings: list[dict[str, int]] = []
    watched = supervisor.Supervisor(
        logs=tmp_path, report=lambda *_event: None, on_change=lambda pids: tellings.append(dict(pids))
    )
    watched.add(Process("part", ("sleep", "60")))
    with watched:
        count = len(tellings)
        assert wait_for(lambda: len(tellings) > count + 2)
        assert tellings[-1] == watched.pids()


@as_root
@pytest.mark.parametrize("name", leftovers.WRITTEN)
def test_what_parts_cannot_write_is_told_at_the_start_with_its_owner(run: Path, name: str) -> None:
    folder = run.parent / name
    folder.mkdir(exist_ok=True)
    for number in range(7):
        (folder / f"{number}").write_text("of root")
    # Another user need not be able to read this checkout.
    script = "import os, sys; from pathlib import Path; from launch import home, leftovers\n"
    script += f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
    script += "print(*leftovers.unwritable(home.Home(Path(sys.argv[1]))), sep='\\n')"
    argv = [sys.executable, "-c", script, str(run.parent)]
    process = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = process.stdout.splitlines()
    assert lines[0].startswith(f"{folder} cannot be used (Permission denied): it is root's. Start as that user, or ")
    assert (len(lines), lines[-1]) == (6, f"and so it is with 3 more in {run.parent}")
    for path in (folder, *folder.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    assert leftovers.unwritable(Home(run.parent)) == []
