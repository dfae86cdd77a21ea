"""Run a command on another node of the lab, as ssh would: ``remote.py STATE [OPTION...] NODE WORD...``.

For what starts its own parts elsewhere, such as mpirun. Run by path, with the standard library only.
"""

import json
import os
import sys
from pathlib import Path

# What the launchers put before the node as they would for ssh; nothing here is as ssh has it.
_IGNORED = ("-x", "-n", "-q")
# The process of each node by which the others enter it: its files below /run, which hold its namespaces, are the
# machine's, and a node sees a /run of its own.
DOOR = ("sleep", "infinity")


def main(arguments: list[str]) -> None:
    """Find the node by its name or address, and become a shell in its namespaces."""
    state, *words = arguments
    while words and words[0] in _IGNORED:
        words.pop(0)
    if len(words) < 2:
        sys.exit("lab-remote: name a node and a command.")
    node, *command = words
    try:
        lab = json.loads(Path(state).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"lab-remote: no lab is up: {error}")
    names = {name: item["name"] for item in lab["nodes"] for name in (item["name"], *item["data_addresses"])}
    if node not in names:
        sys.exit(f"lab-remote: Could not resolve hostname {node}")
    doors = {item["node"]: item["pid"] for item in lab["services"] if item["name"] == "door"}
    door = str(doors.get(names[node], 0))
    if not _is_door(door):
        sys.exit(f"lab-remote: ssh: connect to host {node}: the lab is not whole any more")
    # Words with quotation marks and variables: launchers write them for the shell that ssh gives them to.
    argv = ["nsenter", "--target", door, "--net", "--mount", "--uts", "--", "sh", "-c", " ".join(command)]
    try:
        os.execvp(argv[0], argv)  # noqa: S606
    except OSError as error:
        sys.exit(f"lab-remote: {error}")


def _is_door(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1] == [word.encode() for word in DOOR]
    except OSError:
        return False


if __name__ == "__main__":
    main(sys.argv[1:])
