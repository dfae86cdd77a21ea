"""What every world is made of: the inventory as a team would describe it, and what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.truth.worlds.noise import Noise

Json = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """What one trial gave: {metric: value}, flags {name: severity} with their metrics, and what judges observed."""

    figures: Mapping[str, float]
    flags: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    observed: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """One point of a sweep: the parameters that were set, the true mean of each metric, and the trials.

    `scatter` is which share of the world's noise its figures have.
    """

    parameters: Mapping[str, Any]
    truth: Mapping[str, float]
    trials: Sequence[Trial]
    scatter: float = 1.0


@dataclass(frozen=True)
class Setup:
    """One experiment between one group of nodes: roles {role: names}; `factors` are the parameters it varies.

    `days` from the world's own campaign lies the other one in which it was measured: before it below 0; 0 is that.
    """

    name: str
    tool: str
    roles: Mapping[str, tuple[str, ...]]
    cells: Sequence[Cell]
    factors: tuple[str, ...] = ()
    file_system: str = ""
    days: int = 0


@dataclass(frozen=True)
class StatedNode:
    """A node as the inventory has it: where it stands, and what its agent told (None: it never said anything)."""

    name: str
    site: str
    facts: Json | None = None
    interconnect: str = ""


@dataclass(frozen=True)
class StatedLink:
    """A link between nodes or switches, as described; None for what nobody wrote down."""

    name: str
    a: str
    b: str
    capacity_bps: int | None = None
    rtt_s: float | None = None
    mtu: int | None = None


@dataclass(frozen=True)
class StatedFileSystem:
    """A file system as described: its kind, the nodes that serve it, its block (B) and its disks."""

    name: str
    kind: str
    servers: tuple[str, ...] = ()
    mounted_by: tuple[str, ...] = ()
    block_bytes: int | None = None
    disks: str = ""


@dataclass(frozen=True, kw_only=True)
class World:
    """One simulated world: what is stated, what was measured; its family's own class knows what is true."""

    seed: int
    noise: Noise
    repetitions: int
    nodes: tuple[StatedNode, ...]
    switches: tuple[tuple[str, str], ...] = ()
    links: tuple[StatedLink, ...] = ()
    file_systems: tuple[StatedFileSystem, ...] = ()
    setups: tuple[Setup, ...] = ()
    traits: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """Return what kind of world it is."""
        return type(self).__name__.removesuffix("World").lower()

    @property
    def is_clean(self) -> bool:
        """Return whether it has three repetitions or more, little noise, and no evidence that is wrong."""
        return self.repetitions >= 3 and self.noise.is_clean and not self.traits
