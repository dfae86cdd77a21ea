"""The typed options of a tool, and what is said of wrong ones."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.bench import units
from apps.bench.text import Message, _

Value = str | int | float | bool | None
# Typed values in base units, as `Tool.clean` returned them.
Params = Mapping[str, Any]

# Longer numbers are not repeated.
_SHORT = 10**100


class ParameterError(ValueError):
    """Parameters, or nodes of roles, that a tool refuses; ``errors`` names each field and what to do."""

    def __init__(self, errors: Mapping[str, Message]) -> None:
        self.errors = dict(errors)
        super().__init__("; ".join(f"{name}: {message}" for name, message in self.errors.items()))


@dataclass(frozen=True)
class Parameter:
    """One typed option of a tool.

    `kind` is one of size (B), rate (bit/s), byte-rate (B/s), duration (s), integer, float, boolean, text, choice;
    `default`, `minimum` and `maximum` are in base units; `choices` are (value, label) pairs; `advanced` ones hide
    until asked for. `zero` is what 0 means where it is no quantity: "0 B" of a window says "autotuned". No figure
    depends on what is `aside`, such as a port: runs of which it is not known may yet be alike.
    """

    name: str
    kind: str
    label: str
    help: str = ""
    default: Value = None
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[tuple[str, str], ...] = ()
    required: bool = False
    advanced: bool = False
    zero: str = ""
    aside: bool = False

    def clean(self, raw: Value) -> Value:
        """Return the typed value of a text or a value; units.UnitError says what is wrong."""
        if isinstance(raw, str):
            raw = raw.strip()
        if raw is None or raw == "":
            if self.required and self.default is None:
                raise units.UnitError(Message(_("This is needed: enter a value.")))
            return self.default
        value = units.parse_quantity(raw, self.kind) if isinstance(raw, str) else self._typed(raw)
        refusal = self.check(value)
        if refusal:
            raise units.UnitError(refusal)
        return value

    def check(self, value: Value) -> Message | None:
        """Return why a typed value lies outside the range or the choices, or None."""
        if self.choices and value not in {choice for choice, _label in self.choices}:
            offered = ", ".join(choice or '""' for choice, _label in self.choices)
            return Message(_("Choose one of: %(choices)s."), {"choices": offered})
        if isinstance(value, int | float) and not isinstance(value, bool):
            if self.minimum is not None and value < self.minimum:
                minimum = units.format_quantity(self.minimum, self.unit)
                return Message(_("Too small: the minimum is %(minimum)s."), {"minimum": minimum})
            if self.maximum is not None and value > self.maximum:
                maximum = units.format_quantity(self.maximum, self.unit)
                return Message(_("Too large: the maximum is %(maximum)s."), {"maximum": maximum})
        return None

    def holds(self, value: object) -> bool:
        """Return whether a value is in the form in which this kind is kept, be it within the range or not."""
        if self.kind not in units.NUMBER_KINDS | {"boolean"}:
            return isinstance(value, str | int | float) and not isinstance(value, bool)
        if not isinstance(value, int | float):
            return False
        try:
            typed = self._typed(value)
        except units.UnitError:
            return False
        return self.kind not in units.WHOLE_KINDS or isinstance(typed, type(value))

    def _typed(self, value: int | float | bool) -> Value:
        if self.kind == "boolean" and isinstance(value, bool):
            return value
        if (isinstance(value, int) or self.kind in units.WHOLE_KINDS) and abs(value) > units.LARGEST_WHOLE:
            raise units.too_large(str(value) if abs(value) < _SHORT else "…")
        if self.kind in units.NUMBER_KINDS and not isinstance(value, bool) and math.isfinite(value):
            if self.kind not in units.WHOLE_KINDS:
                return float(value)
            if value == int(value):
                return int(value)
        raise units.UnitError(
            Message(_("%(value)s is not of the kind %(kind)s."), {"value": repr(value), "kind": self.kind})
        )
