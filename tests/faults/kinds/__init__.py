"""The faults: each public generator function of these modules is one, and is drawn and tested by being there.

A fault breaks something and yields the name of the node that it is about ("" for the service); what follows lasts as
long as the fault does, and heals it. `draw` decides on all that is left to chance. What it returns is noted.
"""

import inspect
from collections.abc import Callable, Iterator
from random import Random

from tests.faults import server_clock, small_disks
from tests.faults.kinds import backups, database, lines, nodes, parts, readers, rooms
from tests.faults.site import Site

Fault = Callable[[Site, Random], Iterator[str]]


def registered() -> dict[str, Fault]:
    """Return {name: fault}, sorted by name, of those that this machine has the programs and rights for."""
    found = [
        (name, function)
        for module in (backups, database, lines, nodes, parts, readers, rooms)
        for name, function in vars(module).items()
        if inspect.isgeneratorfunction(function) and function.__module__ == module.__name__ and name[0] != "_"
    ]
    faults = {name.replace("_", "-"): function for name, function in sorted(found)}
    if server_clock.COMPILER is None:
        del faults[server_clock.FAULT]
    if not small_disks.MAY_MOUNT:
        faults = {name: fault for name, fault in faults.items() if name not in small_disks.FAULTS}
    return faults
