"""Slurm on two nodes of a lab: its own configuration, key and servers, gone with the lab."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.live import wait_for
from tests.lab.labs import REAL, SMALL, LabAt
from tests.lab.test_file_systems import NOBODY, needs

pytestmark = [*REAL, needs("slurmctld", "slurmd", "munged", "sbatch")]
SLURM = "slurm: {login: one, nodes: [one, two], cpus: 2, partition: small}\n"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[LabAt]:
    lab = LabAt(tmp_path / "state")
    (tmp_path / "slurm.yaml").write_text(SMALL + SLURM)
    try:
        lab.up(tmp_path / "slurm.yaml")
        yield lab
    finally:
        assert lab.run("down").returncode == 0
        assert lab.remains() == []


def completed(lab: LabAt) -> str:
    """Return what Slurm says of its first job once that is over, "" before."""
    record = lab.on("one", "scontrol", "show", "job", "1", "-o")
    return record if "JobState=COMPLETED" in record else ""


def test_jobs_run_on_both_nodes_and_leave_their_trace(lab: LabAt) -> None:
    assert lab.state["slurm"] == {"login": "one", "nodes": ["one", "two"], "cpus": 2, "partition": "small"}
    assert sorted(lab.on("one", *NOBODY, "srun", "-N2", "uname", "-n").split()) == ["one", "two"]
    # srun ends a moment before Slurm has heard of it from both nodes.
    record = wait_for(lambda: completed(lab))
    assert "Partition=small" in record
    refused = lab.run("exec", "one", "--", *NOBODY, "srun", "-N3", "--immediate=2", "true")
    assert refused.returncode != 0
    # The configuration is the nodes' own: this machine has none of it.
    machines_own = Path("/etc/slurm/slurm.conf")
    assert "ClusterName=lab" in lab.on("one", "cat", str(machines_own))
    assert not machines_own.exists() or "ClusterName=lab" not in machines_own.read_text()
