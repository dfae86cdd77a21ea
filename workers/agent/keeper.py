"""The lock of the folder, looked after: whoever removes its file lets a second agent start beside this one."""

from __future__ import annotations

import logging

from .disks import Disk, Errand, Hung
from .lock import Lock

logger = logging.getLogger(__name__)


class Keeper:
    """Sees that the lock that this process holds is the one that another would find, and makes it anew if not."""

    def __init__(self, lock: Lock | None, disk: Disk) -> None:
        self._lock, self._looking = lock, Errand[str](disk)
        self._last = ""

    def look(self) -> bool:
        """Look after the lock, and return whether it was made anew; a disk that does not answer says nothing."""
        try:
            state = self._looking.do(self._look)
        except (Hung, OSError):
            return False
        before, self._last = self._last, state
        if state == "held" and before != "held" and self._lock is not None:
            logger.error(
                "The lock file %s was removed while this agent works, and another process holds a new one: stop it",
                self._lock.path,
            )
        if state == "renewed" and self._lock is not None:
            logger.warning("The lock file %s was removed while this agent works: it is made anew", self._lock.path)
        return state == "renewed"

    def trouble(self) -> tuple[str, str] | None:
        """Return the code and the words of what is wrong, None if nothing is."""
        if self._last == "held" and self._lock is not None:
            return "lock-lost", f"another process holds {self._lock.path}"
        return None

    def _look(self) -> str:
        if self._lock is None or self._lock.is_in_place():
            return ""
        return "renewed" if self._lock.renew() else "held"
