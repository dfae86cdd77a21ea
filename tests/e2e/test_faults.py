"""Whatever is killed in mid-campaign, no trial is lost and none counts twice."""

import collections
import os
import shutil
import signal
from typing import Any

import pytest

from tests.e2e.conftest import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]

PINGS = {
    "name": "pings",
    "tool": "ping",
    "fixed": {"count": "3"},
    "factors": [{"name": "payload", "expression": "56, 128, 256, 512"}],
    "repetitions": 4,
    "retry_wait_s": 0,
    "max_attempts": 5,
}
TRIALS = 16


def kill_worker(stack: Stack) -> None:
    """End the Celery worker and its children."""
    os.killpg(stack.pid("worker"), signal.SIGKILL)


def kill_valkey_and_its_data(stack: Stack) -> None:
    """End the broker and lose all it held."""
    os.kill(stack.pid("valkey"), signal.SIGKILL)
    data = stack.running.home.folder / "valkey"
    for path in data.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix != ".log":
            path.unlink()


def kill_agent(stack: Stack) -> None:
    """End an agent in the middle of its job."""
    os.kill(stack.pid("agent-local-1"), signal.SIGKILL)


def kill_web(stack: Stack) -> None:
    """End the web server, to which the agents report."""
    os.kill(stack.pid("web"), signal.SIGKILL)


def all_of(stack: Stack, path: str) -> list[dict[str, Any]]:
    return list(stack.api.every(path))


def test_nothing_is_lost_or_counted_twice(stack: Stack) -> None:
    launched = stack.launch("Faults, one after the other", PINGS)
    for number, kill in enumerate((kill_worker, kill_valkey_and_its_data, kill_agent, kill_web)):
        stack.wait_until(launched["id"], done=3 * number + 2, within_s=150)
        kill(stack)
    ended = stack.wait_until(launched["id"], within_s=150)
    assert ended["progress"]["succeeded"] == TRIALS, ended
    trials = all_of(stack, f"trials/?campaign={launched['id']}")
    assert len(trials) == TRIALS
    runs = [run for trial in trials for run in all_of(stack, f"runs/?trial={trial['id']}")]
    succeeded = collections.Counter(run["trial"] for run in runs if run["state"] == "succeeded")
    assert set(succeeded.values()) == {1}
    assert len(succeeded) == TRIALS
    assert all(run["state"] in ("succeeded", "failed") for run in runs)
    results = all_of(stack, f"results/?campaign={launched['id']}")
    assert collections.Counter(result["trial"] for result in results) == succeeded
