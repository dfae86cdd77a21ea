"""How a file system was used: every setting that bears on its figures, as the tools declare them."""

from collections.abc import Mapping
from typing import Any

from apps.bench import tools
from apps.bench.rules.base import Point
from apps.bench.rules.shapes import CLIENTS, RECORD, TASKS, THREADS
from apps.bench.rules.shapes.names import canonical
from apps.bench.rules.told import known_or_none, unknown_in
from apps.bench.sweep.likeness import AS_IN
from apps.bench.toolkit import Parameter

# What amounts are told apart by themselves: how many take part, what each call moves, and the size of their files.
_SIZES = {"ior": ("block_size",)}
_APART = frozenset({CLIENTS, THREADS, TASKS, "ranks", RECORD, "file_size"})
# Figures of a publication, of which what is not printed is not known.
_PRINTED = "published"


def settings_of(point: Point) -> dict[str, Any]:
    """Return {name: value} of all settings that bear on a point's figures; None is not known.

    One that a trial does not have has the tool's default. Which others share what nobody told of an import is among
    them. The numbers of clients and tasks and the sizes of records and files are not.
    """
    declared = declared_of(point.tool)
    if not declared:
        named = {canonical(point.tool, name): value for name, value in point.parameters.items()}
        return {name: value for name, value in named.items() if name not in _APART}
    values = {name: _value(point, parameter) for name, parameter in declared.items()}
    as_in = known_or_none(point.parameters, AS_IN)
    return values | ({AS_IN: as_in} if as_in is not None else {})


def declared_of(slug: str) -> dict[str, Parameter]:
    """Return {name: parameter} that tell ways of using a file system apart; {} of a tool that a team made itself."""
    try:
        parameters = tools.get(slug).parameters
    except tools.UnknownTool:
        return {}
    return {
        item.name: item
        for item in parameters
        if not item.aside and canonical(slug, item.name) not in _APART and item.name not in _SIZES.get(slug, ())
    }


def chosen(slug: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a person chose of the settings: what is not as the tool has it by default."""
    declared = declared_of(slug)
    return {
        name: value
        for name, value in settings.items()
        if value is not None and name != AS_IN and not (name in declared and declared[name].default == value)
    }


def _value(point: Point, parameter: Parameter) -> Any:
    if parameter.name in unknown_in(point.parameters):
        return None
    default = None if _PRINTED in point.observed else parameter.default
    return point.parameters.get(parameter.name, default)
