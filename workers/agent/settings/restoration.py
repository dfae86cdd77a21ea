"""What jobs set, put back as long as it takes: what cannot be yet is a trouble of the node, and is tried again."""

from __future__ import annotations

import logging
import threading
import time

from ..backoff import Backoff
from ..disks import Disk
from ..removal import WITHIN_S
from .journal import Dropped, Journals, Unrestored

logger = logging.getLogger(__name__)

TROUBLE, THREAD = "settings-left", "restoration"
# The first and the longest wait (s) before what could not be put back is tried again.
FIRST_WAIT_S, MOST_WAIT_S = 2.0, 10.0
# As much of it is told as a poll takes.
MOST_LETTERS = 400


class Restoration:
    """Puts back what journals say was found; a thread of its own goes on with what is left, while there is any."""

    def __init__(self, journals: Journals) -> None:
        self.journals = journals
        self._lock = threading.Lock()
        # {job: what is not as it was}
        self._left: dict[str, str] = {}

    def restore_all(self) -> None:
        """Put back what is left of jobs that were cut off."""
        for job_id in self.journals.jobs():
            if not self.restore(job_id):
                logger.info("Settings of job %s are put back", job_id)

    def restore(self, job_id: str) -> str:
        """Put back what a job set, now or, if that cannot be, later; return what is not as it was, "" if all is."""
        left, lost = self._attempt(job_id)
        if left:
            with self._lock:
                is_first, is_news = not self._left, job_id not in self._left
                self._left[job_id] = left
            if is_news:
                logger.error("Settings of job %s are not what they were: %s", job_id, left)
            if is_first:
                threading.Thread(target=self._go_on, name=THREAD, daemon=True).start()
        return left or lost

    def trouble(self) -> tuple[str, str] | None:
        """Return the code and the words of what is not as it was, None if all is."""
        with self._lock:
            words = "; ".join(self._left.values())
        return (TROUBLE, words[:MOST_LETTERS]) if words else None

    def _attempt(self, job_id: str) -> tuple[str, str]:
        """Put back what a job set; return what is left to be put back, and what is lost for good, each in words."""
        try:
            Disk().do(lambda: self.journals.restore(job_id), WITHIN_S)
        except Dropped as error:
            logger.error("Settings of job %s: %s", job_id, error)
            return "", str(error)
        except (Unrestored, OSError) as error:
            return str(error), ""
        return "", ""

    def _go_on(self) -> None:
        backoff = Backoff(MOST_WAIT_S, FIRST_WAIT_S)
        while True:
            time.sleep(backoff.next())
            for job_id in list(self._left):
                left, _lost = self._attempt(job_id)
                with self._lock:
                    if left:
                        self._left[job_id] = left
                        continue
                    del self._left[job_id]
                    is_last = not self._left
                logger.info("Settings of job %s are put back", job_id)
                if is_last:
                    return
