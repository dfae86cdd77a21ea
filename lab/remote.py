"""Run a command on another node of the lab, as ssh would: ``remote.py DOORS [OPTION...] NODE WORD...``.

For what starts its own parts elsewhere, such as mpirun. DOORS is the folder with a socket for each node's name and
address (``door.py``). Run by path, with the standard library only.
"""

import json
import os
import socket
import sys
from pathlib import Path

# What the launchers put before the node as they would for ssh; nothing here is as ssh has it.
_IGNORED = ("-x", "-n", "-q")


def main(arguments: list[str]) -> None:
    """Have the node's door start the command, and end as it does."""
    doors, *words = arguments
    while words and words[0] in _IGNORED:
        words.pop(0)
    if len(words) < 2:
        sys.exit("lab-remote: name a node and a command.")
    node, *command = words
    path = Path(doors) / node
    if "/" in node or not path.exists():
        sys.exit(f"lab-remote: Could not resolve hostname {node}")
    # Words with quotation marks and variables: launchers write them for the shell that ssh gives them to.
    wish = {"command": " ".join(command), "environment": dict(os.environ)}
    try:
        with socket.socket(socket.AF_UNIX) as door:
            door.connect(str(path))
            text = json.dumps(wish).encode() + b"\n"
            sent = socket.send_fds(door, [text], [0, 1, 2])
            door.sendall(text[sent:])
            answer = door.makefile().readline().strip()
    except OSError as error:
        sys.exit(f"lab-remote: ssh: connect to host {node}: {error.strerror}")
    if not answer.isdecimal():
        sys.exit(f"lab-remote: {node}: {answer or 'the node is gone'}")
    sys.exit(int(answer))


if __name__ == "__main__":
    main(sys.argv[1:])
