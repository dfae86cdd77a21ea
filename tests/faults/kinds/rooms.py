"""Faults of disks: nothing more can be written on them for some seconds."""

import time
from collections.abc import Iterator
from random import Random

from tests.faults.site import Site

_FULL_S = (5.0, 20.0)


def fill_server_disk(site: Site, draw: Random) -> Iterator[str]:
    """Fill the disk of all that the service keeps, its database, broker, files and logs, for some seconds."""
    yield from _fill(site, "", draw)


def fill_agent_disk(site: Site, draw: Random) -> Iterator[str]:
    """Fill the disk of an agent's spool and of its jobs' files for some seconds."""
    yield from _fill(site, draw.choice(sorted(site.nodes)), draw)


def _fill(site: Site, name: str, draw: Random) -> Iterator[str]:
    disk, is_of_files = site.disks[name], draw.choice((False, True))
    with disk.full_of_files() if is_of_files else disk.full():
        yield name
        time.sleep(draw.uniform(*_FULL_S))
