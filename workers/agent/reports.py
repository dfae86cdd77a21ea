"""Reports to the server: each job's record as far as it is known, sent until the server acknowledges exactly that."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from http.client import UNAUTHORIZED
from typing import Any

from .backoff import Backoff
from .excerpts import UNSAID, has_cut, shortened, steps_of
from .past import ACKNOWLEDGED, REFUSED
from .remote import Away, Failed, NotTheServer, Refused, Remote, TooLarge, Unavailable
from .spool import Record, Spool
from .unsent import SHORTEN_AFTER, STUCK_AFTER, Entry, Unsent

logger = logging.getLogger(__name__)

REPORT_TIMEOUT_S = 60.0
# What the agent keeps for itself.
PRIVATE = ("job", "pid", "born", "mark", "outcome", "settled")
# The server's codes for a report that it will never take: no other answer makes the agent put one aside.
FOR_GOOD = ("bad-field", "bad-json", "other-instance", "too-large", "unknown-job")


class Reporter:
    """Sends records in the order in which they are due.

    A report holds all that is known of its job, so a later one makes an earlier one needless, and repeating one
    changes nothing. Large ones, and those that were lost before, go over a connection of their own.
    """

    def __init__(
        self,
        spool: Spool,
        connect: Callable[[], Remote],
        closing: threading.Event,
        forgotten: Callable[[str, str], None],
        admitted: threading.Event,
        troubles: Callable[[], list[dict[str, str]]],
        unsent: Unsent,
    ) -> None:
        # Nothing is reported by a process that the server has not let in: it might be a copy of the right one.
        self._admitted, self._troubles, self._unsent = admitted, troubles, unsent
        self._spool, self._connect, self._closing, self._forgotten = spool, connect, closing, forgotten
        self._lanes = [
            threading.Thread(target=self._run, args=(is_slow,), name=name, daemon=True)
            for is_slow, name in ((False, "report"), (True, "report-slow"))
        ]

    def start(self) -> None:
        """Send until the agent closes, in threads of its own."""
        for lane in self._lanes:
            lane.start()

    def join(self, timeout_s: float) -> None:
        """Wait until the threads have ended, each at most so long."""
        for lane in self._lanes:
            lane.join(timeout_s)

    def changed(self, record: Record) -> None:
        """Have a record sent."""
        self._unsent.put(record, is_awaited=is_awaited(record))

    def drain(self, timeout_s: float) -> None:
        """Wait until all is sent, or the time is up."""
        self._unsent.drain(timeout_s)

    def _run(self, is_slow: bool) -> None:
        remote, backoff = self._connect(), Backoff()
        while not self._closing.is_set():
            if not self._admitted.wait(1.0):
                continue
            entry = self._unsent.take(is_slow=is_slow)
            if entry is None:
                continue
            is_done = False
            try:
                is_done = self._send(remote, entry)
            except Away as error:
                if self._is_its_own(error, remote):
                    self._note_loss(entry, error)
                else:
                    logger.debug("A report waits: %s", error)
                    self._closing.wait(backoff.next())
            except Refused as error:
                # Retired, or enrolled anew: keep the results, and try with the token of the day.
                logger.debug("A report is refused: %s", error)
                if error.status != UNAUTHORIZED:
                    entry.lose(str(error), may_be_size=False)
                self._closing.wait(backoff.next())
                remote.close()
                remote = self._connect()
            except OSError as error:
                wait = entry.lose(f"its record cannot be set aside: {error}", may_be_size=False)
                words = "Job %s: its record cannot be set aside; tried again in %.0f s: %s"
                logger.warning(words, entry.record.job_id, wait, error)
            except Exception as error:
                logger.exception("The report on job %s failed in the agent", entry.record.job_id)
                entry.lose(f"{type(error).__name__}: {error}", may_be_size=False)
            else:
                backoff.reset()
            self._unsent.give_back(entry, is_done=is_done)

    def _is_its_own(self, error: Away, remote: Remote) -> bool:
        """Say whether a loss has to do with that report, as the server does answer something else."""
        if isinstance(error, (Failed, Unavailable)):
            return isinstance(error, Failed)
        try:
            remote.call("clock")
        except (Away, Refused):
            return False
        return True

    def _note_loss(self, entry: Entry, error: Away) -> None:
        wait = entry.lose(str(error), may_be_size=not error.says_later)
        if entry.losses in (1, STUCK_AFTER, SHORTEN_AFTER):
            words = "Job %s: its report could not be sent (%d times), others pass it; tried again in %.0f s: %s"
            logger.warning(words, entry.record.job_id, entry.losses, wait, error)

    def _send(self, remote: Remote, entry: Entry) -> bool:
        """Send one record as it is now, unless its end was answered; say whether nothing is left to be done with it.

        Raises Away, or Refused for a refusal of the agent itself; OSError if the disk keeps what was answered.
        """
        record = entry.record
        facts, version = self._spool.sync(record)
        has_ended = "ended_at" in facts
        if record.job_id in self._spool:
            try:
                is_whole = self._post(remote, entry, facts)
            except Refused as error:
                if error.code not in FOR_GOOD:
                    raise
                logger.warning("Job %s: its report was refused: %s", record.job_id, error)
                reason, put_away = REFUSED, self._keep_refused
            else:
                record.told = _event(facts)
                reason, put_away = ACKNOWLEDGED, self._spool.forget if is_whole else self._keep_cut
            # A job that still runs has its end to report, or to be refused, in its turn.
            if has_ended:
                self._forgotten(record.job_id, reason)
                entry.put_away = put_away
        if entry.put_away is not None:
            entry.put_away(record)
        # What was noted meanwhile has still to be sent.
        return has_ended or record.version == version

    def _keep_refused(self, record: Record) -> None:
        """Set aside what a job measured that the server never takes; one that never began here measured nothing."""
        if "started_at" in record.facts:
            path = self._spool.set_aside(record, self._spool.refused)
            logger.warning("Job %s: its record is kept in %s", record.job_id, path)
        else:
            self._spool.forget(record)

    def _keep_cut(self, record: Record) -> None:
        """Keep a record of which the server does not have all, with the latest of its like."""
        path = self._spool.set_aside(record, self._spool.cut)
        # What a full disk did not take was in memory alone.
        words = "what the disk took of it" if record.is_torn else "all of it"
        logger.warning("Job %s: its output was cut on the way; %s is kept in %s", record.job_id, words, path)

    def _post(self, remote: Remote, entry: Entry, facts: dict[str, Any]) -> bool:
        """Send a report, shortened if it was lost too often or is too large; say whether it was all of it."""
        report = {"event": _event(facts), **{name: value for name, value in facts.items() if name not in PRIVATE}}
        if "ended_at" in facts:
            report["troubles"] = self._troubles()
        while True:
            sent = _as_it_gets_through(report, entry)
            try:
                answer = remote.call(f"jobs/{entry.record.job_id}/events", sent, REPORT_TIMEOUT_S)
            except TooLarge as error:
                if entry.cuts < len(steps_of(report)):
                    entry.cuts += 1
                    continue
                if error.is_servers:
                    raise
                raise NotTheServer("something on the way takes no report, however short: 413") from error
            if (answer.get("job"), answer.get("event")) != (entry.record.job_id, report["event"]):
                raise NotTheServer("the answer acknowledges another report")
            return not has_cut(sent)


def is_awaited(record: Record) -> bool:
    """Say whether the job's run can go on now: at its end, or when it is at hand if others work with it meanwhile."""
    facts = record.facts
    if "ended_at" in facts or "ready_at" in facts:
        return True
    return bool(facts["job"].get("background")) and not facts["job"].get("ready_pattern")


def _as_it_gets_through(report: dict[str, Any], entry: Entry) -> dict[str, Any]:
    """Return a report as short as what came of earlier tries makes it; each further loss shortens it."""
    lost = max(0, entry.losses_of_size - SHORTEN_AFTER + 1)
    for number, most in ((entry.cuts, None), (lost, UNSAID)):
        steps = steps_of(report, most) if number else []
        if steps:
            report = shortened(report, steps[min(number, len(steps)) - 1])
    return report


def _event(facts: dict[str, Any]) -> str:
    if "ended_at" in facts:
        return "finished"
    return "ready" if "ready_at" in facts else "started"
