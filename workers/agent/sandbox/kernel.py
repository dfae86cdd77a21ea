"""The kernel's own words for confining a thread and its children: Landlock, no new privileges, memory, orphans.

All of it is set for the calling thread (prctl(2), landlock_restrict_self(2), unshare(2)) and inherited by what it
starts, but for the adoption of orphans, which is the process's. Nothing is ever set for the agent's other threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable

_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_CLONE_NEWNS, _CLONE_NEWIPC = 0x00020000, 0x08000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_SLAVE = 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 19
# The same numbers on every architecture.
_LANDLOCK_CREATE_RULESET, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
# Rights to files (landlock(7)), and the first version that knows them.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKING = sum(1 << bit for bit in range(4, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE
# Signals and abstract sockets stay within what is confined together.
_SCOPES = 0b11
READ = READ_FILE | READ_DIR
WRITE = WRITE_FILE | _MAKING | _REFER | _TRUNCATE
# Loaded before any thread is confined, and before any fork.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def adopt_orphans() -> bool:
    """Make this process the parent of whatever its children leave behind; False where the kernel has no such."""
    return _prctl(_PR_SET_CHILD_SUBREAPER)


def forgo_privileges() -> None:
    """See to it that nothing this thread starts gains rights by setuid or file capabilities; OSError if refused."""
    if not _prctl(_PR_SET_NO_NEW_PRIVS):
        raise OSError(ctypes.get_errno(), "no_new_privs was refused")


def cover_with_memory(place: str, name: str) -> None:
    """Give this thread, and what it starts, an empty file system in memory at `place`; OSError if refused.

    No other process sees it, and it ends with the last of those that do; `name` is what mountinfo calls it. It holds
    as much as what it covers, and is `noexec` where that is. What the machine mounts meanwhile is seen by this
    thread, too.
    """
    covered = os.statvfs(place)
    flags = _MS_NOSUID | _MS_NODEV | (_MS_NOEXEC if covered.f_flag & os.ST_NOEXEC else 0)
    options = f"mode=1777,size={covered.f_blocks * covered.f_frsize}"
    _checked(_libc("unshare", _CLONE_NEWNS))
    # Before anything is mounted: it would be on the machine as well.
    _checked(_libc("mount", None, b"/", None, _MS_REC | _MS_SLAVE, None))
    _checked(_libc("mount", name.encode(), os.fsencode(place), b"tmpfs", flags, options.encode()))


def own_ipc() -> None:
    """Give this thread, and what it starts, segments, semaphores and queues of their own; OSError if refused.

    Those of System V and the queues of POSIX (ipc_namespaces(7)): no other process sees them, and they end with the
    last of those that do.
    """
    _checked(_libc("unshare", _CLONE_NEWIPC))


def landlock_version() -> int:
    """Return the version of the kernel's Landlock, 0 if it has none or it is switched off."""
    return max(0, _syscall(_LANDLOCK_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION))


def confine_thread(version: int, rights: Iterable[tuple[str, int]]) -> None:
    """Leave this thread, and what it starts, only the `rights` to files (path, bits), below folders; OSError if not.

    Paths that are not there are left out. Connections, UDP and signals among the confined are not touched.
    """
    handled = EXECUTE | READ | WRITE_FILE | _MAKING
    handled |= _REFER if version >= 2 else 0
    handled |= _TRUNCATE if version >= 3 else 0
    attributes = struct.pack("=QQQ", handled, 0, _SCOPES if version >= 6 else 0)[: 24 if version >= 6 else 8]
    ruleset = _checked(_syscall(_LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0))
    try:
        for path, bits in rights:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                _add_rule(ruleset, path, bits & handled)
        _checked(_syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _add_rule(ruleset: int, path: str, bits: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            bits &= _OF_FILES
        _checked(_syscall(_LANDLOCK_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", bits, place), 0))
    finally:
        os.close(place)


def _prctl(option: int) -> bool:
    return _LIBC is not None and _LIBC.prctl(option, 1, 0, 0, 0) == 0


def _syscall(number: int, *arguments: object) -> int:
    return _libc("syscall", number, *arguments)


def _libc(function: str, *arguments: object) -> int:
    if _LIBC is None:
        return -1
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return int(_LIBC[function](*words))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
