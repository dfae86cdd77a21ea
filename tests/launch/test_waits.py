"""A part that waits before it begins tells its supervisor what for, which prints each new sentence once."""

import sys
from pathlib import Path

from launch.process import Process
from launch.supervisor import Supervisor
from tests.launch.watching import wait_for

TELLS = """
import pathlib, sys, time
waits, go = map(pathlib.Path, sys.argv[1:])
waits.write_text("Restart the service: 2 migrations are to be applied.")
while not go.exists():
    time.sleep(0.05)
waits.unlink()
time.sleep(600)
"""


def test_what_a_part_waits_for_is_printed_once_and_that_it_waits_no_more(tmp_path: Path) -> None:
    waits, go, events = tmp_path / "waits", tmp_path / "go", []
    process = Process("worker", (sys.executable, "-c", TELLS, str(waits), str(go)), waits=waits)
    supervisor = Supervisor(logs=tmp_path, report=lambda part, text: events.append((part, text)))
    supervisor.add(process)
    with supervisor:
        told = ("worker", "waits: Restart the service: 2 migrations are to be applied.")
        assert wait_for(lambda: told in events, 30), events
        go.touch()
        assert wait_for(lambda: ("worker", "waits no more") in events, 30), events
    assert events.count(told) == 1
