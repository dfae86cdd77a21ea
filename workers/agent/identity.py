"""Who jobs run as, and the last steps of a child before it becomes the job's program."""

from __future__ import annotations

import ctypes
import hashlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .config import ConfigError
from .places import USUAL_FOLDERS

PR_SET_PDEATHSIG = 1
# Loaded before any fork: a child of a process with threads must not take locks.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Identity:
    """The user jobs run as; None for both ids means the agent's own. `becoming` is a command that becomes it."""

    name: str
    uid: int | None = None
    gid: int | None = None
    becoming: tuple[str, ...] = ()
    outlives: bool = False

    @classmethod
    def own(cls) -> Identity:
        """Return the agent's own user, for a process that itself sees to what happens when the agent ends."""
        return cls(str(os.geteuid()), outlives=True)

    def as_options(self) -> dict[str, Any]:
        """Return the options with which subprocess makes a child this user, dying with us.

        They make it fork, which copies the agent's page tables: some milliseconds more than `becoming` takes.
        """
        options: dict[str, Any] = {} if self.outlives else {"preexec_fn": last_steps(os.getpid())}
        if self.uid is not None:
            # Group ids go with the user id; only root can, and must, set them.
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options


def find_identity(user: str) -> Identity:
    """Return the unprivileged identity of jobs: `user` for an agent started as root, else the agent's own."""
    identity = _identity_of(user)
    return replace(identity, becoming=_find_becoming(identity))


def _identity_of(user: str) -> Identity:
    if os.geteuid() != 0:
        return Identity(pwd.getpwuid(os.geteuid()).pw_name if _has_name(os.geteuid()) else str(os.geteuid()))
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise ConfigError(
            f"There is no user “{user}” to run jobs as: name another under “user” in agent.json."
        ) from None
    if entry.pw_uid == 0:
        raise ConfigError("Jobs must not run as root: name an unprivileged user under “user” in agent.json.")
    return Identity(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _find_becoming(identity: Identity) -> tuple[str, ...]:
    """Return setpriv(1) with what makes it this user, if it is here and can; else nothing."""
    program = shutil.which("setpriv", path=os.pathsep.join(USUAL_FOLDERS))
    if program is None:
        return ()
    command = [program, "--pdeathsig", "KILL"]
    if identity.uid is not None:
        command += ["--reuid", str(identity.uid), "--regid", str(identity.gid), "--clear-groups"]
    try:
        tried = subprocess.run([*command, "true"], capture_output=True, timeout=5, check=False, cwd="/")
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(command) if tried.returncode == 0 else ()


def work_root(folder: Path, identity: Identity) -> Path:
    """Return the folder that holds jobs' work folders, one that the job user can reach.

    It is `work` in the agent's own folder; where a parent shuts others out it is one in the temp folder.
    """
    place = folder / "work"
    if identity.uid is not None and not all(_lets_through(parent) for parent in place.resolve().parents):
        # The same after a restart, so that what was left there is found.
        key = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
        place = Path(tempfile.gettempdir()) / f"fathom-agent-{key}"
    place.mkdir(exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.geteuid():
        raise ConfigError(f"{place} belongs to someone else: remove it, or choose another folder with --dir.")
    place.chmod(0o711)
    return place


def last_steps(parent: int) -> Callable[[], None]:
    """Return what a child does between fork and exec: see to it that it dies with the agent (process id `parent`)."""

    def steps() -> None:
        if _LIBC is not None:
            _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(127)

    return steps


def _lets_through(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
