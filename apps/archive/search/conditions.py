"""Ranges of parameters and figures as addresses write them: streams:4..16, goodput:900 Mbit/s.., direction:both."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apps.accounts.models import User
from apps.bench import units
from apps.bench.sweep import setting_names
from apps.bench.text import Message, _
from apps.bench.toolkit import Metric, Parameter
from apps.toolbox import queries as toolbox

_TEXTS = ("text", "choice", "boolean")
_KINDS = {unit: kind for kind, unit in units.BASE_UNITS.items()}


class ConditionError(ValueError):
    """A condition that cannot be read; `message` says what is wrong and what to write."""

    def __init__(self, message: Message) -> None:
        self.message = message
        super().__init__(str(message))


@dataclass(frozen=True)
class Condition:
    """What the values of a parameter, or the figures of a metric, must be: within numbers (base unit), or a text.

    `written` is the range as it was written, ends that are open being None.
    """

    name: str
    low: float | None = None
    high: float | None = None
    text: str = ""
    written: str = ""

    def as_text(self) -> str:
        """Return the condition as it stands in an address."""
        return f"{self.name}:{self.written}"


@dataclass(frozen=True)
class SearchNames:
    """The parameters and metrics that there are, by name, with the kinds of quantity that each is of."""

    parameters: Mapping[str, tuple[Parameter, tuple[str, ...]]]
    metrics: Mapping[str, tuple[Metric, tuple[str, ...]]]


def known_to(user: User) -> SearchNames:
    """Return the parameters and metrics of all tools of a user; of the same name the first tells the label."""
    parameters: dict[str, tuple[Parameter, tuple[str, ...]]] = {}
    metrics: dict[str, tuple[Metric, tuple[str, ...]]] = {}
    for tool in toolbox.tools_of(user):
        for parameter in tool.parameters:
            first, kinds = parameters.get(parameter.name, (parameter, ()))
            parameters[parameter.name] = (first, tuple(dict.fromkeys((*kinds, parameter.kind))))
        for metric in tool.metrics:
            first_metric, kinds = metrics.get(metric.name, (metric, ()))
            metrics[metric.name] = (first_metric, tuple(dict.fromkeys((*kinds, _KINDS.get(metric.unit, "float")))))
    return SearchNames(parameters, metrics)


def read_parameter(text: str, names: SearchNames) -> Condition:
    """Return what a text such as streams:4..16 means; ConditionError says what is wrong."""
    name, range_text = _parts(text, "streams:4..16")
    if setting_names.is_setting(name):
        kinds: tuple[str, ...] = ("text",)
    elif name in names.parameters:
        kinds = names.parameters[name][1]
    else:
        raise ConditionError(Message(_("No tool has a parameter “%(name)s”."), {"name": name}))
    if not set(kinds) - set(_TEXTS):
        # The page's form makes a range of whatever is typed.
        text = _choice(range_text.removeprefix("..").removesuffix(".."), kinds)
        return Condition(name, text=text, written=text)
    return _range(name, range_text, kinds)


def read_metric(text: str, names: SearchNames) -> Condition:
    """Return what a text such as goodput:900 Mbit/s.. means; ConditionError says what is wrong."""
    name, range_text = _parts(text, "goodput:900 Mbit/s..")
    if name not in names.metrics:
        raise ConditionError(Message(_("No tool has a metric “%(name)s”."), {"name": name}))
    return _range(name, range_text, names.metrics[name][1])


def _parts(text: str, example: str) -> tuple[str, str]:
    name, colon, range_text = text.replace("\0", "").partition(":")
    name, range_text = name.strip(), range_text.strip()
    if not colon or not name or range_text in ("", ".."):
        raise ConditionError(Message(_("“%(text)s” is no range: write for example %(example)s."), _of(text, example)))
    return name, range_text


def _choice(text: str, kinds: Iterable[str]) -> str:
    """Return a text as the index has it; of what can be yes or no, in any language, one of these."""
    if "boolean" in kinds:
        try:
            return "yes" if units.parse_quantity(text, "boolean") else "no"
        except units.UnitError:
            pass
    return text


def _range(name: str, range_text: str, kinds: Iterable[str]) -> Condition:
    first, dots, last = (part.strip() for part in range_text.partition(".."))
    low, high = _number(first, kinds), _number(last, kinds) if dots else None
    if not dots:
        return Condition(name, low, low, written=range_text)
    if low is not None and high is not None and low > high:
        text = _("“%(text)s”: the lower end of a range comes first.")
        raise ConditionError(Message(text, {"text": f"{name}:{range_text}"}))
    return Condition(name, low, high, written=range_text)


def _number(text: str, kinds: Iterable[str]) -> float | None:
    """Return a number in base units, of the first kind of quantity that the text can be one of."""
    if not text:
        return None
    wrong: units.UnitError | None = None
    for kind in kinds:
        if kind in _TEXTS:
            continue
        try:
            return float(units.parse_quantity(text, kind))
        except units.UnitError as error:
            wrong = wrong or error
    raise ConditionError(wrong.message if wrong else Message(_("“%(text)s” is no number."), {"text": text}))


def _of(text: str, example: str) -> dict[str, str]:
    return {"text": text, "example": example}
