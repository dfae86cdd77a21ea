"""When a report leaves: at once if a run's next step waits for it, otherwise with the news that follows it."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workers.agent import reports, spool


class Server:
    """A connection to a server that takes every report."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.came = threading.Condition()

    def call(self, _path: str, report: dict[str, Any], _timeout_s: float) -> dict[str, Any]:
        with self.came:
            self.events.append(report["event"])
            self.came.notify_all()
        return {}

    def wait_for(self, count: int) -> list[str]:
        with self.came:
            assert self.came.wait_for(lambda: len(self.events) >= count, 5)
        return self.events


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def kept(tmp_path: Path) -> spool.Spool:
    return spool.Spool(tmp_path / "spool")


@pytest.fixture
def reporter(kept: spool.Spool, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[reports.Reporter]:
    # Long enough that a busy machine does not take it for over.
    monkeypatch.setattr(reports, "LULL_S", 1.0)
    closing = threading.Event()
    running = reports.Reporter(kept, lambda: server, closing, lambda _job_id: None)  # type: ignore[arg-type,return-value]
    running.start()
    yield running
    closing.set()
    running.join(5)


def started(kept: spool.Spool, reporter: reports.Reporter, **job: Any) -> spool.Record:
    record = kept.accept({"id": "a", **job})
    kept.note(record, started_at=1.0)
    reporter.changed(record)
    return record


def test_a_start_is_told_with_the_end_that_soon_follows(
    kept: spool.Spool, reporter: reports.Reporter, server: Server
) -> None:
    record = started(kept, reporter)
    kept.note(record, ended_at=2.0)
    reporter.changed(record)
    assert server.wait_for(1) == ["finished"]
    reporter.drain(5)
    assert server.events == ["finished"]


def test_a_start_with_nothing_after_it_is_told_by_itself(
    kept: spool.Spool, reporter: reports.Reporter, server: Server
) -> None:
    before = time.monotonic()
    started(kept, reporter)
    assert server.wait_for(1) == ["started"]
    assert time.monotonic() - before >= reports.LULL_S


def test_a_server_is_told_when_it_is_at_hand(kept: spool.Spool, reporter: reports.Reporter, server: Server) -> None:
    record = started(kept, reporter, background=True, ready_pattern="listening")
    kept.note(record, ready_at=1.5)
    reporter.changed(record)
    assert server.wait_for(1) == ["ready"]


def test_what_others_work_beside_is_told_at_once(
    kept: spool.Spool, reporter: reports.Reporter, server: Server
) -> None:
    before = time.monotonic()
    started(kept, reporter, background=True)
    assert server.wait_for(1) == ["started"]
    assert time.monotonic() - before < reports.LULL_S


def test_one_that_waits_does_not_keep_another_back(
    kept: spool.Spool, reporter: reports.Reporter, server: Server
) -> None:
    started(kept, reporter)
    done = kept.accept({"id": "b"})
    kept.note(done, started_at=1.0, ended_at=2.0)
    reporter.changed(done)
    assert server.wait_for(2) == ["finished", "started"]
