"""The spool: each job's record on disk, so that neither a server's outage nor our own end loses a result."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from .aside import SUFFIX, Aside
from .disks import Disk, Hung, Task
from .durable import sync_folder

logger = logging.getLogger(__name__)

# Where records are kept, by the spool, that the server never takes, and those of which it has the head and tail only.
REFUSED_FOLDER, CUT_FOLDER = "refused", "cut"
# How many of the latest of each are kept.
MOST_REFUSED, MOST_CUT = 1000, 20


class Record:
    """What is known of one job; `facts` holds the job itself and every later finding, `version` counts them."""

    def __init__(self, job_id: str, facts: dict[str, Any]) -> None:
        self.job_id = job_id
        self.facts = facts
        self.version = len(facts)
        self.file: BinaryIO | None = None
        # Whether something of it could not be put on disk.
        self.is_torn = False
        # The latest event that the server acknowledged to this process, "" for none.
        self.told = ""

    @property
    def job(self) -> dict[str, Any]:
        """Return the job as the server handed it out."""
        return dict(self.facts["job"])

    @property
    def is_finished(self) -> bool:
        """Return whether the job has ended, one way or another."""
        return "ended_at" in self.facts


class Spool:
    """One file a job, a line of JSON for each thing that happened; the last line may be torn and is then ignored.

    Nothing is read before `read`. A disk that hangs is waited for only so long: what it does not take is in memory,
    and is put on it once it answers.
    """

    def __init__(self, folder: Path, disk: Disk | None = None) -> None:
        self.folder = folder
        self.disk = disk or Disk()
        self.refused = Aside(folder.parent / REFUSED_FOLDER, MOST_REFUSED)
        self.cut = Aside(folder.parent / CUT_FOLDER, MOST_CUT)
        folder.mkdir(mode=0o700, exist_ok=True)
        # Of the records in memory; never held while the disk is waited for.
        self._lock = threading.Lock()
        # Whether the log says that the disk hangs.
        self._is_hung = False
        self._records: dict[str, Record] = {}

    @classmethod
    def open(cls, folder: Path) -> Spool:
        """Return the spool of a folder with what is in it."""
        spool = cls(folder)
        spool.read()
        return spool

    def read(self) -> None:
        """Take in what a former process left; only for one that knows that no other works in the folder."""
        for path in sorted(self.folder.glob("*" + SUFFIX)):
            facts = _read(path)
            if "job" in facts:
                self._records[path.stem] = Record(path.stem, facts)
            else:
                # Cut off before the job itself was on disk: it never ran, and the server will hand it out again.
                path.unlink()
        self.refused.sweep()
        self.cut.sweep()

    def __contains__(self, job_id: str) -> bool:
        with self._lock:
            return job_id in self._records

    def get(self, job_id: str) -> Record | None:
        """Return the record of a job, None if there is none."""
        with self._lock:
            return self._records.get(job_id)

    def __iter__(self) -> Iterator[Record]:
        with self._lock:
            return iter(list(self._records.values()))

    def accept(self, job: dict[str, Any]) -> Record:
        """Put a job on disk before anything of it is done; OSError if the disk will not take it, or hangs."""
        record = Record(str(job["id"]), {"job": job})
        try:
            self.disk.do(lambda: self._create(record))
        except Hung:
            self.disk.begin(lambda: self._remove(record))
            raise
        with self._lock:
            self._records[record.job_id] = record
        return record

    def note(self, record: Record, **facts: Any) -> None:
        """Write down what happened; it is on disk for certain only after `sync`.

        A full disk costs the protection against our own end, not the result: it can still be sent from memory.
        """
        with self._lock:
            task = self.disk.begin(lambda: self._append(record, facts))
            record.facts.update(facts)
            record.version += 1
        self._wait(record, task)

    def hand_back(self, job: dict[str, Any], **outcome: Any) -> Record:
        """Return the record of a job that could not be put on disk and is not done: it is in memory alone."""
        record = Record(str(job["id"]), {"job": job, **outcome})
        with self._lock:
            self._records[record.job_id] = record
        return record

    def set_outcome(self, record: Record, outcome: dict[str, Any]) -> None:
        """Keep what came of a job that is not to be told yet: what it left behind has to be removed first."""
        self.note(record, outcome=outcome)

    def settle(self, record: Record, **changes: Any) -> None:
        """Let the outcome be what the record says, with what has to be said besides."""
        self.note(record, settled=changes)
        with self._lock:
            record.facts = _settled(record.facts)

    def sync(self, record: Record) -> tuple[dict[str, Any], int]:
        """See that all is on disk, unless that hangs; return a copy of the facts and their version."""
        with self._lock:
            facts, version = dict(record.facts), record.version
            task = self.disk.begin(lambda: self._sync(record, facts))
        self._wait(record, task)
        return facts, version

    def forget(self, record: Record) -> None:
        """Drop a job whose end the server has acknowledged."""
        with self._lock:
            self._records.pop(record.job_id, None)
        self._wait(record, self.disk.begin(lambda: self._remove(record)))

    def set_aside(self, record: Record, aside: Aside) -> Path:
        """Keep a record that the server never takes, or not whole, in a folder by the spool.

        OSError if the disk will not take it, or hangs: then its file is where it was, and it is no longer in memory.
        """

        def keep() -> None:
            aside.take(self._path(record.job_id))
            _close(record)

        with self._lock:
            # Whatever becomes of its file: it is held no longer, and who hands it out again hears that it is over.
            self._records.pop(record.job_id, None)
        self.disk.do(keep)
        return aside.folder / (record.job_id + SUFFIX)

    def _wait(self, record: Record, task: Task[None]) -> None:
        """Wait until the disk has done something for a record, or hangs."""
        try:
            self.disk.wait(task)
        except Hung:
            if not self._is_hung:
                logger.warning("Job %s: the disk of the spool does not answer; it goes on in memory", record.job_id)
            self._is_hung = True
        else:
            self._is_hung = False

    # What follows is done by the disk's thread.

    def put_back(self) -> None:
        """Write each record anew whose file is gone, alone or with the folder."""
        for record in self:
            if self._path(record.job_id).exists():
                continue
            _close(record)
            record.is_torn = True
            self._mend(record, dict(record.facts))

    def _create(self, record: Record) -> None:
        path = self._path(record.job_id)
        record.file = path.open("wb", buffering=0)
        try:
            _append(record, record.facts)
            os.fsync(record.file.fileno())
            sync_folder(self.folder)
        except OSError:
            _close(record)
            path.unlink()
            raise

    def _append(self, record: Record, facts: dict[str, Any]) -> None:
        try:
            if record.file is None:
                record.file = self._path(record.job_id).open("ab", buffering=0)
            _append(record, facts)
        except OSError as error:
            logger.warning("Job %s: the spool cannot be written: %s", record.job_id, error)
            record.is_torn = True

    def _sync(self, record: Record, facts: dict[str, Any]) -> None:
        if record.is_torn:
            self._mend(record, facts)
        if record.file is None:
            return
        try:
            os.fsync(record.file.fileno())
        except OSError as error:
            logger.warning("Job %s: the spool cannot be written: %s", record.job_id, error)

    def _mend(self, record: Record, facts: dict[str, Any]) -> None:
        """Try to put on disk, as one more line, all of a record of which something is in memory alone."""
        try:
            if record.file is None:
                record.file = self._path(record.job_id).open("ab", buffering=0)
            _append(record, facts)
        except OSError:
            return
        record.is_torn = False

    def _remove(self, record: Record) -> None:
        self._path(record.job_id).unlink(missing_ok=True)
        _close(record)

    def _path(self, job_id: str) -> Path:
        return self.folder / (job_id + SUFFIX)


def _close(record: Record) -> None:
    if record.file is not None:
        record.file.close()
        record.file = None


def _append(record: Record, facts: dict[str, Any]) -> None:
    if record.file is None:
        raise ValueError(f"the record of {record.job_id} is closed")
    # The newline comes first, so that a line torn by a full disk cannot swallow the next one.
    line = memoryview(b"\n" + json.dumps(facts).encode())
    while line:
        line = line[record.file.write(line) :]


def _read(path: Path) -> dict[str, Any]:
    """Return all that a file's whole lines say."""
    facts: dict[str, Any] = {}
    for line in path.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            facts.update(entry)
    return _settled(facts)


def _settled(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what is known with the outcome as part of it, if that may be told."""
    if "settled" not in facts or "outcome" not in facts:
        return facts
    others = {name: value for name, value in facts.items() if name not in ("outcome", "settled")}
    return {**others, **facts["outcome"], **facts["settled"]}
