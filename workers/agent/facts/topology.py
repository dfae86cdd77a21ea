"""Which processor belongs to which core, socket and NUMA node, and how far these lie apart, as the kernel says it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

CPUS, NODES = Path("/sys/devices/system/cpu"), Path("/sys/devices/system/node")


def collect(cpus: Path = CPUS, nodes: Path = NODES) -> dict[str, Any]:
    """Return ``{"cpus": [[cpu, socket, core, numa], …], "numa_distances": {"0": [10, …], …}}`` of those online.

    A socket or core that the kernel does not name is 0 and the processor's own number; distances are those of the
    firmware's table (ACPI SLIT: 10 is the node itself), in the order of the NUMA nodes' numbers.
    """
    numa_of, distances = {}, {}
    for folder in _numbered(nodes, "node"):
        number = int(folder.name[4:])
        numa_of.update(dict.fromkeys(_listed(_read(folder / "cpulist")), number))
        distances[str(number)] = [int(word) for word in _read(folder / "distance").split() if word.isdigit()]
    processors = []
    for folder in _numbered(cpus, "cpu"):
        number, topology = int(folder.name[3:]), folder / "topology"
        # A processor that is offline has no such folder.
        if topology.is_dir():
            socket, core = _number(topology / "physical_package_id", 0), _number(topology / "core_id", number)
            processors.append([number, socket, core, numa_of.get(number, 0)])
    return {"cpus": processors, "numa_distances": distances}


def _numbered(folder: Path, prefix: str) -> list[Path]:
    """Return the folders prefix0, prefix1, … in the order of their numbers."""
    try:
        folders = [path for path in folder.iterdir() if re.fullmatch(prefix + r"\d+", path.name)]
    except OSError:
        return []
    return sorted(folders, key=lambda path: int(path.name[len(prefix) :]))


def _listed(text: str) -> list[int]:
    """Return the numbers of a list such as 0-3,8."""
    numbers: list[int] = []
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def _number(path: Path, default: int) -> int:
    text = _read(path).strip()
    return int(text) if text.isdigit() else default


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
