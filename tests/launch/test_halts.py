"""A real service whose parts are frozen: each is noticed, killed and started again, and nobody else with it."""

import json
import os
import re
import signal
import time
import urllib.error
import urllib.request
from pathlib import Path

import psycopg
import pytest

from launch import orphans
from tests.hanging import held
from tests.launch import stack
from tests.launch.conftest import HANG_AFTER_S
from tests.launch.watching import wait_for, wait_until_gone

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("launch-service")]

# What it may take from a halt to a new process, on a busy machine.
BOUND_S = 60


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def killed(running: stack.Stack) -> set[str]:
    """Return the parts of which a halt was told."""
    return set(re.findall(r"^\S+  (\S+) +(?:was stopped|gave no sign)", running.printed(), re.MULTILINE))


def test_each_part_that_is_frozen_starts_again(running: stack.Stack) -> None:
    frozen = ("web", "worker", "beat")
    before = {part: running.pid(part) for part in running.state()["parts"]}
    # The service serves before its workers have started their processes.
    assert wait_for(lambda: len(children_of(before["worker-long"] or 0)) == 2, BOUND_S), running.printed()
    child, _long = children_of(before["worker-long"] or 0)
    assert wait_for(lambda: len(children_of(before["worker-clock"] or 0)) == 2, BOUND_S), running.printed()
    of_two, other = children_of(before["worker-clock"] or 0)
    for pid in (child, *(before[part] for part in frozen)):
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
    with held([of_two]):
        for part in frozen:
            assert wait_for(lambda part=part: running.pid(part) not in (None, before[part]), BOUND_S), (
                running.printed()
            )
        # The workers themselves go on with new processes in the place of the frozen ones.
        assert not wait_until_gone([child, of_two], BOUND_S)
    assert wait_for(lambda: len(children_of(before["worker-long"] or 0)) == 2)
    assert wait_for(lambda: len(children_of(before["worker-clock"] or 0)) == 2)
    assert other in children_of(before["worker-clock"] or 0)
    assert all(running.pid(part) == pid for part, pid in before.items() if part not in frozen)
    assert killed(running) == set(frozen)
    for pid in (child, of_two):
        line = f"its process {pid} was stopped for {HANG_AFTER_S} s, killed"
        assert wait_for(lambda line=line: line in running.printed()), running.printed()
    assert wait_for(lambda: health(running)["status"] == "ok", BOUND_S), health(running)


def test_who_only_waits_for_a_frozen_broker_is_left_alone(running: stack.Stack) -> None:
    told = killed(running)
    before = {part: running.pid(part) for part in running.state()["parts"]}
    os.kill(before["valkey"] or 0, signal.SIGSTOP)
    assert wait_for(lambda: running.pid("valkey") not in (None, before["valkey"]), BOUND_S), running.printed()
    # So long again nobody else is missed.
    time.sleep(HANG_AFTER_S)
    assert killed(running) - told == {"valkey"}
    assert all(running.pid(part) == pid for part, pid in before.items() if part != "valkey")
    assert wait_for(lambda: health(running)["status"] == "ok", BOUND_S), health(running)


def test_postgresql_that_is_frozen_whole_starts_again(running: stack.Stack) -> None:
    """Its processes leave its group and its environment, and hold the memory that the next one needs."""
    cluster = running.folder / "postgres" / "cluster"
    first = running.pid("postgres")
    assert first is not None
    # It begins no more of them, and takes note of none that ends: what is there then is all there is.
    os.kill(first, signal.SIGSTOP)
    before = orphans.at_work_in(cluster, "postgres")
    assert first in before
    assert len(before) > 5
    for pid in before:
        # A session that ends meanwhile keeps its number until the first takes note of it.
        os.kill(pid, signal.SIGSTOP)
    assert wait_for(lambda: running.pid("postgres") not in (None, *before), BOUND_S), running.printed()
    assert wait_for(lambda: health(running)["status"] == "ok", BOUND_S), running.printed()
    assert not wait_until_gone(before, BOUND_S)


def test_each_part_that_another_asks_to_end_starts_again(running: stack.Stack) -> None:
    # The first account is made before, and all serve.
    assert wait_for(lambda: "password:" in running.printed(), BOUND_S), running.printed()
    assert wait_for(lambda: health(running)["status"] == "ok", BOUND_S), health(running)
    parts = running.state()["parts"]
    assert {"postgres", "valkey", "web", "worker", "beat"} <= set(parts)
    with psycopg.connect(running.state()["database_url"]):
        for part, before in parts.items():
            os.kill(before, signal.SIGTERM)
            if part == "postgres":
                # It takes nobody any more, and waits for those who are in it.
                words = "It is shutting down: work goes on when it is back."
                assert wait_for(lambda words=words: what_of_database(running) == (503, words)), running.printed()
            assert wait_for(lambda part=part, before=before: running.pid(part) not in (None, before), BOUND_S), (
                running.printed()
            )
            assert wait_for(lambda: health(running)["status"] == "ok", BOUND_S), (part, health(running))


def what_of_database(running: stack.Stack) -> tuple[int, str]:
    """Return the status of /health/, and what that says of the database."""
    try:
        with urllib.request.urlopen(f"{running.address}/health/", timeout=10) as answer:
            status, body = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, body = error.code, error.read()
    return status, json.loads(body)["parts"]["database"]["what"]


def test_connections_say_whose_they_are(running: stack.Stack) -> None:
    def names() -> set[str]:
        with psycopg.connect(running.state()["database_url"]) as asking:
            rows = asking.execute("SELECT DISTINCT application_name FROM pg_stat_activity WHERE datname = 'fathom'")
            return {name for (name,) in rows.fetchall()}

    # A worker opens its own when it has something to do, after a restart of the database as at first.
    assert wait_for(lambda: names() >= {"fathom web", "fathom worker"}, BOUND_S), names()


def health(running: stack.Stack) -> dict[str, object]:
    """Return what /health/ says."""
    try:
        with urllib.request.urlopen(f"{running.address}/health/", timeout=10) as answer:
            found: dict[str, object] = json.loads(answer.read())
            return found
    except OSError as error:
        return {"status": str(error)}
