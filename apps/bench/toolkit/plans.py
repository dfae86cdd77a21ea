"""The commands of one measurement: which node runs what, in which order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

Json = dict[str, Any]

# Stages whose names begin so stand around a tool's own: their outputs are not the parser's.
AROUND = "around-"
# The role of nodes that serve the file system to those that measure: they only free their caches.
FILE_SERVER = "file-server"


@dataclass(frozen=True)
class NodeRef:
    """A node in a role: its name, and the data-plane address that the measurement uses.

    `directory` is where the experiment's file system is mounted on it ("" without one); `facts` are those its agent
    gathered last (processors, memory, host name, …), an empty mapping if it never did. `mark` stands in the names of
    files that a run writes there: others may measure the same file system, for another team or another service.
    """

    name: str
    address: str
    directory: str = ""
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    mark: str = ""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One argv on one node (`node_index` counts within the role).

    A background command is ready when a line of its stdout holds a match of `ready_pattern`, and is stopped when the
    plan ends, unless it `ends_by_itself` when its clients do. `measures` is False for servers and the like, whose run
    time is not the measurement's.
    """

    role: str
    node_index: int
    argv: tuple[str, ...]
    time_limit_s: float
    background: bool = False
    ready_pattern: str | None = None
    measures: bool = True
    ends_by_itself: bool = False
    optional: bool = False
    files: tuple[tuple[str, str], ...] = ()
    collect: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> Json:
        """Return the command as plain JSON values."""
        pairs = {name: [list(pair) for pair in getattr(self, name)] for name in ("files", "environment")}
        return {**vars(self), **pairs, "argv": list(self.argv), "collect": list(self.collect)}

    @classmethod
    def from_json(cls, data: Json) -> "Command":
        """Return the command that ``as_json`` wrote, now or before it had all of its fields."""
        pairs = {name: tuple((key, text) for key, text in data.get(name, ())) for name in ("files", "environment")}
        return cls(**{**data, **pairs, "argv": tuple(data["argv"]), "collect": tuple(data.get("collect", ()))})


@dataclass(frozen=True)
class Stage:
    """Commands started one after the other's readiness, or with `together` at one instant of server time.

    One that `cleans_up_after` an earlier stage, named here, is carried out whatever became of the run, as soon as
    that stage has let it go on.
    """

    name: str
    commands: tuple[Command, ...]
    together: bool = False
    cleans_up_after: str = ""


@dataclass(frozen=True)
class Plan:
    """The stages of one measurement, in order; `addresses` {node: address} is where its nodes are measured.

    `servers` are the ids of the nodes in the role FILE_SERVER, which no experiment casts.
    """

    stages: tuple[Stage, ...]
    addresses: Mapping[str, str] = field(default_factory=dict)
    servers: tuple[int, ...] = ()

    @property
    def clean_up(self) -> int | None:
        """Return the number of the stage that removes what the others leave behind, None if there is none."""
        return next((index for index, stage in enumerate(self.stages) if stage.cleans_up_after), None)

    def clean_up_due(self, stage: int) -> int | None:
        """Return the number of the clean-up that a run which ends in `stage` (a number) still needs, or None."""
        last = self.clean_up
        if last is None or stage >= last:
            return None
        names = [item.name for item in self.stages[:stage]]
        return last if self.stages[last].cleans_up_after in names else None

    def as_json(self) -> Json:
        """Return the plan as plain JSON values."""
        stages = [
            {
                "name": stage.name,
                "together": stage.together,
                "cleans_up_after": stage.cleans_up_after,
                "commands": [command.as_json() for command in stage.commands],
            }
            for stage in self.stages
        ]
        servers = {"servers": list(self.servers)} if self.servers else {}
        return {"stages": stages} | ({"addresses": dict(self.addresses)} if self.addresses else {}) | servers

    @classmethod
    def from_json(cls, data: Json) -> "Plan":
        """Return the plan that ``as_json`` wrote."""
        return cls(
            tuple(
                Stage(
                    stage["name"],
                    tuple(Command.from_json(item) for item in stage["commands"]),
                    stage["together"],
                    stage.get("cleans_up_after", ""),
                )
                for stage in data["stages"]
            ),
            data.get("addresses", {}),
            tuple(data.get("servers", ())),
        )
