"""Reports to the server: each job's record as far as it is known, sent until it is acknowledged."""

from __future__ import annotations

import base64
import http.client
import logging
import threading
import time
import zlib
from collections.abc import Callable
from typing import Any

from .backoff import Backoff
from .jobs import pack
from .remote import Away, Refused, Remote
from .spool import Record, Spool

logger = logging.getLogger(__name__)

REPORT_TIMEOUT_S = 60.0
# News that nobody's next step waits for is kept back so long, for the news that follows it makes it needless.
LULL_S = 0.05
# What the agent keeps for itself.
PRIVATE = ("job", "pid", "born", "outcome", "settled")
# A report that is too large is sent again with this much of each output, then with a quarter of it, and so on.
FIRST_CUT = 1024 * 1024
LAST_CUT = 4096


class Reporter(threading.Thread):
    """Sends records in the order in which they are due, over a connection of its own.

    A report holds all that is known of its job, so a later one makes an earlier one needless, and repeating one
    changes nothing.
    """

    def __init__(
        self,
        spool: Spool,
        connect: Callable[[], Remote],
        closing: threading.Event,
        forgotten: Callable[[str], None],
        admitted: threading.Event,
        troubles: Callable[[], list[dict[str, str]]],
    ) -> None:
        super().__init__(name="report", daemon=True)
        # Nothing is reported by a process that the server has not let in: it might be a copy of the right one.
        self._admitted, self._troubles = admitted, troubles
        self._spool, self._connect, self._closing, self._forgotten = spool, connect, closing, forgotten
        # With the instant (monotonic, s) from which on each may be sent.
        self._pending: dict[str, tuple[float, Record]] = {}
        self._condition = threading.Condition()

    def changed(self, record: Record) -> None:
        """Have a record sent."""
        now = time.monotonic()
        with self._condition:
            due, _record = self._pending.get(record.job_id, (now + LULL_S, record))
            self._pending[record.job_id] = (min(due, now) if is_awaited(record) else due, record)
            self._condition.notify_all()

    def drain(self, timeout_s: float) -> None:
        """Wait until all is sent, or the time is up."""
        with self._condition:
            self._condition.wait_for(lambda: not self._pending, timeout_s)

    def run(self) -> None:
        """Send until the agent closes."""
        remote, backoff = self._connect(), Backoff()
        while not self._closing.is_set():
            record = self._next()
            if record is None or not self._admitted.wait(1.0):
                continue
            try:
                self._send(remote, record)
            except Away as error:
                logger.debug("A report waits: %s", error)
                self._closing.wait(backoff.next())
            except Refused as error:
                # Retired, or enrolled anew: keep the results, and try with the token of the day.
                logger.debug("A report is refused: %s", error)
                self._closing.wait(backoff.next())
                remote.close()
                remote = self._connect()
            except Exception:
                logger.exception("The report on job %s failed in the agent", record.job_id)
                self._closing.wait(backoff.next())
            else:
                backoff.reset()

    def _next(self) -> Record | None:
        """Return the record that is due first, once it is; None if there is none, or another may have come to be."""
        with self._condition:
            if not self._condition.wait_for(lambda: self._pending, 1.0):
                return None
            due, record = min(self._pending.values(), key=lambda entry: entry[0])
            left = due - time.monotonic()
            if left > 0:
                self._condition.wait(left)
                return None
            return record

    def _send(self, remote: Remote, record: Record) -> None:
        """Send one record as it is now; raises Away, or Refused for a refusal of the agent itself."""
        facts, version = self._spool.sync(record)
        has_ended = "ended_at" in facts
        if record.job_id in self._spool:
            try:
                self._post(remote, record.job_id, facts)
            except Refused as error:
                if error.status in (401, 403):
                    raise
                logger.warning("Job %s: its report was refused: %s", record.job_id, error)
                # A job that still runs has its end to report, and to be refused, in its turn.
                if has_ended:
                    self._forgotten(record.job_id)
                    logger.warning("Its record is kept in %s", self._spool.set_aside(record))
            else:
                if has_ended:
                    self._forgotten(record.job_id)
                    self._spool.forget(record)
        with self._condition:
            # What was noted meanwhile has still to be sent.
            if has_ended or record.version == version:
                self._pending.pop(record.job_id, None)
                self._condition.notify_all()

    def _post(self, remote: Remote, job_id: str, facts: dict[str, Any]) -> None:
        """Send a report, with shorter and shorter outputs if it is too large for the server or a proxy before it."""
        report = {"event": _event(facts), **{name: value for name, value in facts.items() if name not in PRIVATE}}
        if "ended_at" in facts:
            report["troubles"] = self._troubles()
        cut = FIRST_CUT
        while True:
            try:
                remote.call(f"jobs/{job_id}/events", report, REPORT_TIMEOUT_S)
            except Refused as error:
                if error.status != http.client.REQUEST_ENTITY_TOO_LARGE or cut < LAST_CUT:
                    raise
                report, cut = shortened(report, cut), cut // 4
            else:
                return


def is_awaited(record: Record) -> bool:
    """Say whether the job's run can go on now: at its end, or when it is at hand if others work with it meanwhile."""
    facts = record.facts
    if "ended_at" in facts or "ready_at" in facts:
        return True
    return bool(facts["job"].get("background")) and not facts["job"].get("ready_pattern")


def shortened(report: dict[str, Any], limit: int) -> dict[str, Any]:
    """Return a report with at most the first `limit` bytes of each output and file, marked as truncated.

    What was read around the job is dropped: its result matters more.
    """
    outputs: dict[str, Any] = {
        name: _shortened(report[name], limit) for name in ("stdout", "stderr") if name in report
    }
    outputs["collected"] = [
        {
            **file,
            "content": _shortened(file["content"], limit),
            "truncated": file["truncated"] or file["size"] > limit,
        }
        for file in report.get("collected", [])
    ]
    kept = {name: value for name, value in report.items() if name != "telemetry"}
    return {**kept, **outputs, "truncated": True}


def _shortened(packed: str, limit: int) -> str:
    return pack(zlib.decompress(base64.b64decode(packed))[:limit])


def _event(facts: dict[str, Any]) -> str:
    if "ended_at" in facts:
        return "finished"
    return "ready" if "ready_at" in facts else "started"
