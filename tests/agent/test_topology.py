"""What the agent says of sockets, cores and NUMA distances."""

import os
from pathlib import Path

from workers.agent.facts import topology


def make_machine(root: Path) -> tuple[Path, Path]:
    """Lay out /sys as a machine with two sockets of two cores does, two threads in the first core."""
    cpus, nodes = root / "cpu", root / "node"
    for number, (socket, core) in enumerate([(0, 0), (0, 2), (1, 0), (1, 2), (0, 0)]):
        folder = cpus / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{socket}\n")
        (folder / "core_id").write_text(f"{core}\n")
    (cpus / "cpu5").mkdir()
    (cpus / "cpufreq").mkdir()
    for number, (members, distances) in enumerate([("0-1,4", "10 21"), ("2-3", "21 10")]):
        folder = nodes / f"node{number}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(members + "\n")
        (folder / "distance").write_text(distances + "\n")
    return cpus, nodes


def test_processors_have_their_socket_core_and_numa_node(tmp_path: Path) -> None:
    found = topology.collect(*make_machine(tmp_path))
    assert found["cpus"] == [[0, 0, 0, 0], [1, 0, 2, 0], [2, 1, 0, 1], [3, 1, 2, 1], [4, 0, 0, 0]]
    assert found["numa_distances"] == {"0": [10, 21], "1": [21, 10]}


def test_a_machine_that_tells_nothing_has_no_topology(tmp_path: Path) -> None:
    assert topology.collect(tmp_path / "cpu", tmp_path / "node") == {"cpus": [], "numa_distances": {}}


def test_this_machine_has_a_place_for_each_of_its_processors() -> None:
    assert len(topology.collect()["cpus"]) == os.cpu_count()
