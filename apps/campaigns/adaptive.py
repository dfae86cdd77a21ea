"""What a search along a factor needs of its experiment, and the values the factor can take."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from apps.bench import units
from apps.bench.sweep import references
from apps.bench.sweep.refinement import LEAST_POINTS, whole_or_short
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter, Params
from apps.campaigns.models import Experiment


def check(
    experiment: Experiment,
    parameters: Mapping[str, Parameter],
    points: Iterable[Params],
    awaited: Mapping[str, str],
    wrong: dict[str, Message],
) -> None:
    """Add to `wrong` why the experiment's factor cannot be searched along.

    `awaited` {parameter: formula} are those whose values are not known yet, only how many they will be.
    """
    name = experiment.search_factor
    if not name:
        return
    factors = [factor["name"] for factor in experiment.factors]
    values = {value for point in points if isinstance(value := point.get(name), int | float) and value > 0}
    count = references.parse_formula(awaited[name]).count if name in awaited else len(values)
    if name not in factors:
        text = _("“%(name)s” is no factor of this experiment: sweep it, or refine one of: %(factors)s.")
        wrong["search_factor"] = Message(text, {"name": name, "factors": ", ".join(factors) or "–"})
    elif name not in parameters or not is_number(parameters[name]):
        text = _("“%(name)s” is not a number: nothing lies between its values.")
        wrong["search_factor"] = Message(text, {"name": name})
    elif any(name in zipped for zipped in experiment.zips):
        text = _("“%(name)s” is zipped with another factor: take it out of the zip to refine it alone.")
        wrong["search_factor"] = Message(text, {"name": name})
    elif count < LEAST_POINTS:
        text = _("A search starts from at least %(least)s values above zero: add some to “%(name)s”.")
        wrong["search_factor"] = Message(text, {"least": LEAST_POINTS, "name": name})


def is_number(parameter: Parameter) -> bool:
    """Return whether anything lies between two values of a parameter."""
    return parameter.kind in units.NUMBER_KINDS and not parameter.choices


def rounding_of(parameter: Parameter) -> Callable[[float], float]:
    """Return how a wanted value becomes one that the parameter can take."""
    is_whole = parameter.kind in units.WHOLE_KINDS

    def to_value(amount: float) -> float:
        value = whole_or_short(amount, whole=is_whole)
        most, least = parameter.maximum, parameter.minimum
        value = min(value, most) if most is not None else value
        return max(value, least) if least is not None else value

    return to_value


def rest_of(parameters: Mapping[str, Any], name: str) -> tuple[tuple[str, Any], ...]:
    """Return all parameters but one, as a key."""
    return tuple(sorted((key, value) for key, value in parameters.items() if key != name))
