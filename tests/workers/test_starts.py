"""What a worker's and the timetable's processes load when they start."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from launch.home import ROOT
from workers import tasks
from workers.celery import app

LOADED = "import sys; from workers import __main__ as program; program._load({name!r}); print(*sys.modules)"


KILLED = """
import os, signal
from workers import __main__ as program
program._load("worker")
from billiard.sharedctypes import Value
value = Value("i")
print("shared", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def loaded_by(name: str) -> set[str]:
    """Return the modules that a command of `python -m workers` has loaded when it begins."""
    return set(output_of("-c", LOADED.format(name=name)).stdout.split())


def output_of(*words: str, **names: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "apps.config.settings.test", **names}
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_the_timetable_loads_neither_tables_nor_tasks() -> None:
    loaded = loaded_by("beat")
    assert "workers.celery" in loaded
    assert not {"workers.tasks", "apps.campaigns.models", "celery.bin.celery", "click_repl"} & loaded


def test_a_worker_loads_all_that_its_children_need() -> None:
    loaded = loaded_by("worker")
    assert {"workers.tasks", "workers.timetable", "apps.campaigns.models"} <= loaded
    assert not {"celery.bin.celery", "click_repl", "apps.config.urls"} & loaded


def test_what_the_timetable_sends_is_a_task() -> None:
    assert tasks
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(app.tasks)


def test_another_command_is_refused_with_what_there_is() -> None:
    refused = output_of("-m", "workers", "inspect", "ping")
    assert refused.returncode == 1
    assert "worker or beat" in refused.stderr


def test_a_worker_that_is_killed_leaves_no_folder(tmp_path: Path) -> None:
    temporary, run = tmp_path / "tmp", tmp_path / "run"
    for folder in (temporary, run):
        folder.mkdir()
    killed = output_of("-c", KILLED, TMPDIR=str(temporary), FATHOM_SIGN=str(run / "worker.sign"))
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "shared\n"), killed.stderr
    assert [*temporary.iterdir(), *run.iterdir()] == []
