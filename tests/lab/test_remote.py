"""What starts commands on other nodes of a lab, as ssh does: words for a shell, by name or by address."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import door, doors
from lab.machine import LabError
from lab.state import REMOTE, Place
from tests.lab.labs import REAL, SMALL, LabAt, standing

REMOTE_PY = Path(doors.__file__).with_name("remote.py")


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not come"
        time.sleep(0.01)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with the door of a node called one, on this machine."""
    with subprocess.Popen([sys.executable, door.__file__, str(tmp_path / "one")]) as server:
        wait_for(tmp_path / "one")
        yield tmp_path
        server.kill()


def start(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REMOTE_PY, folder, *words],
        capture_output=True, text=True, check=False, env={**os.environ, **variables},
    )  # fmt: skip


def test_a_command_is_words_for_a_shell_with_the_callers_streams_and_variables(folder: Path) -> None:
    done = start(
        folder, "-x", "-n", "one", "echo", '"$HERE', 'there";', "echo", "bad", ">&2;", "exit", "3", HERE="is"
    )
    assert (done.stdout, done.stderr, done.returncode) == ("is there\n", "bad\n", 3)
    assert start(folder, "one", "kill", "-9", "$$").returncode == 128 + 9
    long = "x" * 100_000
    assert (
        start(folder, "one", "echo", "$#", long[:50_000], long[:50_000]).stdout
        == "0 " + f"{long[:50_000]} " * 1 + f"{long[:50_000]}\n"
    )


def test_a_command_ends_with_who_asked_for_it(folder: Path) -> None:
    note = folder / "note"
    caller = subprocess.Popen([sys.executable, REMOTE_PY, folder, "one", f"echo $$ > {note}; sync; exec sleep 60"])
    wait_for(note)
    while not note.read_text().endswith("\n"):
        time.sleep(0.01)
    pid = int(note.read_text())
    caller.send_signal(signal.SIGKILL)
    caller.wait()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("three", "true"), "Could not resolve hostname three"),
        (("../one", "true"), "Could not resolve hostname"),
        (("one",), "name a node and a command"),
        (("gone", "true"), "connect to host gone: Connection refused"),
    ],
)
def test_what_cannot_be_started_is_told(folder: Path, words: tuple[str, ...], said: str) -> None:
    with subprocess.Popen([sys.executable, door.__file__, str(folder / "gone")]) as server:
        wait_for(folder / "gone")
        server.kill()
    done = start(folder, *words)
    assert done.returncode == 1
    assert said in done.stderr


def test_a_folder_that_is_there_already_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    place = Place(tmp_path / "lab")
    place.doors.symlink_to(tmp_path)
    with pytest.raises(LabError, match="belongs to someone else"):
        doors.make(place, {}, {})
    doors.clear(place)
    assert place.doors.is_symlink()


class TestReal:
    pytestmark = REAL

    @pytest.fixture
    def lab(self, tmp_path: Path) -> Iterator[LabAt]:
        file = tmp_path / "lab.yaml"
        file.write_text(SMALL + "agents: {programs: [lab-remote]}\n")
        yield from standing(file, tmp_path / "state")
        assert not Place(tmp_path / "state").doors.exists()

    def test_an_ordinary_user_of_a_node_starts_commands_on_another(self, lab: LabAt) -> None:
        remote = lab.state["nodes"][0]["programs"][REMOTE]
        nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        for node in ("two", "10.96.2.11"):
            said = lab.on(
                "one", *nobody, remote, node, "echo", '"$(uname', '-n)"', '"$(id', '-u)";', "ls", "/sys/class/net"
            )
            assert said.split() == ["two", "65534", "data0", "lo", "mgmt0"]
