"""Holds settings for as long as a job lasts, in a process of its own, which outlives the agent to put them back."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import pwd
import signal
import time

from .journal import Journals, Unrestored
from .kernel import SettingError

PR_SET_PDEATHSIG = 1
STDOUT, STDERR = 1, 2
# Whoever holds settings of a machine has locked root's home: two agents would put back each other's values, in
# whatever network namespaces. It is there where all else may be read only, and other users cannot open it.
ALONE = pwd.getpwuid(0).pw_dir
# So long (s) one that puts its own back is waited for.
PATIENCE_S = 10.0
_ENDS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


def hold(journals: Journals, job_id: str, parent: int) -> int:
    """Set what the journal of a job wants, say so, wait for a signal or for the end of the agent, put it back.

    `parent` is the agent's process id: should that be gone already, nothing is set.
    """
    # A signal that comes while settings are written waits until they can be put back.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return 1
    try:
        home = os.open(ALONE, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        _say(f"fathom-settings: {ALONE}: {error.strerror}", STDERR)
        return 1
    try:
        if not _is_alone(home):
            _say("fathom-settings: another agent holds settings of this machine", STDERR)
            return 1
        return _hold(journals, job_id)
    finally:
        os.close(home)


def _is_alone(home: int) -> bool:
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(home, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > until or signal.sigpending() & _ENDS:
                return False
            time.sleep(0.1)
        else:
            return True


def _hold(journals: Journals, job_id: str) -> int:
    try:
        applied = journals.apply(job_id)
    except (SettingError, Unrestored, OSError) as error:
        _say(f"fathom-settings: {error}", STDERR)
        return 1
    _say("applied " + json.dumps(applied))
    signal.sigwait(_ENDS)
    if drifts := journals.drifts(job_id, applied):
        _say("changed " + json.dumps(drifts))
    try:
        journals.restore(job_id)
    except (Unrestored, OSError) as error:
        _say(f"fathom-settings: {error}", STDERR)
        return 1
    _say("restored")
    return 0


def _say(text: str, descriptor: int = STDOUT) -> None:
    # Nobody may be there any more to hear it.
    with contextlib.suppress(OSError):
        os.write(descriptor, (text + "\n").encode())
