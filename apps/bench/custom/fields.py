"""Take typed values out of plain data, with what is wrong noted at each field."""

import math
import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter, Value

LONGEST_TEXT = 500

_PARAMETER_FIELDS = {
    "name", "kind", "label", "help", "default", "minimum", "maximum", "choices", "required", "advanced",
}  # fmt: skip


class Fields:
    """A mapping whose values are taken one by one; `errors` gathers a message for each that is wrong."""

    def __init__(self, data: Mapping[Any, Any], fields: Collection[str]) -> None:
        self.data = data
        self.errors: dict[str, Message] = {}
        for name in data:
            if name not in fields:
                name_text = printable(name)[:50] if isinstance(name, str) else "?"
                text = _("“%(name)s” is not known here; known are: %(known)s.")
                self.errors[name_text] = Message(text, {"name": name_text, "known": ", ".join(sorted(fields))})

    def text(self, name: str, *, needed: bool = False, maximum: int = LONGEST_TEXT) -> str:
        """Return a text, trimmed, "" without one."""
        value = self.data.get(name)
        if value is None:
            value = ""
        # YAML reads some words as numbers or yes/no: 3.12 may be the text of a pattern.
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            self.errors[name] = Message(_("Write a text."))
            return ""
        value = value.strip()
        if len(value) > maximum:
            self.errors[name] = Message(_("Use at most %(limit)s characters."), {"limit": maximum})
        elif printable(value) != value:
            self.errors[name] = Message(_("This text holds a control character: remove it, or write it on one line."))
        elif needed and not value:
            self.errors[name] = Message(_("This is needed: enter a value."))
        return value if name not in self.errors else ""

    def matching(self, name: str, pattern: re.Pattern[str], *, needed: bool = False) -> str:
        """Return a text that a pattern matches as a whole, or ""."""
        value = self.text(name, needed=needed)
        if value and not pattern.fullmatch(value):
            text = _("Use letters, digits and . _ + - only, and no path: agents know where programs are.")
            self.errors[name] = Message(text)
            return ""
        return value

    def choice(self, name: str, choices: tuple[str, ...], default: str) -> str:
        """Return one of some words, the default if it is left out."""
        value = self.text(name) or default
        if value not in choices:
            self.errors.setdefault(name, Message(_("Choose one of: %(choices)s."), {"choices": ", ".join(choices)}))
            return default
        return value

    def boolean(self, name: str) -> bool:
        """Return yes or no, no if it is left out."""
        value = self.data.get(name)
        if value in (None, ""):
            return False
        if isinstance(value, bool):
            return value
        self.errors[name] = Message(_("Write yes or no."))
        return False

    def seconds(self, name: str, default: float, *, minimum: float, maximum: float) -> float:
        """Return a time in s, of a number or a text with a unit."""
        value = self.data.get(name)
        try:
            parameter = Parameter(name, "duration", "", default=default, unit="s", minimum=minimum, maximum=maximum)
            seconds = parameter.clean(_scalar(value))
        except (units.UnitError, OverflowError) as error:
            text = error.message if isinstance(error, units.UnitError) else Message(_("This is too large."))
            self.errors[name] = text
            return default
        return float(seconds) if isinstance(seconds, int | float) else default

    def lines(self, name: str, maximum: int) -> tuple[str, ...]:
        """Return the lines of a list of texts, or of one text, without the empty ones."""
        value = self.data.get(name) or []
        items = value.splitlines() if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not all(isinstance(item, str | int | float) for item in items):
            self.errors[name] = Message(_("Write a list of texts."))
            return ()
        texts = tuple(line for item in items if (line := str(item).strip()))
        if len(texts) > maximum or any(len(line) > LONGEST_TEXT for line in texts):
            text = _("Use at most %(lines)s lines of at most %(limit)s characters.")
            self.errors[name] = Message(text, {"lines": maximum, "limit": LONGEST_TEXT})
        elif any(printable(line) != line for line in texts):
            self.errors[name] = Message(_("This text holds a control character: remove it, or write it on one line."))
        return texts if name not in self.errors else ()

    def rows(self, name: str, maximum: int) -> list["Fields"]:
        """Return the mappings of a list, each with fields of its own."""
        value = self.data.get(name) or []
        if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
            self.errors[name] = Message(_("Write a list of mappings of fields to values."))
            return []
        if len(value) > maximum:
            self.errors[name] = Message(_("At most %(limit)s are possible."), {"limit": maximum})
            return []
        fields = _PARAMETER_FIELDS if name == "parameters" else _METRIC_FIELDS
        return [Fields(item, fields) for item in value]

    def take_errors(self, prefix: str, row: "Fields") -> None:
        """Take over what is wrong with a row."""
        self.errors |= {f"{prefix}.{name}": message for name, message in row.errors.items()}


_METRIC_FIELDS = {"name", "label", "unit", "better", "find", "where", "take", "optional"}


def read_parameter(row: Fields) -> Parameter:
    """Return the parameter that a row describes; what is wrong is noted in the row."""
    kind = row.choice("kind", units.KINDS, "text")
    name = row.text("name", needed=True)
    choices = row.lines("choices", 100)
    if kind == "choice" and not choices:
        row.errors.setdefault("choices", Message(_("Write the values to choose from, one on each line.")))
    if kind not in ("choice", "text") and choices:
        row.errors.setdefault("choices", Message(_("Only a choice or a text has values to choose from.")))
    bare = Parameter(name, kind, row.text("label", maximum=100) or name, unit=units.BASE_UNITS.get(kind, ""))
    limits = {end: _quantity(row, end, bare) for end in ("minimum", "maximum")}
    if limits["minimum"] is not None and limits["maximum"] is not None and limits["minimum"] > limits["maximum"]:
        row.errors.setdefault("maximum", Message(_("The largest value is smaller than the smallest.")))
    typed = Parameter(
        name,
        kind,
        bare.label,
        help=row.text("help", maximum=300),
        unit=bare.unit,
        minimum=limits["minimum"],
        maximum=limits["maximum"],
        choices=tuple((value, value) for value in choices),
        required=row.boolean("required"),
        advanced=row.boolean("advanced"),
    )
    return Parameter(**{**vars(typed), "default": _default(row, typed)})


def _quantity(row: Fields, name: str, parameter: Parameter) -> float | None:
    raw = row.data.get(name)
    if raw in (None, ""):
        return None
    if parameter.kind in ("boolean", "text", "choice"):
        row.errors[name] = Message(_("Only quantities and numbers have limits."))
        return None
    value = _clean(row, name, parameter)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _default(row: Fields, parameter: Parameter) -> Any:
    raw = row.data.get("default")
    if raw in (None, ""):
        if parameter.required:
            return None
        if parameter.kind in ("text", "boolean"):
            return "" if parameter.kind == "text" else False
        row.errors["default"] = Message(_("Give a default, or say that a value is needed."))
        return None
    return _clean(row, "default", parameter)


def _clean(row: Fields, name: str, parameter: Parameter) -> Any:
    raw = row.data.get(name)
    try:
        return parameter.clean(_scalar(raw))
    except (units.UnitError, OverflowError) as error:
        text = error.message if isinstance(error, units.UnitError) else Message(_("This is too large."))
        row.errors[name] = text
        return None


def _scalar(value: object) -> Value:
    """Return a value that is no list or mapping; these are never written out, for one may hold itself many times."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise units.UnitError(Message(_("Write one value here.")))


def printable(text: str) -> str:
    """Return a text without control characters and lone surrogates, which nobody can store or show."""
    return "".join(sign for sign in text if unicodedata.category(sign) not in ("Cc", "Cs"))
