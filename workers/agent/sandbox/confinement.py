"""What a job's program may touch on its node, as far as the kernel helps: decided once, entered for each job."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config import Config
from ..identity import Identity
from ..kin import memory_name
from ..places import USUAL_FOLDERS
from ..policy import rules_of
from . import kernel

logger = logging.getLogger(__name__)

# What programs need of any system, to read and to run; no home is among it, nor the agent's or the service's folder.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store")
READABLE = (
    *("/etc", "/proc", "/sys", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/nscd"),
    *("/run/slurm", "/run/munge", "/var/lib/sss", "/var/spool/slurm", "/var/spool/slurmd", "/run/netns"),
)
DEVICES = (
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"),
    *("/dev/infiniband", "/dev/xpmem", "/dev/knem", "/dev/hfi1_0"),
)
SHARED_MEMORY = "/dev/shm"  # noqa: S108
_RUN = kernel.READ | kernel.EXECUTE
_BINARIES = ("bin", "sbin", "libexec", "bin64")
_PING_GROUPS = Path("/proc/sys/net/ipv4/ping_group_range")


@dataclass(frozen=True)
class Confinement:
    """How jobs are confined: the version of Landlock (0 for none), and whether programs can gain rights."""

    config: Config
    identity: Identity
    # The agent's own, which no job may look into.
    folder: Path
    landlock: int
    no_new_privileges: bool
    # Adopted orphans end with their job.
    adopts: bool = False
    # Each job has shared memory of its own, empty, and gone with it.
    own_shared_memory: bool = False
    # Each job has segments, semaphores and queues of its own, gone with it.
    own_ipc: bool = False

    @classmethod
    def find(cls, config: Config, identity: Identity, folder: Path, *, adopts: bool = False) -> Confinement:
        """Return what this kernel offers, and the node's owner wants."""
        if not config.sandbox:
            return cls(config, identity, folder, 0, no_new_privileges=False, adopts=adopts)
        return cls(
            *(config, identity, folder, kernel.landlock_version()),
            no_new_privileges=True,
            adopts=adopts,
            own_shared_memory=_can(lambda: _cover_shared_memory(folder)),
            own_ipc=_can(kernel.own_ipc),
        )

    def enter(self, name: str, program: str, work: Path) -> None:
        """Confine this thread for a job of the program `name` at the path `program`; OSError if that fails."""
        if not self.config.sandbox:
            return
        is_free = self.needs_rights(name, program)
        if not is_free:
            kernel.forgo_privileges()
        # Landlock forbids mounts, and its rule is for what is at the place then. Whatever the program: by its memory
        # a process is known for its job's (`kin`), and no rule keeps one from segments and queues.
        # What its owner has measured in the machine's own must see that.
        if self.own_shared_memory and (_shares_memory(name) or not any(map(_is_shared_memory, self.config.paths))):
            _try(lambda: _cover_shared_memory(work), SHARED_MEMORY)
        if self.own_ipc:
            _try(kernel.own_ipc, "System V segments and queues")
        # Without the first, only root may do the second.
        if self.landlock and (not is_free or os.geteuid() == 0):
            kernel.confine_thread(self.landlock, self._rights(name, program, work))

    def needs_rights(self, name: str, program: str) -> bool:
        """Say whether a program has rights of its own here (setuid, file capabilities) and could not do without."""
        rules = rules_of(name)
        if rules is None or not rules.own_rights:
            return False
        if name == "ping" and self._pings_freely():
            return False
        places = [program, *(str(Path(folder) / helper) for helper in rules.helpers for folder in USUAL_FOLDERS)]
        return any(_has_rights(place) for place in places)

    def as_facts(self) -> dict[str, Any]:
        """Return what is in force, for the server to show."""
        programs = {name: place for name, place in self.config.allowed().items() if place}
        return {
            "landlock": self.landlock,
            "no_new_privileges": self.no_new_privileges,
            "orphans": self.adopts,
            "own_shared_memory": self.own_shared_memory,
            "own_ipc": self.own_ipc,
            "own_rights": sorted(name for name, place in programs.items() if self.needs_rights(name, place)),
            "paths": sorted(self.config.paths),
            "destinations": sorted(self.config.destinations),
            "variables": sorted(self.config.variables),
            "options": {name: sorted(entries) for name, entries in sorted(self.config.options.items())},
            "wrappers": {name: sorted(started) for name, started in sorted(self.config.wrappers.items())},
            "unused": sorted(self.config.unused()),
        }

    def _rights(self, name: str, program: str, work: Path) -> Iterator[tuple[str, int]]:
        for folder in SYSTEM:
            yield folder, _RUN
        for folder in READABLE:
            yield folder, kernel.READ
        for device in DEVICES:
            yield device, kernel.READ | kernel.WRITE
        for place in self._places_of_programs(program):
            yield place, _RUN
        if _shares_memory(name):
            yield SHARED_MEMORY, kernel.READ | kernel.WRITE
        for path in self.config.paths:
            yield path, kernel.READ | kernel.WRITE
        yield str(work), kernel.READ | kernel.WRITE

    def _places_of_programs(self, program: str) -> Iterator[str]:
        """Yield where the allowed programs and this one's interpreter lie, outside of the system's folders."""
        own = [place for place in self.config.programs.values() if place]
        yield from self.config.search
        for place in dict.fromkeys([program, *own]):
            for path in dict.fromkeys([place, os.path.realpath(place)]):
                if not path.startswith(tuple(f"{folder}/" for folder in SYSTEM)):
                    yield self._around(Path(path))
        # The agent's own program is one that a job may start (fathom-slurm is a link to it).
        yield from dict.fromkeys([sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent)])

    def _around(self, program: Path) -> str:
        """Return the folder of a program and its libraries, itself where other things lie there, too."""
        folder = program.parent.parent if program.parent.name in _BINARIES else program.parent
        shared = {Path("/"), Path.home(), Path(tempfile.gettempdir()), self.folder, *self.folder.parents}
        is_home = folder.parent in (Path("/"), Path("/home"))
        return str(program if is_home or folder in shared else folder)

    def _pings_freely(self) -> bool:
        """Say whether the job's user may send ICMP echo requests without rights (icmp(7))."""
        try:
            first, last = map(int, _PING_GROUPS.read_text(encoding="ascii").split())
        except (OSError, ValueError):
            return False
        gid = self.identity.gid
        groups = [os.getegid(), *os.getgroups()] if gid is None else [gid]
        return any(first <= group <= last for group in groups)


