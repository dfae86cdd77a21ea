"""The cores of a node, as its agent's facts tell of them, and how far apart they lie."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from apps.bench.toolkit import NodeRef

# ACPI's own distance: that of a NUMA node to itself.
_LOCAL = 10
# Larger machines exist in no inventory; the limit keeps odd facts from costing much.
_MOST = 65_536


@dataclass(frozen=True)
class Core:
    """One core by its logical place: `socket` and `index` within the socket count from 0, as hwloc counts them."""

    socket: int
    index: int
    cpus: tuple[int, ...]
    numa: int

    @property
    def label(self) -> str:
        """Return socket and core such as 0:3, the way that maps are written and compared."""
        return f"{self.socket}:{self.index}"


@dataclass(frozen=True)
class Topology:
    """The cores of a node in their logical order, and the firmware's distances between its NUMA nodes."""

    cores: tuple[Core, ...]
    distances: Mapping[int, Mapping[int, int]]

    @property
    def sockets(self) -> int:
        """Return how many sockets there are."""
        return len({core.socket for core in self.cores})

    @cached_property
    def by_cpu(self) -> dict[int, Core]:
        """Return the core of each hardware thread, by the kernel's number."""
        return {cpu: core for core in self.cores for cpu in core.cpus}

    def of_socket(self, socket: int) -> tuple[Core, ...]:
        """Return the cores of a socket."""
        return tuple(core for core in self.cores if core.socket == socket)

    def hops(self, one: Core, other: Core) -> int:
        """Return how many steps of distance lie between two cores: 0 in one socket, 1 to the nearest others, …

        A step is a larger entry of the firmware's table of NUMA distances (Linux: /sys/devices/system/node).
        """
        if one.socket == other.socket:
            return 0
        steps = sorted({distance for row in self.distances.values() for distance in row.values()} - {_LOCAL})
        distance = self.distances.get(one.numa, {}).get(other.numa, _LOCAL)
        return steps.index(distance) + 1 if distance in steps else 1


def topology_of(node: NodeRef) -> Topology | None:
    """Return the topology that the node's agent told, None if it told none (or one of a form unknown here)."""
    facts = node.facts.get("topology") if isinstance(node.facts, Mapping) else None
    return read_topology(facts)


def read_topology(facts: object) -> Topology | None:
    """Return the topology of the facts' ``{"cpus": [[cpu, socket, core, numa], …], "numa_distances": {…}}``."""
    rows = facts.get("cpus") if isinstance(facts, Mapping) else None
    if not isinstance(rows, list) or not 0 < len(rows) <= _MOST or not all(map(_is_row, rows)):
        return None
    threads: dict[tuple[int, int], list[int]] = {}
    numa_of: dict[tuple[int, int], int] = {}
    for cpu, socket, core, numa in sorted(rows):
        threads.setdefault((socket, core), []).append(cpu)
        numa_of.setdefault((socket, core), numa)
    # hwloc numbers sockets, and cores in each, by their lowest hardware thread; so do the launchers.
    order = sorted(threads, key=lambda key: threads[key][0])
    sockets = {socket: index for index, socket in enumerate(dict.fromkeys(socket for socket, _core in order))}
    threads_seen = dict.fromkeys(sockets, 0)
    cores = []
    for key in order:
        socket, _number = key
        cores.append(Core(sockets[socket], threads_seen[socket], tuple(threads[key]), numa_of[key]))
        threads_seen[socket] += 1
    in_order = sorted(cores, key=lambda core: (core.socket, core.index))
    return Topology(tuple(in_order), _distances(facts.get("numa_distances")) if isinstance(facts, Mapping) else {})


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 4 and all(type(item) is int and 0 <= item < 10**6 for item in row)


def _distances(facts: object) -> dict[int, dict[int, int]]:
    """Return {NUMA node: {NUMA node: distance}}; each list is in the order of the nodes' numbers."""
    if not isinstance(facts, Mapping) or not all(isinstance(key, str) and key.isdecimal() for key in facts):
        return {}
    numbers = sorted(map(int, facts))
    rows = {int(key): row for key, row in facts.items() if isinstance(row, list)}
    return {
        number: dict(zip(numbers, row, strict=False))
        for number, row in rows.items()
        if all(type(item) is int for item in row)
    }
