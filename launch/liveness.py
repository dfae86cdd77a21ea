"""Notice what has come to a halt: a part that gives no sign of life, and a part's process that somebody stopped."""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

logger = logging.getLogger(__name__)

# How often a part is asked (s).
ASK_EVERY_S = 2.0
# No answer takes longer to be given up (s).
_LONGEST_ASK_S = 5.0


class FileSign:
    """A file that a process touches every few seconds while its main loop comes round; a call asks whether it did."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._last = 0

    def __call__(self) -> bool:
        """Return whether the file was touched since it was looked at last."""
        try:
            touched = self.file.stat().st_mtime_ns
        except OSError:
            return False
        is_fresh = touched != self._last
        self._last = touched
        return is_fresh


class Listener:
    """Asks one part for signs of life, again and again, in a thread of its own: an answer may be long in coming."""

    def __init__(self, name: str, sign: Callable[[], bool]) -> None:
        self._sign = sign
        self._silent_s = 0.0
        self._has_heard = False
        self._has_failed = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, name=f"liveness of {name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask no more."""
        self._ended.set()

    def begin_anew(self) -> None:
        """Forget what was heard: another process is asked from now on."""
        self._silent_s, self._has_heard = 0.0, False

    def is_silent(self, *, after_s: float, at_first_s: float) -> bool:
        """Return whether nothing was heard for `after_s`, or for `at_first_s` if nothing was heard yet."""
        return self._silent_s > (after_s if self._has_heard else max(after_s, at_first_s))

    def _listen(self) -> None:
        asked_at = time.monotonic()
        while not self._ended.wait(ASK_EVERY_S):
            if self._gives_sign():
                self._silent_s, self._has_heard = 0.0, True
            else:
                # Who did not ask, having been stopped itself, may not say that nobody answered.
                self._silent_s += min(time.monotonic() - asked_at, _LONGEST_ASK_S)
            asked_at = time.monotonic()

    def _gives_sign(self) -> bool:
        """Ask; whatever goes wrong with the asking is no sign, and the next one is asked for all the same."""
        try:
            gave = self._sign()
            self._has_failed = False
            return gave
        except Exception:
            if not self._has_failed:
                logger.exception("%s cannot be asked for", self._thread.name)
            self._has_failed = True
            return False


def stopped_by_group(processes: str = "/proc") -> dict[int, list[int]]:
    """Return {process group: numbers of its processes that are stopped}, of all that run on the machine.

    One reading serves all parts: a machine has hundreds of processes, and this is asked every few seconds.
    """
    stopped: dict[int, list[int]] = {}
    for name in os.listdir(processes) if os.path.isdir(processes) else ():  # noqa: PTH112, PTH208
        if not name.isdigit():
            continue
        try:
            with open(f"{processes}/{name}/stat", "rb", buffering=0) as file:  # noqa: PTH123
                # State, parent, process group: proc(5).
                state, _parent, group = file.read().rpartition(b")")[2].split()[:3]
        except (OSError, ValueError):
            # It has just ended.
            continue
        if state == b"T":
            stopped.setdefault(int(group), []).append(int(name))
    return stopped


class Stops:
    """For how long each of a part's processes has been stopped (SIGSTOP)."""

    def __init__(self) -> None:
        self._since: dict[int, float] = {}

    def longer_than(self, stopped: Iterable[int], seconds: float) -> list[int]:
        """Note those that are stopped now; return those of them that were at each look for `seconds`."""
        now = time.monotonic()
        self._since = {pid: self._since.get(pid, now) for pid in stopped}
        return [pid for pid, since in self._since.items() if now - since > seconds]