def _shares_memory(name: str) -> bool:
    """Say whether the processes of a program may meet in shared memory."""
    rules = rules_of(name)
    return rules is None or rules.shares_memory


def _is_shared_memory(path: str) -> bool:
    return Path(path).is_relative_to(SHARED_MEMORY)


def _cover_shared_memory(folder: Path) -> None:
    kernel.cover_with_memory(SHARED_MEMORY, memory_name(folder))


def _try(give: Callable[[], None], what: str) -> None:
    """Give this thread something of its own; without it the job runs as it would where that is not possible."""
    try:
        give()
    except OSError as error:
        logger.warning("A job runs with the machine's own %s: %s", what, error.strerror)


def _can(give: Callable[[], None]) -> bool:
    """Say whether a thread may be given something of its own here, by one that tries and ends.

    No job is to try what cannot succeed: in a chroot it would get half of the way, its folder under another name.
    """
    answers: list[bool] = []

    def attempt() -> None:
        with contextlib.suppress(OSError):
            give()
            answers.append(True)

    thread = threading.Thread(target=attempt, name="attempt", daemon=True)
    thread.start()
    thread.join()
    return bool(answers)


def _has_rights(path: str) -> bool:
    try:
        if Path(path).stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
            return True
        return bool(os.getxattr(path, "security.capability"))
    except OSError:
        return False
