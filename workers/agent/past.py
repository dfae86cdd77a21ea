"""Jobs whose records are gone: what a server that hands one out again is answered, for it is not done twice."""

from __future__ import annotations

import threading

# So many of the latest are remembered; one that is older, or was another process's, is carried out as a new one.
MOST = 1000
# Why there is no record: the server has, or had, all of it, or it said that it never takes it.
ACKNOWLEDGED, REFUSED = "acknowledged", "refused"


class Past:
    """The latest jobs that are over for this process, and those of them that the server handed out again.

    A delivery may have been under way while the end was acknowledged: then the answer says nothing new. A server
    whose database lost its last seconds hears what it cannot know, and decides.
    """

    def __init__(self, most: int = MOST) -> None:
        self._lock = threading.Lock()
        self._most = most
        self._reasons: dict[str, str] = {}
        self._asked: dict[str, str] = {}

    def note(self, job_id: str, reason: str) -> None:
        """Keep that a job is over, and why there is no record of it."""
        with self._lock:
            self._reasons.pop(job_id, None)
            self._reasons[job_id] = reason
            while len(self._reasons) > self._most:
                del self._reasons[next(iter(self._reasons))]

    def begin_answer(self) -> None:
        """Forget what was to be answered: the server has heard it, and says anew what it does not know."""
        with self._lock:
            self._asked = {}

    def passes_over(self, job_id: str) -> bool:
        """Return whether a job that is handed out is over; the next poll says so."""
        with self._lock:
            reason = self._reasons.get(job_id)
            if reason is not None:
                self._asked[job_id] = reason
            return reason is not None

    def answers(self) -> dict[str, str]:
        """Return the jobs that were handed out although they are over, with the reasons."""
        with self._lock:
            return dict(self._asked)
