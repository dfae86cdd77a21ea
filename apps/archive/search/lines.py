"""An experiment in a line of a list: what it varied, and between which nodes."""

from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from apps.bench import sweep
from apps.bench.sweep import references, setting_names
from apps.bench.toolkit import Parameter, Tool, Value
from apps.campaigns.models import Experiment
from apps.results import charts, queries

# Of longer lists the ends are shown, and how many values there are.
MOST_VALUES = 4
LONGEST_TEXT = 60


def varied_of(experiment: Experiment, tool: Tool | None) -> list[tuple[str, str]]:
    """Return (label, values) of each parameter that was varied: "1, 2, 4", "16 KiB … 4 MiB (9)".

    What cannot be read stands as it was written: a formula not computed yet, or the values of a tool that is gone.
    """
    pairs = []
    for factor in experiment.factors:
        name = factor["name"]
        expression = str(experiment.resolved.get(name) or factor["expression"])
        parameter = _parameter_of(tool, name)
        pairs.append((_(parameter.label), _values(parameter, expression)) if parameter else (name, _cut(expression)))
    return pairs


def _parameter_of(tool: Tool | None, name: str) -> Parameter | None:
    if tool is None:
        return setting_names.parameter_of(name) if setting_names.is_setting(name) else None
    return queries.parameter_of(tool, name)


def _values(parameter: Parameter, expression: str) -> str:
    if references.is_formula(expression):
        return _cut(expression)
    # Figures from elsewhere may have been measured beyond what the tool lets one ask for here.
    unlimited = replace(parameter, minimum=None, maximum=None, choices=())
    try:
        values = sweep.parse_factor(unlimited, expression)
    except sweep.SweepError:
        return _cut(expression)
    return _shortened(parameter, values)


def _shortened(parameter: Parameter, values: Sequence[Value]) -> str:
    """Return all of a few values; of many numbers the least and the greatest, of many texts the first."""

    def text(value: Value) -> str:
        return _cut(charts.text_of(parameter, value, {}))

    if len(values) <= MOST_VALUES:
        return ", ".join(map(text, values))
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) < len(values):
        return f"{', '.join(map(text, values[: MOST_VALUES - 1]))}, … ({len(values)})"
    # A zero that has a meaning of its own is no end of a range.
    apart = [value for value in numbers if parameter.zero and not value]
    rest = [value for value in numbers if value or not parameter.zero]
    return ", ".join([*map(text, apart), f"{text(min(rest))} … {text(max(rest))} ({len(rest)})"])


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
