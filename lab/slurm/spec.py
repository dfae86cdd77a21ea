"""A Slurm cluster of a lab's nodes, as its file describes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.fields import Fields

if TYPE_CHECKING:
    from lab.spec import Node


@dataclass(frozen=True)
class Slurm:
    """One partition of `nodes` with `cpus` each; jobs are submitted on `login`, where the controller runs too."""

    login: "Node"
    nodes: tuple["Node", ...]
    cpus: int
    partition: str
    # The longest that a job of the partition may take, in minutes.
    minutes: int

    @property
    def members(self) -> tuple["Node", ...]:
        """Return every node that takes part, the login node first."""
        return (self.login, *(node for node in self.nodes if node != self.login))


def read_slurm(part: Fields, nodes: Mapping[str, "Node"]) -> Slurm:
    """Read the section; raises LabFileError."""
    slurm = Slurm(
        login=part.choice("login", nodes),
        nodes=part.choices("nodes", nodes),
        cpus=part.integer("cpus", 1, 1024, default=2),
        partition=part.text("partition", default="lab"),
        minutes=part.integer("minutes", 1, 10_000, default=60),
    )
    if not slurm.partition.isalnum():
        part.refuse("partition", f"{slurm.partition!r} should be letters and digits")
    part.finish()
    return slurm
