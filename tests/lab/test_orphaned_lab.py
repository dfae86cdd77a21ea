"""A lab goes with whoever was about to start a service on it, however that one ends."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.state import Place
from launch.demo import ground
from tests.lab.labs import REAL, ROOT, SMALL

pytestmark = REAL

STARTER = """
import sys, time
from pathlib import Path
from launch.demo import ground
from launch.home import Home
with ground.standing_lab(Path(sys.argv[1]), Home(Path(sys.argv[2])), Path(sys.argv[3])) as (state, why):
    print("up" if state else why, flush=True)
    if sys.argv[4] == "stay":
        time.sleep(600)
"""


def start(folder: Path, how: str) -> "subprocess.Popen[str]":
    file = folder / "small.yaml"
    file.write_text(SMALL, encoding="utf-8")
    argv = (sys.executable, "-c", STARTER, str(ROOT), str(folder), str(file), how)
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def namespaces(folder: Path) -> list[str]:
    """Return the network namespaces of the lab of a folder."""
    listed = subprocess.run(("ip", "netns", "list"), capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.startswith(Place(folder / "lab").namespace_prefix)]


def wait_until_gone(folder: Path) -> None:
    ends_at = time.monotonic() + 60
    while ground.lab_state(folder / "lab") or namespaces(folder):
        assert time.monotonic() < ends_at, "the lab is still there"
        time.sleep(0.2)


@pytest.mark.parametrize("after_s", [0.0, 0.3, 0.8, None], ids=["at once", "starting", "building", "up"])
def test_a_killed_starter_leaves_no_lab(tmp_path: Path, after_s: float | None) -> None:
    with start(tmp_path, "stay") as starter:
        assert starter.stdout
        if after_s is None:
            assert starter.stdout.readline() == "up\n"
            assert namespaces(tmp_path)
        else:
            time.sleep(after_s)
        starter.kill()
    # What was about to build it ends first.
    time.sleep(1)
    wait_until_gone(tmp_path)


def test_a_lab_stays_with_a_starter_that_ends_well(tmp_path: Path) -> None:
    with start(tmp_path, "leave") as starter:
        assert starter.communicate(timeout=60)[0] == "up\n"
    time.sleep(1)
    try:
        assert ground.lab_state(tmp_path / "lab")
    finally:
        ground.take_lab_down(ROOT, tmp_path / "lab")
