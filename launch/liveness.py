"""Notice what has come to a halt: a part that gives no sign of life, and a process of one that somebody stopped."""

import dataclasses
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from launch import owners

logger = logging.getLogger(__name__)

# How often a part is asked (s).
ASK_EVERY_S = 2.0
# No answer takes longer to be given up (s).
_LONGEST_ASK_S = 5.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Who waits for something, and looks now and then whether it is there, uses no more of the processor than this (s).
_EFFORT_S = 0.1
_EFFORTS_EVERY_S = 1.0


class UnwritableError(Exception):
    """A sign of life that cannot be given, whoever lives: the text says why."""


class EndingError(Exception):
    """Who was asked says that it ends, and may wait for others before it does."""


class FileSign:
    """A file that a process touches every few seconds while its main loop comes round; a call asks whether it did.

    It is made, of whoever the folder is, before the process starts; one that is cleared away is made anew.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._last = 0

    def make(self) -> None:
        """Make the file in the place of what a former run left there, maybe another user's; OSError if it is kept."""
        folder = self.file.parent
        with owners.acting(folder.parent):
            folder.mkdir(exist_ok=True)
        owners.remove_in(folder, self.file.name)
        descriptor = owners.open_in(folder, self.file.name, os.O_WRONLY | os.O_CREAT)
        os.utime(descriptor, (0, 0))
        os.close(descriptor)
        self._last = 0

    def __call__(self) -> bool:
        """Return whether the file was touched since the last look at it; UnwritableError if it cannot be touched."""
        try:
            touched = self.file.stat().st_mtime_ns
            is_fresh = touched != self._last
            if not is_fresh:
                # What keeps the process from it is no halt, and keeps this one, too.
                os.utime(self.file, ns=(touched, touched))
            self._last = touched
        except FileNotFoundError:
            self._make_again()
            return False
        except OSError as error:
            raise UnwritableError(f"{self.file} cannot be written: {error.strerror}{self._owner()}") from error
        return is_fresh

    def _make_again(self) -> None:
        try:
            self.make()
        except OSError as error:
            raise UnwritableError(f"{self.file} cannot be made: {error.strerror}") from error

    def _owner(self) -> str:
        try:
            return f", it is {owners.name_of(self.file.stat().st_uid)}'s"
        except OSError:
            return ""


class Listener:
    """Asks one part for signs of life, again and again, in a thread of its own: an answer may be long in coming."""

    def __init__(self, name: str, sign: Callable[[], bool]) -> None:
        self._sign = sign
        self._silent_s = 0.0
        self._has_heard = False
        self._has_failed = False
        self._ending_since: float | None = None
        # Why no sign of life can be given, "" if one can.
        self.trouble = ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, name=f"liveness of {name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask no more."""
        self._ended.set()

    def begin_anew(self) -> None:
        """Forget what was heard: another process is asked from now on."""
        self._silent_s, self._has_heard, self._ending_since = 0.0, False, None

    @property
    def ending_s(self) -> float:
        """Return for how long (s) it has said that it ends; 0 if it did not when it was asked last."""
        since = self._ending_since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def has_heard(self) -> bool:
        """Return whether it was heard since it was started."""
        return self._has_heard

    def is_silent(self, *, after_s: float, at_first_s: float) -> bool:
        """Return whether nothing was heard for `after_s`, or for `at_first_s` if nothing was heard yet."""
        return self._silent_s > (after_s if self._has_heard else max(after_s, at_first_s))

    def _listen(self) -> None:
        asked_at = time.monotonic()
        while not self._ended.wait(ASK_EVERY_S):
            try:
                if self._gives_sign():
                    self._silent_s, self._has_heard, self._ending_since = 0.0, True, None
                else:
                    # Who did not ask, having been stopped itself, may not say that nobody answered.
                    self._silent_s += min(time.monotonic() - asked_at, _LONGEST_ASK_S)
                self.trouble = ""
            except UnwritableError as error:
                # Nobody can tell whether it lives: it has its whole time again.
                self._silent_s, self.trouble = 0.0, str(error)
            asked_at = time.monotonic()

    def _gives_sign(self) -> bool:
        """Ask; whatever goes wrong with the asking is no sign, and the next one is asked for all the same."""
        try:
            gave = self._sign()
            self._has_failed = False
            return gave
        except UnwritableError:
            raise
        except EndingError:
            # No sign: who ends for ever is killed as whoever has come to a halt.
            self._ending_since = self._ending_since or time.monotonic()
            return False
        except Exception:
            if not self._has_failed:
                logger.exception("%s cannot be asked for", self._thread.name)
            self._has_failed = True
            return False


@dataclasses.dataclass(frozen=True)
class Moment:
    """A process at one moment: its state, and the time of the processor (s) that it and those it reaped used."""

    state: str
    cpu_s: float


def processes_by_group(processes: str = "/proc") -> dict[int, dict[int, Moment]]:
    """Return {process group: {number: process}} of all that run on the machine.

    One reading serves all parts: a machine has hundreds of processes, and this is asked every few seconds.
    """
    groups: dict[int, dict[int, Moment]] = {}
    for name in os.listdir(processes) if os.path.isdir(processes) else ():  # noqa: PTH112, PTH208
        if not name.isdigit():
            continue
        try:
            with open(f"{processes}/{name}/stat", "rb", buffering=0) as file:  # noqa: PTH123
                # State, parent, process group, and from the 12th on four times: proc(5).
                state, _parent, group, *rest = file.read().rpartition(b")")[2].split()
            moment = Moment(state.decode(), sum(map(int, rest[8:12])) / _TICKS_PER_S)
            groups.setdefault(int(group), {})[int(name)] = moment
        except (OSError, ValueError):
            # It has just ended.
            continue
    return groups


class StoppedProcesses:
    """The processes of a part that are stopped (SIGSTOP) or held by a tracer, and for how long they have been.

    One that is traced and goes on, as under strace, uses the processor between two looks.
    """

    def __init__(self) -> None:
        self._since: dict[int, tuple[Moment, float]] = {}

    def longer_than(self, processes: Mapping[int, Moment], seconds: float) -> list[int]:
        """Note a part's processes as they are; return those that were stopped at each look for `seconds`."""
        now = time.monotonic()
        stopped = {pid: (moment, now) for pid, moment in processes.items() if moment.state in "Tt"}
        last = self._since
        self._since = {
            pid: last[pid] if pid in last and last[pid][0] == new[0] else new for pid, new in stopped.items()
        }
        return [pid for pid, (_moment, since) in self._since.items() if now - since > seconds]


class Efforts:
    """Whether a process group that starts gets on: it uses the processor, however little a busy machine gives it."""

    def __init__(self, group: int) -> None:
        self._group = group
        self._cpu_s = 0.0
        self._used_at = time.monotonic()
        self._look_at = 0.0

    def idle_s(self) -> float:
        """Return for how long (s) it has used as good as nothing; it is looked at once a second, so ask often."""
        now = time.monotonic()
        if now >= self._look_at:
            cpu_s = sum(moment.cpu_s for moment in processes_by_group().get(self._group, {}).values())
            if cpu_s - self._cpu_s > _EFFORT_S:
                self._used_at = now
            if abs(cpu_s - self._cpu_s) > _EFFORT_S:
                # It is less once a process of it has ended that nobody reaped.
                self._cpu_s = cpu_s
            self._look_at = now + _EFFORTS_EVERY_S
        return now - self._used_at
