"""Reports that do not get through: what shortens them, what never does, and what is kept of those that were cut."""

import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.test_reporting import let_in
from tests.agent.test_spool import Picky
from tests.agents.live import wait_for
from workers.agent import aside, disks, jobs, remote, reports, spool, unsent
from workers.agent.backoff import Backoff

# Far more than it takes to be shortened.
MANY = unsent.SHORTEN_AFTER + 4


class Failing(Picky):
    """A server whose reports, and questions for its clock, fail as `failure` says as long as there is one."""

    def __init__(self, failure: Callable[[], Exception] | None, *, has_clock: bool = True) -> None:
        super().__init__(10**9)
        self.failure, self.has_clock = failure, has_clock
        self.lost = 0

    def call(self, path: str, body: dict[str, Any] | None = None, timeout_s: float = 10.0) -> dict[str, Any]:
        if body is None and (self.has_clock or self.failure is None):
            return {}
        if self.failure is not None:
            self.lost += body is not None
            raise self.failure()
        return super().call(path, body or {}, timeout_s)


class Sending:
    """A reporter at work between a spool and a server."""

    def __init__(self, folder: Path, server: Picky) -> None:
        self.spool, self.unsent, self.closing = spool.Spool(folder / "spool"), unsent.Unsent(), threading.Event()
        self.reporter = reports.Reporter(
            self.spool, lambda: server, self.closing, lambda _id, _reason: None, let_in(), list, self.unsent
        )
        self.reporter.start()

    def add(self, name: str, size: int) -> None:
        """Have a job have ended that printed so many bytes."""
        record = self.spool.accept({"id": name})
        self.spool.note(record, started_at=1.0)
        text = jobs.pack(os.urandom(size))
        self.spool.note(record, ended_at=2.0, stdout=text, stderr=jobs.pack(b""), truncated=False)
        self.reporter.changed(record)


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Picky], Sending]]:
    monkeypatch.setattr(unsent, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(unsent, "LONGEST_WAIT_S", 0.02)
    monkeypatch.setattr(reports, "Backoff", lambda: Backoff(0.02))
    under_way: list[Sending] = []

    def start(server: Picky) -> Sending:
        under_way.append(Sending(tmp_path, server))
        return under_way[-1]

    yield start
    for sending in under_way:
        sending.closing.set()
        sending.reporter.join(5)


Begin = Callable[[Picky], Sending]


def too_many() -> Exception:
    return remote.NotTheServer("not the server: 429", says_later=True)


def changed() -> Exception:
    return remote.Failed("Someone changed the same thing now: try again.", says_later=True)


def away() -> Exception:
    return remote.Away("ConnectionRefusedError")


def database_away() -> Exception:
    return remote.Unavailable("The database is away", says_later=True)


def not_let_in() -> Exception:
    return remote.Refused(403, "forbidden", "not you")


@pytest.mark.parametrize(
    ("failure", "has_clock"),
    [(too_many, True), (changed, True), (not_let_in, True), (away, False), (too_many, False), (database_away, False)],
)
def test_nothing_is_cut_where_size_cannot_be_the_reason(
    begin: Begin, tmp_path: Path, failure: Callable[[], Exception], has_clock: bool
) -> None:
    server = Failing(failure, has_clock=has_clock)
    sending = begin(server)
    sending.add("a", 2**20)
    wait_for(lambda: server.lost >= MANY)
    assert [record.job_id for record in sending.spool] == ["a"]
    server.failure = None
    wait_for(lambda: not list(sending.spool))
    (taken,) = server.taken
    assert "cut_on_way" not in taken
    assert not taken["truncated"]
    assert not (tmp_path / "cut").exists()
    assert not (tmp_path / "refused").exists()


def test_a_connection_that_breaks_for_one_report_alone_has_it_cut(begin: Begin, tmp_path: Path) -> None:
    # Without this the test above could not fail.
    server = Failing(away)
    sending = begin(server)
    sending.add("a", 2**20)
    wait_for(lambda: server.lost >= MANY)
    server.failure = None
    wait_for(lambda: (tmp_path / "cut" / "a.jsonl").exists())
    assert server.taken[0]["cut_on_way"]


def test_of_reports_that_were_cut_the_latest_are_kept(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "MOST_CUT", 3)
    sending = begin(Picky(60_000))
    for number in range(5):
        sending.add(f"job-{number}", 100_000)
        wait_for(lambda: not list(sending.spool))
    wait_for(lambda: (tmp_path / "cut" / "job-4.jsonl").exists())
    assert sorted(path.name for path in (tmp_path / "cut").iterdir()) == [f"job-{n}.jsonl" for n in (2, 3, 4)]


def test_a_disk_that_hangs_keeps_no_report_back_and_is_touched_by_its_own_thread_alone(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Failing(too_many)
    server.largest = 60_000
    sending = begin(server)
    sending.add("a", 100_000)
    sending.add("b", 10)
    wait_for(lambda: server.lost)
    monkeypatch.setattr(disks, "HUNG_AFTER_S", 0.1)
    answers = threading.Event()
    sending.spool.disk.begin(answers.wait)
    server.failure = None
    wait_for(lambda: len(server.taken) == 2)
    wait_for(lambda: not list(sending.spool))
    # Nothing was moved, or made, beside the thread that waits for the disk.
    assert not (tmp_path / "cut").exists()
    assert len(list((tmp_path / "spool").iterdir())) == 2
    answers.set()
    wait_for(lambda: (tmp_path / "cut" / "a.jsonl").exists() and not list((tmp_path / "spool").iterdir()))


class Taking(Picky):
    """A server that takes reports of a certain size only, and counts those that it answered."""

    answered = 0

    def call(self, path: str, body: dict[str, Any] | None = None, timeout_s: float = 10.0) -> dict[str, Any]:
        try:
            return super().call(path, body or {}, timeout_s)
        except remote.TooLarge:
            # The shortest is refused for good.
            if self.largest > 1000:
                raise
            self.answered += 1
            raise remote.Refused(413, "too-large", "never") from None


# All that may come of a report, by what the server takes.
@pytest.mark.parametrize(("largest", "folder"), [(10**9, ""), (60_000, "cut"), (10, "refused")])
@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC])
def test_what_was_answered_is_not_sent_again_while_the_disk_keeps_its_record(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: int, folder: str, number: int
) -> None:
    path, tries = tmp_path / "spool" / "a.jsonl", []

    def broken(*_words: Any) -> None:
        tries.append(path.exists())
        raise OSError(number, os.strerror(number))

    server = Taking(largest)
    with monkeypatch.context() as failing:
        failing.setattr(aside, "move", broken)
        failing.setattr(spool.Spool, "_remove", broken)
        sending = begin(server)
        sending.add("a", 100_000)
        wait_for(lambda: len(tries) >= 3)
        assert all(tries)
        # It is over for whoever asks, and what is wrong is told.
        assert "a" not in sending.spool
        code, words = sending.unsent.trouble() or ("", "")
        assert code == "report-stuck"
        assert os.strerror(number) in words
    wait_for(lambda: not path.exists() and sending.unsent.trouble() is None)
    assert [one.name for one in tmp_path.glob("*/a.jsonl")] == ["a.jsonl"] * bool(folder)
    assert not folder or (tmp_path / folder / "a.jsonl").exists()
    assert len(server.taken) + server.answered == 1


def test_it_says_that_a_full_disk_kept_less_than_all(
    begin: Begin, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Failing(too_many)
    server.largest = 60_000
    sending = begin(server)
    sending.add("a", 100_000)
    (record,) = sending.spool
    monkeypatch.setattr(spool.Spool, "_mend", lambda *_words: None)
    record.is_torn = True
    server.failure = None
    wait_for(lambda: "what the disk took of it is kept in" in caplog.text)
