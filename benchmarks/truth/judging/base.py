"""What a judge says, and what it reads statements with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.bench import units
from benchmarks.truth.statements import Statement
from benchmarks.truth.store import Stored
from benchmarks.truth.worlds.base import Cell, World

TRUE, FALSE, HARMFUL, UNDECIDED = "true", "false", "harmful", "undecided"
# A figure that is this far (a share) from the truth is false.
NEAR = 0.15
# An advised change that leaves less than this of the present rate does harm.
HARM = 0.98
# What quantities end with, by kind, in the order in which they are told apart.
KINDS = (("B/s", "byte-rate"), ("bit/s", "rate"), ("B", "size"), ("s", "duration"))


@dataclass(frozen=True)
class Judgement:
    """The outcome and why; `truth` is the figure that would have been right, where there is one."""

    outcome: str
    why: str = ""


@dataclass(frozen=True)
class Case:
    """A statement with the world it speaks of."""

    world: Any
    stored: Stored
    statement: Statement

    @property
    def fields(self) -> Mapping[str, Any]:
        """Return the statement's fields."""
        return self.statement.fields

    @property
    def sentence(self) -> Mapping[str, Any]:
        """Return a finding's title, or the sentence within it that was said under circumstances."""
        sentence = self.fields["title"]
        while isinstance(sentence["params"].get("said"), Mapping):
            sentence = sentence["params"]["said"]
        return sentence

    @property
    def title(self) -> str:
        """Return the msgid of what a finding's title says."""
        return str(self.sentence["msgid"])

    @property
    def value(self) -> float:
        """Return the finding's value, 0 where it has none."""
        return float(self.fields.get("value") or 0.0)

    def parameter(self, name: str) -> float | None:
        """Return a quantity among the parameters of the title, in its base unit; None if it is not there."""
        return quantity(self.sentence["params"].get(name))

    def clients(self, tool: str) -> set[str]:
        """Return the first client of each experiment that the statement rests on."""
        setups = (self.stored.trials[pk][0] for pk in self.statement.trials if pk in self.stored.trials)
        return {next(iter(setup.roles.get("client", ("",)))) for setup in setups if setup.tool == tool}

    def cells(self, tool: str = "") -> list[Cell]:
        """Return the cells whose trials the statement rests on, in the world's order."""
        wanted = {id(self.stored.trials[pk][1]) for pk in self.statement.trials if pk in self.stored.trials}
        return [
            cell
            for setup in self.world.setups
            if tool in ("", setup.tool)
            for cell in setup.cells
            if id(cell) in wanted
        ]


Judge = Callable[[Case], Judgement]
Rules = Mapping[str, Judge]


def yes(why: str = "") -> Judgement:
    """Return that it holds."""
    return Judgement(TRUE, why)


def no(why: str) -> Judgement:
    """Return that it does not hold, and why."""
    return Judgement(FALSE, why)


def undecided(why: str) -> Judgement:
    """Return that this world does not decide it."""
    return Judgement(UNDECIDED, why)


def whether(holds: bool, why: str) -> Judgement:
    """Return that it holds or, for this reason, does not."""
    return yes() if holds else no(why)


def is_near(value: float, truth: float, within: float = NEAR) -> bool:
    """Return whether a figure is within a share of the truth."""
    return abs(value - truth) <= within * abs(truth)


def quantity(text: object) -> float | None:
    """Return the number of a text such as "457 Mbit/s" in its base unit; None for what is no quantity."""
    if isinstance(text, int | float):
        return float(text)
    words = str(text).replace(",", "").strip()
    kind = next((kind for end, kind in KINDS if words.endswith(end)), None)
    if kind is None:
        return None
    try:
        value = units.parse_quantity(words, kind)
    except (units.UnitError, ValueError):
        return None
    return None if value is None else float(value)


def world_name(world: World) -> str:
    """Return what a world is called in lists."""
    return f"{world.family} {world.seed}"
