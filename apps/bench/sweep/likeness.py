"""Settings that nobody told of an imported run, and with which other runs it may yet be taken for one setting.

A trial of an import has the parameters that its output, its command line, its table's row or whoever imported it
told; one that is not there is not known. Where such a one bears on the figures the trial has another beside them,
`AS_IN`, whose value it shares with those of which a person said that what is not known was the same in all of them,
and with no other: runs that differ in it are no repetitions of each other.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.bench.text import _
from apps.bench.toolkit import Parameter, Tool

AS_IN = "unknown_as_in"
PARAMETER = Parameter(
    AS_IN,
    "text",
    _("Unknown as in"),
    help=_("Runs that share this are taken for alike in what nobody told; others may differ in it."),
)


def is_told(name: str) -> bool:
    """Say whether a parameter is one that was told, and not the mark of those that were not."""
    return name != AS_IN


def told_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trial's parameters without the mark."""
    return {name: value for name, value in parameters.items() if is_told(name)}


def absent(tool: Tool, names: Iterable[str]) -> list[Parameter]:
    """Return the tool's parameters that bear on figures and are not among these names."""
    present = set(names)
    return [parameter for parameter in tool.parameters if parameter.name not in present and not parameter.aside]


def unknown_of(tool: Tool, parameters: Mapping[str, Any]) -> list[Parameter]:
    """Return those of a trial's parameters that bear on its figures and that nobody told."""
    return absent(tool, parameters) if AS_IN in parameters else []


def names_of(fixed: Iterable[str], factors: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of what an experiment sets and varies."""
    return [*fixed, *(factor["name"] for factor in factors)]


def unknown_in_sweep(tool: Tool, fixed: Mapping[str, Any], factors: Sequence[Mapping[str, Any]]) -> list[Parameter]:
    """Return the parameters that nobody told of any trial of an experiment."""
    names = names_of(fixed, factors)
    return absent(tool, names) if AS_IN in names else []


def without_mark(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return {"fixed", "factors", "zips"} of an experiment without the mark: what is measured anew is all known."""
    zips = [[name for name in names if is_told(name)] for names in values.get("zips", ())]
    return {
        **values,
        "fixed": told_of(values.get("fixed", {})),
        "factors": [factor for factor in values.get("factors", ()) if is_told(factor["name"])],
        "zips": [names for names in zips if len(names) > 1],
    }
