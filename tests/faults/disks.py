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
    begun = _web_started(site)
    base = site.var / "tmp"
    for path in sorted(base.iterdir()) if base.is_dir() else ():
        # What was left before the web server's start has been swept by it, what was left since is swept every hour.
        if not _is_owned(path) and path.stat().st_mtime < begun:
            yield Finding(LEAKED, f"{path.relative_to(site.root)}, whose process is gone")
    for path in sorted(base.glob("*/*")):
        if path.name != "lock":
            yield Finding(LEAKED, f"{path.relative_to(site.root)} of a process that needs it no more")


def _web_started(site: Site) -> float:
    return Path(f"/proc/{site.pid('web')}").stat().st_ctime


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
