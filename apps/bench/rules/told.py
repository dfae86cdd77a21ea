"""Parameters of which some are not known: who asks for one of those is told so, and given no default."""

from collections.abc import Iterator, Mapping
from typing import Any

NONE: frozenset[str] = frozenset()


class UnknownParameter(Exception):
    """A parameter that a rule reads and nobody told; `name` is the tool's own."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


class Told(Mapping[str, Any]):
    """What was told of a point's parameters; who asks for one in `unknown`, or whether it is there: UnknownParameter.

    What is known can be gone through as of any mapping.
    """

    def __init__(self, values: Mapping[str, Any], unknown: frozenset[str]) -> None:
        self._values, self.unknown = dict(values), unknown

    def __getitem__(self, name: str) -> Any:
        """Return a parameter that was told; UnknownParameter or KeyError."""
        if name in self.unknown:
            raise UnknownParameter(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of what was told."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return how many were told."""
        return len(self._values)

    def __repr__(self) -> str:
        """Return what is known, and the names of the rest."""
        return f"Told({self._values!r}, unknown={sorted(self.unknown)!r})"


def unknown_in(parameters: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of those parameters that are not known."""
    # That a dict is none of an abstract class is known sooner.
    if isinstance(parameters, dict) or not isinstance(parameters, Told):
        return NONE
    return parameters.unknown


def names_in(parameters: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of all parameters that there are, known or not: what kind of thing was measured."""
    return frozenset(parameters) | unknown_in(parameters)


def known_or_none(parameters: Mapping[str, Any], name: str) -> Any:
    """Return a parameter, None where there is none or it is not known."""
    return None if name in unknown_in(parameters) else parameters.get(name)


def rest_of(parameters: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """Return all parameters but these; of those that are not known they stay so."""
    others = {name: value for name, value in parameters.items() if name not in names}
    unknown = unknown_in(parameters)
    return Told(others, unknown - {*names}) if unknown else others
