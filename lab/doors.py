"""The way from one node to another for what starts its own parts elsewhere: a server on each, and its client."""

import shutil
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from lab import services
from lab.machine import LabError
from lab.rooms import Room
from lab.services import Service
from lab.state import REMOTE, Place

_HERE = Path(__file__).resolve().parent
# The nodes' users may not reach the interpreter that runs the lab.
_USUAL = "/usr/local/bin:/usr/bin:/bin"


def make(place: Place, rooms: Mapping[str, Room], addresses: Mapping[str, str]) -> list[Service]:
    """Start a server on each node, and write the program that finds them by name and by address."""
    folder = place.doors
    try:
        folder.mkdir()
    except FileExistsError:
        raise LabError(f"{folder} belongs to someone else: remove it.") from None
    folder.chmod(0o755)
    # A copy: the project may lie where the nodes' users cannot reach it.
    client = shutil.copy(_HERE / "remote.py", folder / "remote.py")
    python = shutil.which("python3", path=_USUAL) or sys.executable
    program = folder / REMOTE
    program.write_text(f'#!/bin/sh\nexec {python} -S -E {client} {folder} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    started = []
    for name, room in rooms.items():
        path = folder / name
        argv = [sys.executable, "-S", "-E", str(_HERE / "door.py"), str(path)]
        started.append(services.start(room, "door", argv, ready=path.exists))
        (folder / addresses[name]).symlink_to(name)
    return started


def clear(place: Place) -> None:
    """Remove the folder of a lab that is gone."""
    folder = place.doors
    if folder.exists() and stat.S_ISDIR(folder.lstat().st_mode) and folder.owner() == Path("/proc/self").owner():
        shutil.rmtree(folder)
