"""Holds settings for as long as a job lasts, in a process of its own, which outlives the agent to put them back."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import time

from .journal import Journals, Unrestored
from .kernel import SettingError

PR_SET_PDEATHSIG = 1
STDOUT, STDERR = 1, 2
# Whoever holds settings of a machine has this name on it: two agents would put back each other's values.
ALONE = "\0fathom-settings"
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
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as name:
        if not _is_alone(name):
            _say("fathom-settings: another agent holds settings of this machine", STDERR)
            return 1
        return _hold(journals, job_id)


def _is_alone(name: socket.socket) -> bool:
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            name.bind(ALONE)
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
