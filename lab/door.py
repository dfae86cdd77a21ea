"""Start commands on a node for users of the other nodes, as sshd would: ``door.py SOCKET``.

It lives on the node, and its socket in a folder that all nodes see. Who speaks to it may be anybody: a command is
started as the user at the other end, whom the kernel names (unix(7), SO_PEERCRED), with that user's rights alone. Run
by path, with the standard library only.
"""

import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

_LONGEST = 1_000_000
_GRACE_S = 1.0
_PEER = struct.Struct("3i")


def main(arguments: list[str]) -> None:
    """Listen for ever; each command has a process of its own beside it."""
    (path,) = arguments
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        Path(path).chmod(0o666)
        door.listen(64)
        # Ended attendants are nobody's concern.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            caller, _address = door.accept()
            with caller:
                if os.fork() == 0:
                    door.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    _attend(caller)
                    os._exit(0)


def _attend(caller: socket.socket) -> None:
    """Start what is asked for with the caller's own streams, and end it when the caller goes away."""
    _pid, user, group = _PEER.unpack(caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    # An ordinary user's door, for that user, has no right to set what it is already.
    own = (user, group) == (os.geteuid(), os.getegid())
    identity: dict[str, Any] = {} if own else {"user": user, "group": group, "extra_groups": []}
    try:
        wish, streams = _hear(caller)
        process = subprocess.Popen(
            ["/bin/sh", "-c", wish["command"]],
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            env=wish["environment"],
            cwd="/",
            start_new_session=True,
            **identity,
        )
    except (OSError, ValueError, KeyError, IndexError, TypeError, subprocess.SubprocessError) as error:
        caller.sendall(f"{error}\n".encode())
        return
    for stream in streams:
        os.close(stream)
    ended = os.pidfd_open(process.pid)
    ready, _, _ = select.select([ended, caller.fileno()], [], [])
    if ended not in ready:
        for number in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(process.pid, number)
            select.select([ended], [], [], _GRACE_S)
    status = process.wait()
    if ended in ready:
        caller.sendall(f"{status if status >= 0 else 128 - status}\n".encode())


def _hear(caller: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Return the wish, one line of JSON, and the three streams that come with it."""
    text, streams, _flags, _address = socket.recv_fds(caller, 65536, 3)
    while text and not text.endswith(b"\n") and len(text) < _LONGEST:
        text += caller.recv(65536)
    return json.loads(text), streams


if __name__ == "__main__":
    main(sys.argv[1:])
