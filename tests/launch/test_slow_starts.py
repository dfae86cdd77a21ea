"""What starts slowly is waited for: what runs once for as long as it takes, what serves with more and more time."""

import sys
import threading
import time
from pathlib import Path

import pytest

from launch import process
from launch.process import Process
from launch.supervisor import Stopped, Supervisor
from tests.launch import busy_starts


def of_python(name: str, code: str, **values: object) -> Process:
    return Process(name, (sys.executable, "-c", code), **values)  # type: ignore[arg-type]


def test_what_runs_once_takes_its_time_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "TOLD_EVERY_S", 0.2)
    lines: list[tuple[str, str]] = []
    supervisor = Supervisor(logs=tmp_path, report=lambda *line: lines.append(line))
    supervisor.add(of_python("migrate", "import time; time.sleep(1)", once=True, ready_timeout_s=0.1))
    with supervisor:
        assert ("migrate", "done") in lines
    assert any(part == "migrate" and text.startswith("at work for ") for part, text in lines)


def test_what_runs_once_is_stopped_when_that_is_asked(tmp_path: Path) -> None:
    supervisor = Supervisor(logs=tmp_path, report=lambda *_line: None)
    supervisor.add(of_python("migrate", "import time; time.sleep(600)", once=True))
    threading.Timer(1, supervisor.request_stop).start()
    begun = time.monotonic()
    with pytest.raises((Stopped, process.ProcessError)):
        supervisor.start()
    assert time.monotonic() - begun < 60


def test_what_serves_and_starts_slowly_is_started_anew_with_more_time(tmp_path: Path) -> None:
    lines: list[str] = []
    supervisor = Supervisor(logs=tmp_path, report=lambda _part, text: lines.append(text))

    def is_ready() -> bool:
        # It answers only once it was given more time.
        return sum(text.startswith("started") for text in lines) > 2

    supervisor.add(of_python("web", "import time; time.sleep(600)", ready=is_ready, ready_timeout_s=0.2))
    with supervisor:
        assert "ready" in lines
    slow = [text.partition(";")[0] for text in lines if text.startswith("not ready")]
    assert slow == [
        "not ready within 0.2 s, starts again with 0.4 s",
        "not ready within 0.4 s, starts again with 0.8 s",
    ]


def test_what_uses_the_processor_is_starting_and_has_longer(
    tmp_path: Path, little_is_effort: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long a busy machine takes.
    monkeypatch.setattr(process, "MOST_PATIENCE", 1000)
    lines: list[str] = []
    supervisor = Supervisor(logs=tmp_path, report=lambda _part, text: lines.append(text))
    there = tmp_path / "there"
    code = busy_starts.code(there, for_s=3)
    supervisor.add(of_python("web", code, ready=there.exists, ready_timeout_s=1.5))
    with supervisor:
        assert "ready" in lines
    assert not [text for text in lines if text.startswith("not ready")]
