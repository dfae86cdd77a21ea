"""Become a program on a leash: it dies with the process that started it, and can be no root.

Run by path, with the standard library only: ``leash.py PARENT SIGNAL IDENTITY PROGRAM [ARGUMENT...]``. A program of
its own, rather than a `preexec_fn`, because code between fork and exec may hang in a process that has threads.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

_CLONE_NEWUSER = 0x10000000
_PR_SET_PDEATHSIG = 1
_PR_SET_KEEPCAPS = 8
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_CAPABILITY_VERSION_3 = 0x20080522
_CAP_DAC_OVERRIDE = 1

SAME = "same"
NAMESPACE = "namespace"
# Debian's and everyone's "nobody": initdb wants an id that has a name.
NOBODY = 65534


def set_id(uid: int, gid: int) -> str:
    """Return the identity of an ordinary user, for root to take on."""
    return f"id:{uid}:{gid}"


def die_with_parent(parent: int, with_signal: int) -> None:
    """Have the kernel send `with_signal` to this process when its parent ends, however that ends (Linux only).

    The setting survives exec; it is lost when the ids change, so it comes last.
    """
    if sys.platform != "linux":
        return
    _libc().prctl(_PR_SET_PDEATHSIG, with_signal, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(f"leash.py: the process {parent} that asked for this is gone.")


def become(identity: str) -> None:
    """Take on an identity: SAME, NAMESPACE (the user looks like an ordinary one), set_id(). OSError if refused."""
    kind, _, ids = identity.partition(":")
    if kind == NAMESPACE:
        _enter_user_namespace()
    elif kind == "id":
        uid, gid = map(int, ids.split(":"))
        _change_id(uid, gid)


def _enter_user_namespace() -> None:
    # No user is made and the files stay the caller's: only this process and its children see another number.
    uid, gid = os.geteuid(), os.getegid()
    libc = _libc()
    if libc.unshare(_CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare(CLONE_NEWUSER) refused")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{NOBODY} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{NOBODY} {gid} 1")


def _change_id(uid: int, gid: int) -> None:
    # Root's projects often stand in a folder closed to others (/root): the right to pass through is kept.
    libc = _libc()
    libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    mask = 1 << _CAP_DAC_OVERRIDE
    sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)
    if libc.capset(header, sets) == 0:
        libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> None:
    """Take on the identity, put on the leash, and become the program."""
    parent, with_signal, identity, *argv = arguments
    try:
        become(identity)
        die_with_parent(int(parent), signal.Signals[with_signal])
        os.execvp(argv[0], argv)  # noqa: S606
    except OSError as error:
        sys.exit(f"{argv[0]}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
