"""The settings in which what was measured of one metric differs: what tells one of its curves from another."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.bench import tools
from apps.bench.rules.base import Evidence, Point
from apps.bench.rules.readings import read_once
from apps.bench.rules.told import names_in, unknown_in
from apps.bench.sweep.likeness import AS_IN
from apps.bench.toolkit import Parameter
from apps.bench.units import format_quantity

# Figures of a publication, of which what is not printed is not known.
PRINTED = "published"
# What is not known of a setting.
UNTOLD = "–"

# The tool, the metric and the file system whose points are set side by side.
Side = tuple[str, str, str]


def declared(tool: str) -> dict[str, Parameter]:
    """Return {name: parameter} of a tool, {} of one that a team made itself."""
    try:
        return {item.name: item for item in tools.get(tool).parameters}
    except tools.UnknownTool:
        return {}


def setting_of(point: Point, name: str, parameter: Parameter | None) -> Any:
    """Return a setting of a point, the tool's default where it has none; None is not known, or not set."""
    if name in unknown_in(point.parameters):
        return None
    default = None if parameter is None or PRINTED in point.observed else parameter.default
    return point.parameters.get(name, default)


def settings_apart(point: Point, metric: str, evidence: Evidence) -> dict[str, Any]:
    """Return {name: value} of a point's settings in which others of its tool, metric and file system differ from it.

    Names are the tool's own; those that no figure depends on are not among them.
    """
    own = declared(point.tool)
    names = _names_apart(evidence).get((point.tool, metric, point.file_system), ())
    return {name: setting_of(point, name, own.get(name)) for name in names}


@read_once
def _names_apart(evidence: Evidence) -> Mapping[Side, tuple[str, ...]]:
    sides: dict[Side, list[Point]] = {}
    for point in evidence.points:
        for metric in point.metrics:
            sides.setdefault((point.tool, metric, point.file_system), []).append(point)
    return {side: _names(side[0], points) for side, points in sides.items() if len(points) > 1}


def _names(tool: str, points: Iterable[Point]) -> tuple[str, ...]:
    own, listed = declared(tool), list(points)
    names = dict.fromkeys([*own, *sorted({name for point in listed for name in names_in(point.parameters)})])
    telling = [name for name in names if name != AS_IN and not (name in own and own[name].aside)]
    return tuple(
        name for name in telling if len({repr(setting_of(point, name, own.get(name))) for point in listed}) > 1
    )


def words_of(tool: str, settings: Mapping[str, Any]) -> list[str]:
    """Return settings as people read them, by the tool's declarations: "pattern = randread"."""
    own = declared(tool)
    return [f"{name} = {in_unit(value, own[name].unit if name in own else '')}" for name, value in settings.items()]


def in_unit(value: Any, unit: str = "") -> str:
    """Return the value of a setting as people read it."""
    if value is None or value == "":
        return UNTOLD
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value)
    return format_quantity(value, unit) if unit and unit not in ("1", "count") else f"{value:g}"
