"""The agent's spool, and the reports made from it."""

import base64
import errno
import json
import os
import shutil
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from workers.agent import durable, jobs, remote, reports, spool, unsent
from workers.agent.backoff import Backoff

JOB = {"id": "0b9d3c4e-0000-4000-8000-000000000001", "argv": ["say"]}


def let_in() -> threading.Event:
    """Return what says that the server let the process in."""
    event = threading.Event()
    event.set()
    return event


def test_a_torn_line_hides_nothing_before_or_after_it(tmp_path: Path) -> None:
    kept = spool.Spool(tmp_path / "spool")
    record = kept.accept(JOB)
    kept.note(record, started_at=1.0)
    path = tmp_path / "spool" / f"{JOB['id']}.jsonl"
    with path.open("ab") as file:
        file.write(b'\n{"ended_at": 2, "exit_')
    again = spool.Spool.open(tmp_path / "spool")
    (found,) = again
    assert (found.job, found.facts["started_at"], found.is_finished) == (JOB, 1.0, False)
    again.note(found, ended_at=3.0)
    (found,) = spool.Spool.open(tmp_path / "spool")
    assert found.facts["ended_at"] == 3.0


def give_own_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each folder on a disk of its own."""
    replace = Path.replace

    def within_a_disk(path: Path, to: Path) -> Path:
        if path.parent != to.parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return replace(path, to)

    monkeypatch.setattr(Path, "replace", within_a_disk)


@pytest.mark.parametrize("has_own_disk", [False, True])
def test_what_the_server_never_takes_is_set_aside(
    has_own_disk: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = spool.Spool(tmp_path / "spool")
    record = own.accept(JOB)
    content = (tmp_path / "spool" / f"{JOB['id']}.jsonl").read_bytes()
    if has_own_disk:
        give_own_disk(monkeypatch)
    path = own.set_aside(record, own.refused)
    assert path.read_bytes() == content
    assert [*path.parent.iterdir()] == [path] == [*(tmp_path / "refused").iterdir()]
    assert not list(spool.Spool.open(tmp_path / "spool"))


def test_a_record_cut_off_before_its_job_is_no_record(tmp_path: Path) -> None:
    (tmp_path / "spool").mkdir()
    path = tmp_path / "spool" / "x.jsonl"
    path.write_bytes(b'\n{"job": {"id"')
    assert not list(spool.Spool.open(tmp_path / "spool"))
    assert not path.exists()


def test_a_job_that_the_disk_does_not_take_is_not_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = spool.Spool(tmp_path / "spool")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        kept.accept(JOB)
    assert JOB["id"] not in kept
    assert not list((tmp_path / "spool").iterdir())


def test_a_result_that_the_disk_does_not_take_is_still_there_to_send(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # A job of its own: what threads of other tests write of theirs meanwhile is not counted.
    job = {**JOB, "id": "0b9d3c4e-0000-4000-8000-00000000d15c"}
    kept = spool.Spool(tmp_path / "spool")
    record = kept.accept(job)
    record.file.close()
    record.file = (tmp_path / "spool" / f"{job['id']}.jsonl").open("rb", buffering=0)
    kept.note(record, ended_at=5.0)

    def broken(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    facts, _version = kept.sync(record)
    assert facts["ended_at"] == 5.0
    assert caplog.text.count(f"Job {job['id']}: the spool cannot be written") == 2


class Picky:
    """A connection to a server that takes reports of a certain size only."""

    def __init__(self, largest: int) -> None:
        self.largest = largest
        self.taken: list[dict[str, Any]] = []

    def call(self, path: str, body: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        if len(json.dumps(body)) > self.largest:
            raise remote.TooLarge(is_servers=True)
        self.taken.append(body)
        return {"job": path.split("/")[1], "event": body["event"]}

    def close(self) -> None:
        pass


def send(kept: spool.Spool, record: spool.Record, server: Picky) -> None:
    reporter = reports.Reporter(
        kept, lambda: server, threading.Event(), lambda _job_id, _reason: None, let_in(), list, unsent.Unsent()
    )
    reporter.changed(record)
    reporter.start()
    reporter.drain(5)
    reporter._closing.set()
    reporter.join(5)


def _last_line(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text().splitlines()[-1])


def test_a_report_that_is_too_large_is_sent_with_less_of_the_output(tmp_path: Path) -> None:
    kept = spool.Spool(tmp_path / "spool")
    record = kept.accept(JOB)
    noise = os.urandom(2 * 2**20)
    kept.note(record, ended_at=5.0, stdout=jobs.pack(noise), stderr=jobs.pack(b"err"), truncated=False)
    server = Picky(200_000)
    send(kept, record, server)
    (taken,) = server.taken
    head, line, tail = zlib.decompress(base64.b64decode(taken["stdout"])).partition(b"[fathom-agent: ")
    assert noise.startswith(head[:-1])
    assert noise.endswith(tail.partition(b"]\n")[2])
    assert line and 100_000 < len(head) + len(tail) < 140_000
    assert zlib.decompress(base64.b64decode(taken["stderr"])) == b"err"
    assert (taken["truncated"], taken["cut_on_way"]) == (True, True)
    assert noise == zlib.decompress(base64.b64decode(_last_line(tmp_path / "cut" / f"{JOB['id']}.jsonl")["stdout"]))
    assert "job" not in taken
    assert not list(kept)


def test_a_report_that_is_too_large_even_so_is_kept_aside(tmp_path: Path) -> None:
    kept = spool.Spool(tmp_path / "spool")
    record = kept.accept(JOB)
    kept.note(record, started_at=4.0, ended_at=5.0, fault_detail="x" * 1000)
    send(kept, record, Picky(100))
    assert (tmp_path / "refused" / f"{JOB['id']}.jsonl").exists()


@pytest.mark.parametrize(("folder", "largest"), [("refused", 100), ("cut", 200_000)])
@pytest.mark.parametrize(("module", "step"), [(shutil, "copyfile"), (durable, "sync_folder")])
def test_what_a_full_disk_does_not_take_stays_whole_in_the_spool_and_is_set_aside_later(
    folder: str, largest: int, module: Any, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = spool.Spool(tmp_path / "spool")
    record = kept.accept(JOB)
    kept.note(record, started_at=4.0, ended_at=5.0, stdout=jobs.pack(os.urandom(2**20)), fault_detail="x" * 1000)
    path = tmp_path / "spool" / f"{JOB['id']}.jsonl"
    content = path.read_bytes()
    give_own_disk(monkeypatch)
    monkeypatch.setattr(unsent, "FIRST_WAIT_S", 0.1)
    real, seen = getattr(module, step), []

    def full(*words: Any) -> Any:
        if len(seen) == 2:
            return real(*words)
        if step == "copyfile":
            words[1].write_bytes(content[:1000])
        seen.append(path.read_bytes() == content)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, step, full)
    send(kept, record, Picky(largest))
    assert seen == [True] * 2
    assert not list(kept) and not path.exists()
    assert [(one.name, one.read_bytes()) for one in (tmp_path / folder).iterdir()] == [(path.name, content)]


def test_the_draft_of_one_whose_process_was_killed_is_swept(tmp_path: Path) -> None:
    for name in ("refused", "cut"):
        (tmp_path / name).mkdir()
        for end in ("jsonl", "jsonl.new"):
            (tmp_path / name / f"a.{end}").touch()
    spool.Spool.open(tmp_path / "spool")
    assert sorted(path.name for path in tmp_path.glob("*/*")) == ["a.jsonl"] * 2


def test_a_failure_of_ours_does_not_end_the_reporting(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    records = spool.Spool(tmp_path / "spool")
    record = records.accept(JOB)
    records.note(record, ended_at=5.0)
    server = Picky(10_000)
    real, failures = server.call, iter([RuntimeError("odd")])

    def call(*words: Any) -> dict[str, Any]:
        for failure in failures:
            raise failure
        return real(*words)

    server.call = call
    send(records, record, server)
    assert len(server.taken) == 1
    assert "RuntimeError: odd" in caplog.text


def test_waits_grow_to_their_limit_and_begin_anew() -> None:
    backoff = Backoff(1.0)
    waits = [backoff.next() for _number in range(6)]
    assert 0.1 <= waits[0] <= 0.2
    assert all(0.5 <= wait <= 1.0 for wait in waits[3:])
    backoff.reset()
    assert backoff.next() <= 0.2
