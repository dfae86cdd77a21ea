"""A worker whose broker answers and takes nothing waits for it in the process it has, and goes on."""

import signal
from pathlib import Path

import pytest

from apps.core import queue
from tests import outages
from tests.workers import processes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("workers")]


def test_a_worker_waits_for_a_broker_that_refuses(tmp_path: Path, transactional_db: None) -> None:
    processes.purge()
    log = tmp_path / "worker-clock.log"
    with processes.running("worker-clock", tmp_path) as worker:
        queue.send(queue.TEND)
        processes.seconds_until(lambda: not processes.waiting_in(queue.CLOCK))
        with outages.refusing_broker("min-replicas-to-write") as word:
            processes.seconds_until(lambda: f"waits before it goes on: {word}" in log.read_text())
            assert worker.poll() is None
        processes.seconds_until(lambda: "This process goes on" in log.read_text())
        queue.send(queue.TEND)
        processes.seconds_until(lambda: not processes.waiting_in(queue.CLOCK))
        assert worker.poll() is None
        with outages.refusing_broker("min-replicas-to-write") as word:
            processes.seconds_until(lambda: log.read_text().count(word) > 1)
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(30) == 0
    assert "Frequent restarts" not in log.read_text()
