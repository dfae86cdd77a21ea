"""The points of a sweep that were measured on some lanes, what tells them apart, and the choice among them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import connection

from apps.bench.sweep import likeness
from apps.bench.toolkit import Tool
from apps.campaigns.models import Trial
from apps.results import charts, queries
from apps.results.addresses import point_key

# Once a campaign first: PostgreSQL counts distinct campaigns by sorting all trials by their parameters.
_MEASURED = """
SELECT told, count(*) AS campaigns, bool_or(is_untold) FROM (
    SELECT parameters - %(mark)s AS told, campaign_id, max(id) AS newest, bool_or(parameters ? %(mark)s) AS is_untold
    FROM campaigns_trial WHERE lane_id = ANY(%(lanes)s) AND state = %(state)s AND NOT is_warmup
    GROUP BY told, campaign_id
) once GROUP BY told ORDER BY campaigns DESC, max(newest) DESC
"""


@dataclass(frozen=True)
class PointSetting:
    """One point of the sweep that was measured, in how many campaigns.

    Of an import it is what was told: `is_untold` says that more is not known of some of it, and may differ.
    """

    parameters: dict[str, Any]
    campaigns: int
    is_untold: bool = False

    @cached_property
    def key(self) -> str:
        """Return its name in addresses."""
        return point_key(self.parameters)


@dataclass(frozen=True)
class Option:
    """A value of a parameter, and the point that it leads to; `text` tells what else differs there."""

    setting: PointSetting
    text: str
    is_chosen: bool


@dataclass(frozen=True)
class PointParameter:
    """A parameter that tells points apart, with its values in rising order."""

    label: str
    options: list[Option]


def settings_of(lanes: Iterable[int]) -> list[PointSetting]:
    """Return the points measured on the lanes, those of most campaigns first."""
    with connection.cursor() as cursor:
        cursor.execute(_MEASURED, {"lanes": list(lanes), "state": Trial.State.SUCCEEDED, "mark": likeness.AS_IN})
        return [
            PointSetting(json.loads(document), campaigns, is_untold)
            for document, campaigns, is_untold in cursor.fetchall()
        ]


def names_apart(points: Sequence[dict[str, Any]]) -> list[str]:
    """Return the names of the parameters that have not the same value at all points."""
    names = list(dict.fromkeys(name for point in points for name in point))
    return [name for name in names if len({_key_of(point, name) for point in points}) > 1]


def choices_among(settings: Sequence[PointSetting], chosen: PointSetting, tool: Tool) -> list[PointParameter]:
    """Return a choice for each parameter that differs; each value leads to the point with it nearest to the chosen.

    Nearest is the point that shares most of the other differing values, of several the most often measured.
    """
    names = names_apart([setting.parameters for setting in settings])
    values = {name: _key_of(chosen.parameters, name) for name in names}
    nearest: dict[str, dict[str, tuple[int, PointSetting]]] = {name: {} for name in names}
    for setting in settings:
        texts = {name: _key_of(setting.parameters, name) for name in names}
        shared = sum(texts[name] == values[name] for name in names)
        for name in names:
            others = shared - (texts[name] == values[name])
            best = nearest[name].get(texts[name])
            if best is None or others > best[0]:
                nearest[name][texts[name]] = (others, setting)
    choices = []
    for name, by_value in nearest.items():
        rising = _rising(name, [setting for _shared, setting in by_value.values()])
        options = [_option(tool, name, setting, chosen, names) for setting in rising]
        choices.append(PointParameter(charts.label_of_factor(tool, name), options))
    return choices


def label_of(tool: Tool, parameters: dict[str, Any], names: Iterable[str]) -> str:
    """Return "Window 64 KiB, Streams 4" for these of the parameters."""
    own_names = tuple(name for name in names if name in parameters)
    return charts.label_of(tool, own_names, tuple(parameters[name] for name in own_names), {})


def _key_of(parameters: dict[str, Any], name: str) -> str:
    """Return a value in a form that can be compared and kept in sets; 1, 1.0 and true are three."""
    return repr(parameters.get(name))


def _option(tool: Tool, name: str, setting: PointSetting, chosen: PointSetting, names: Iterable[str]) -> Option:
    there, here = setting.parameters, chosen.parameters
    value = charts.text_of(queries.parameter_of(tool, name), there[name], {}) if name in there else "–"
    others = [other for other in names if other != name and _key_of(there, other) != _key_of(here, other)]
    return Option(setting, " · ".join(filter(None, (value, label_of(tool, there, others)))), setting is chosen)


def _rising(name: str, settings: Iterable[PointSetting]) -> list[PointSetting]:
    """Return settings in the order of a parameter's values: numbers, then words, then none."""

    def place(setting: PointSetting) -> tuple[int, float, str]:
        value = setting.parameters.get(name)
        if isinstance(value, int | float):
            return 0, value, ""
        return (2, 0, "") if value is None else (1, 0, str(value))

    return sorted(settings, key=place)
