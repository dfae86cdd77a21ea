"""The commands of one measurement: which node runs what, in which order."""

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class NodeRef:
    """A node in a role: its name, and the data-plane address that the measurement uses."""

    name: str
    address: str


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


@dataclass(frozen=True)
class Stage:
    """Commands started one after the other's readiness, or with `together` at one instant of server time."""

    name: str
    commands: tuple[Command, ...]
    together: bool = False


@dataclass(frozen=True)
class Plan:
    """The stages of one measurement, in order."""

    stages: tuple[Stage, ...]

    def as_json(self) -> Json:
        """Return the plan as plain JSON values."""
        stages = [
            {
                "name": stage.name,
                "together": stage.together,
                "commands": [{**vars(command), "argv": list(command.argv)} for command in stage.commands],
            }
            for stage in self.stages
        ]
        return {"stages": stages}

    @classmethod
    def from_json(cls, data: Json) -> "Plan":
        """Return the plan that ``as_json`` wrote."""
        return cls(
            tuple(
                Stage(
                    stage["name"],
                    tuple(Command(**{**item, "argv": tuple(item["argv"])}) for item in stage["commands"]),
                    stage["together"],
                )
                for stage in data["stages"]
            )
        )
