"""What an experiment set and varied, as told by the points that were imported of it."""

from collections.abc import Sequence
from typing import Any

from apps.bench import strict_json, units
from apps.bench.sweep import likeness
from apps.bench.toolkit import Tool

Json = dict[str, Any]

# What stands among the values of a factor for those that nobody told.
UNKNOWN = "?"


def sweep_of(tool: Tool, points: Sequence[Json]) -> Json:
    """Return {"fixed", "factors", "zips"} of an experiment at these points: what differs is varied together.

    What marks unknown settings stands apart: it is fixed where it is one for all, else its ends are told.
    """
    kinds = {parameter.name: parameter.kind for parameter in tool.parameters}
    # In their order, each once.
    settings = list(
        {strict_json.dumps(setting, sort_keys=True): setting for setting in map(likeness.told_of, points)}.values()
    )

    def text(point: Json, name: str) -> str:
        value = point.get(name)
        if value is None:
            return "" if name in point else UNKNOWN
        return units.canonical_text(value, kinds[name])

    names = [name for name in kinds if any(name in point for point in settings)]
    varied = [name for name in names if len({(name in point, repr(point.get(name))) for point in settings}) > 1]
    fixed = {name: text(settings[0], name) for name in names if name not in varied}
    factors = [{"name": name, "expression": ", ".join(text(point, name) for point in settings)} for name in varied]
    marks = list(dict.fromkeys(point[likeness.AS_IN] for point in points if likeness.AS_IN in point))
    if len(marks) == 1 and all(likeness.AS_IN in point for point in points):
        fixed[likeness.AS_IN] = marks[0]
    elif marks:
        factors.append({"name": likeness.AS_IN, "expression": " … ".join(dict.fromkeys((marks[0], marks[-1])))})
    return {"fixed": fixed, "factors": factors, "zips": [varied] if len(varied) > 1 else []}
