"""What a recipe is made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter
from apps.campaigns import errors

CAPACITY = Parameter(
    "capacity",
    "rate",
    _("Capacity"),
    help=_("Of the path's bottleneck, as its provider states it; empty takes that of the links described."),
    unit="bit/s",
    minimum=1_000,
    maximum=400_000_000_000,
)
DURATION = Parameter(
    "duration",
    "duration",
    _("Duration of a measurement"),
    help=_("Whole seconds."),
    default=10.0,
    unit="s",
    minimum=1,
    maximum=3600,
)
REPETITIONS = Parameter("repetitions", "integer", _("Repetitions"), default=3, unit="count", minimum=1, maximum=1000)


@dataclass(frozen=True)
class RecipePart:
    """A part that nodes play in a recipe; `several` parts take more than one node."""

    name: str
    label: str
    several: bool = False


CLIENT, SERVER = RecipePart("client", _("Client")), RecipePart("server", _("Server"))


@dataclass(frozen=True, kw_only=True)
class Step:
    """An experiment of a recipe; `roles` {role of the tool: part of the recipe}, `after` the name of an earlier step.

    The texts of `fixed` and `factors` are as a person would write them.
    """

    name: str
    tool: str
    roles: Mapping[str, str]
    fixed: Mapping[str, str] = field(default_factory=dict)
    factors: Mapping[str, str] = field(default_factory=dict)
    repetitions: int = 1
    after: str = ""


@dataclass(frozen=True)
class RecipeChoice:
    """What somebody chose for a recipe: values of its parameters, and what the inventory says of the path.

    `capacity_bps` (bit/s) is that of the narrowest link known between the first nodes of the first two parts; None
    where nothing is known. `counts` {part: how many nodes play it}.
    """

    values: Mapping[str, Any]
    counts: Mapping[str, int]
    capacity_bps: float | None = None

    def capacity(self) -> float:
        """Return the capacity (bit/s) to reckon with; errors.Refused if it is neither given nor described."""
        capacity = self.values["capacity"] or self.capacity_bps
        if not capacity:
            text = _("The capacity of this path is not described: write it here, for example 1 Gbit/s.")
            raise errors.Refused({"values.capacity": Message(text)})
        return float(capacity)

    def text(self, parameter: Parameter) -> str:
        """Return a value as a person would write it."""
        return units.canonical_text(self.values[parameter.name], parameter.kind)


@dataclass(frozen=True)
class Recipe:
    """A procedure: who takes part, what is asked, and the experiments it comes to."""

    slug: str
    name: str
    summary: str
    parts: Sequence[RecipePart]
    parameters: Sequence[Parameter]
    steps: Callable[[RecipeChoice], Sequence[Step]]
    needs_file_system: bool = False


def rate_text(bps: float) -> str:
    """Return a rate (bit/s) as a person would write it, to the whole bit."""
    return units.canonical_text(round(bps), "rate")
