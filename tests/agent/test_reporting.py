"""When a report leaves: at once if a run's next step waits for it, otherwise with the news that follows it."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.test_spool import Picky
from workers.agent import reports, spool, unsent


def let_in() -> threading.Event:
    """Return what says that the server let the process in."""
    event = threading.Event()
    event.set()
    return event


@pytest.fixture
def server() -> Picky:
    """Return a connection to a server that takes every report."""
    return Picky(10**6)


@pytest.fixture
def kept(tmp_path: Path) -> spool.Spool:
    return spool.Spool(tmp_path / "spool")


@pytest.fixture
def reporter(kept: spool.Spool, server: Picky, monkeypatch: pytest.MonkeyPatch) -> Iterator[reports.Reporter]:
    # Long enough that a busy machine does not take it for over.
    monkeypatch.setattr(unsent, "LULL_S", 1.0)
    closing = threading.Event()
    running = reports.Reporter(kept, lambda: server, closing, lambda _job_id: None, let_in(), list, unsent.Unsent())
    running.start()
    yield running
    closing.set()
    running.join(5)


def started(kept: spool.Spool, reporter: reports.Reporter, **job: Any) -> spool.Record:
    record = kept.accept({"id": "a", **job})
    kept.note(record, started_at=1.0)
    reporter.changed(record)
    return record


def told(reporter: reports.Reporter, server: Picky) -> list[str]:
    """Return what was reported by the time at which nothing is left to report."""
    reporter.drain(5)
    return [body["event"] for body in server.taken]


def test_a_start_is_told_with_the_end_that_soon_follows(
    kept: spool.Spool, reporter: reports.Reporter, server: Picky
) -> None:
    record = started(kept, reporter)
    kept.note(record, ended_at=2.0)
    reporter.changed(record)
    assert told(reporter, server) == ["finished"]


def test_a_start_with_nothing_after_it_is_told_by_itself(
    kept: spool.Spool, reporter: reports.Reporter, server: Picky
) -> None:
    before = time.monotonic()
    started(kept, reporter)
    assert told(reporter, server) == ["started"]
    assert time.monotonic() - before >= unsent.LULL_S


def test_a_server_is_told_when_it_is_at_hand(kept: spool.Spool, reporter: reports.Reporter, server: Picky) -> None:
    record = started(kept, reporter, background=True, ready_pattern="listening")
    kept.note(record, ready_at=1.5)
    reporter.changed(record)
    assert told(reporter, server) == ["ready"]


def test_what_others_work_beside_is_told_at_once(
    kept: spool.Spool, reporter: reports.Reporter, server: Picky
) -> None:
    before = time.monotonic()
    started(kept, reporter, background=True)
    assert told(reporter, server) == ["started"]
    assert time.monotonic() - before < unsent.LULL_S


def test_one_that_waits_does_not_keep_another_back(
    kept: spool.Spool, reporter: reports.Reporter, server: Picky
) -> None:
    started(kept, reporter)
    done = kept.accept({"id": "b"})
    kept.note(done, started_at=1.0, ended_at=2.0)
    reporter.changed(done)
    assert told(reporter, server) == ["finished", "started"]
