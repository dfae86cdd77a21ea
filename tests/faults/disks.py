"""What lies on the disks of the service and of the agents after all has ended."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from tests.faults.site import Site
from tests.faults.verdict import LEAKED, Finding


def left_on_disks(site: Site) -> Iterator[Finding]:
    """Yield files and folders that nobody needs any more."""
    for agent in site.agents.values():
        folder = agent.local.folder
        # Records of jobs, their work folders, settings to put back: all of them are over.
        for place in (folder / "spool", folder / "work", folder / "settings"):
            for path in sorted(place.iterdir()) if place.is_dir() else ():
                yield Finding(LEAKED, f"{path.relative_to(site.root)} on the disk of {agent.name}")
    for path in sorted(site.shared.iterdir()):
        yield Finding(LEAKED, f"{path.name} on the file system that all nodes share")
    for path in abandoned(site):
        yield Finding(LEAKED, f"{path.relative_to(site.root)}, whose process is gone")
    for path in sorted((site.var / "tmp").glob("*/*")):
        if path.name != "lock":
            yield Finding(LEAKED, f"{path.relative_to(site.root)} of a process that needs it no more")


def abandoned(site: Site) -> list[Path]:
    """Return the folders of temporary files whose processes are gone; the next start of a web server sweeps them."""
    base = site.var / "tmp"
    return [path for path in sorted(base.iterdir()) if not _is_owned(path)] if base.is_dir() else []


def _is_owned(folder: Path) -> bool:
    try:
        lock = os.open(folder / "lock", os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
