"""What a former process of the agent left: jobs that its end cut off, their programs, folders and settings."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
from collections.abc import Callable
from pathlib import Path

from . import steady
from .instance import Instance
from .kin import birth_of, end_kin
from .removal import Clearing
from .settings import Restoration
from .spool import Record, Spool

logger = logging.getLogger(__name__)

SWEEP_WAIT_S = 0.5


class Succession:
    """What a process sees to once it knows that no other works in its folder: as the lock says, or the server."""

    def __init__(
        self, instance: Instance, spool: Spool, work: Path, clearing: Clearing, restoration: Restoration
    ) -> None:
        self.is_complete = False
        self._instance, self._spool, self._work = instance, spool, work
        self._clearing, self._restoration = clearing, restoration

    def complete(self, changed: Callable[[Record], None]) -> None:
        """Read the spool, end what was cut off, remove its folders and put its settings back; once.

        `changed` is called with each record.
        """
        if self.is_complete:
            return
        self._instance.mark_place()
        self._spool.read()
        for record in self._spool:
            if not record.is_finished:
                logger.info("Job %s was cut off when the agent ended", record.job_id)
                close_left_over(record, self._spool, self._work, is_copy=self._instance.is_in_a_copy)
            changed(record)
        self._clearing.sweep(self._work, spared=())
        # What is removed quickly needs not be told; a large folder keeps jobs away, but not the first poll.
        self._clearing.wait(SWEEP_WAIT_S)
        # Before any job is taken, the node is what it was before the last ones, or is set aside until it is.
        self._restoration.restore_all()
        self.is_complete = True


def close_left_over(record: Record, spool: Spool, work: Path, *, is_copy: bool = False) -> None:
    """Write down that a job was cut off by the agent's own end, and kill what is left of it.

    What it had come to, if that is on the spool, is its outcome.
    """
    if not end_kin(work / record.job_id):
        logger.warning("Job %s: a process of it is still there although it was killed", record.job_id)
    # One with capabilities hides where it works.
    pid, born = record.facts.get("pid"), record.facts.get("born")
    if pid and born and not is_copy and birth_of(pid) == born:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    if "outcome" in record.facts:
        spool.settle(record)
    else:
        # Its times are by the clock of the process that began it, and so is the offset to the server's.
        started_at = record.facts.get("started_at") or 0.0
        ended_at = steady.now_by(record.facts.get("mark"), not_before=started_at)
        spool.note(record, ended_at=ended_at, fault="agent-restarted", fault_detail="the agent was restarted")
