"""A death while the service starts does not end the start."""

from pathlib import Path

import pytest

from launch.process import Process, ProcessError
from launch.supervisor import MOST_FIRST_STARTS
from tests.launch.conftest import Make
from tests.launch.test_supervisor import SLEEP, python

ENDS = {
    "killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "terminated": "os.kill(os.getpid(), signal.SIGTERM)",
    "leaves when asked to": "raise SystemExit(0)",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("once", [True, False])
def test_what_others_end_before_it_is_ready_is_started_again(
    make: Make, tmp_path: Path, events: list[tuple[str, str]], end: str, once: bool
) -> None:
    if once and end == "leaves when asked to":
        return
    begun, ready = tmp_path / "begun", tmp_path / "ready"
    code = f"""
import os, pathlib, signal, time
begun, ready = pathlib.Path({str(begun)!r}), pathlib.Path({str(ready)!r})
if not begun.exists():
    begun.touch()
    {ENDS[end]}
ready.touch()
{"" if once else "time.sleep(60)"}
"""
    with make(Process("good", SLEEP), python("part", code, once=once, ready=None if once else ready.exists)):
        assert ready.exists()
    assert [text.partition(" (")[0] for part, text in events if part == "part"][:3] == [
        "started",
        "ended unexpectedly",
        "started",
    ]


def test_what_is_killed_at_each_start_ends_the_start(make: Make, events: list[tuple[str, str]]) -> None:
    bad = python("bad", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", ready=lambda: False)
    with pytest.raises(ProcessError, match="bad ended: killed by SIGKILL"):
        make(Process("good", SLEEP), bad).start()
    assert sum(event[0] == "bad" and event[1].startswith("started") for event in events) == MOST_FIRST_STARTS


def test_what_runs_once_and_finds_a_server_away_runs_again_once_that_was_started_again(
    make: Make, tmp_path: Path, events: list[tuple[str, str]]
) -> None:
    back, done, ready = tmp_path / "back", tmp_path / "done", tmp_path / "ready"
    server = f"""
import pathlib, time
back, ready = pathlib.Path({str(back)!r}), pathlib.Path({str(ready)!r})
if ready.exists():
    back.touch()
ready.touch()
time.sleep(60 if back.exists() else 0.5)
"""
    step = f"""
import os, pathlib
if not pathlib.Path({str(back)!r}).exists():
    raise SystemExit(os.EX_TEMPFAIL)
pathlib.Path({str(done)!r}).touch()
"""
    after = f"import os, time; assert os.path.exists({str(done)!r}); time.sleep(60)"
    with make(python("server", server, ready=ready.exists), python("step", step, once=True), python("after", after)):
        assert done.exists()
    assert next(text.partition(" (")[0] for part, text in events if part == "after") == "started"


def test_what_never_finds_it_back_ends_the_start(make: Make, events: list[tuple[str, str]]) -> None:
    away = python("away", "import os; raise SystemExit(os.EX_TEMPFAIL)", once=True)
    with pytest.raises(ProcessError, match="away ended: exit status 75"):
        make(Process("good", SLEEP), away).start()
    assert sum(event[0] == "away" and event[1].startswith("started") for event in events) == MOST_FIRST_STARTS
