"""What a sweep is made of, and what it needs to know of a tool's parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from apps.bench import units
from apps.bench.sweep.errors import SweepError
from apps.bench.text import Message, _

AS_GIVEN = "as-given"
RANDOMISED = "randomised"

MAX_TRIALS = 100_000
# Combinations that exclusions may choose from.
MAX_CANDIDATES = 200_000
MAX_REPETITIONS = 1000
MAX_WARMUPS = 100
MAX_SEED = 2**31 - 1

Point = dict[str, units.Value]


class SweepParameter(Protocol):
    """What a sweep needs to know of a parameter; limits are in base units, choices are (value, label) pairs."""

    @property
    def name(self) -> str:
        """Return the name that factors and exclusions use."""

    @property
    def kind(self) -> str:
        """Return the kind of quantity, one of `units.KINDS`."""

    @property
    def minimum(self) -> float | None:
        """Return the least value allowed."""

    @property
    def maximum(self) -> float | None:
        """Return the greatest value allowed."""

    @property
    def choices(self) -> Sequence[tuple[str, str]]:
        """Return the values allowed of a choice."""


Parameters = Mapping[str, SweepParameter]


@dataclass(frozen=True)
class Factor:
    """A parameter to sweep and the values it takes, as the user wrote them: ``64KiB..16MiB x2``."""

    name: str
    expression: str


@dataclass(frozen=True)
class SweepSpec:
    """A sweep as the user wrote it.

    `factors` {name: expression} in order, the first varying slowest; `zips` groups of factors that vary together;
    `exclusions` conditions under which a point is left out; `fixed` {name: text}; `order` AS_GIVEN or RANDOMISED
    (by `seed`, within each repetition).
    """

    factors: Mapping[str, str] = field(default_factory=dict)
    zips: Sequence[Sequence[str]] = ()
    exclusions: Sequence[str] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
    repetitions: int = 1
    warmups: int = 0
    order: str = AS_GIVEN
    seed: int = 0


def make_spec(
    *,
    factors: Sequence[Factor],
    zips: Sequence[Sequence[str]] = (),
    exclusions: Sequence[str] = (),
    fixed: Mapping[str, str] | None = None,
    repetitions: int = 1,
    warmups: int = 0,
    order: str = AS_GIVEN,
    seed: int = 0,
) -> SweepSpec:
    """Return the spec of factors in their order; SweepError if a parameter is swept twice."""
    expressions: dict[str, str] = {}
    for factor in factors:
        if factor.name in expressions:
            raise SweepError(
                {
                    f"factors.{factor.name}": Message(
                        _("%(name)s is swept twice: put all its values into one list."), {"name": factor.name}
                    )
                }
            )
        expressions[factor.name] = factor.expression
    return SweepSpec(expressions, zips, exclusions, fixed or {}, repetitions, warmups, order, seed)


def check_schedule(spec: SweepSpec) -> dict[str, Message]:
    """Return what is wrong with repetitions, warm-ups, order and seed, by field."""
    errors = {}
    limits = (("repetitions", 1, MAX_REPETITIONS), ("warmups", 0, MAX_WARMUPS), ("seed", 0, MAX_SEED))
    for name, minimum, maximum in limits:
        if not minimum <= getattr(spec, name) <= maximum:
            errors[name] = Message(
                _("Enter a whole number from %(least)s to %(most)s."), {"least": minimum, "most": maximum}
            )
    if spec.order not in (AS_GIVEN, RANDOMISED):
        errors["order"] = Message(_("Choose one of: %(choices)s."), {"choices": f"{AS_GIVEN}, {RANDOMISED}"})
    return errors
