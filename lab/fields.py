"""Reads the fields of a YAML mapping one by one; what is missing, unknown or wrong is refused by its name."""

import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from lab.quantities import parse_quantity

T = TypeVar("T")
_MISSING: Any = object()
_PATH = re.compile(r"(/[A-Za-z0-9._-]+)+")


class LabFileError(ValueError):
    """A lab file that cannot be used; the text names the file, the field and the remedy."""


class Fields:
    """A mapping of the file, and where in it it stands. Every method raises LabFileError."""

    def __init__(self, path: str, place: str, content: object) -> None:
        self._path = path
        self._place = place
        self._read: set[str] = set()
        if not isinstance(content, Mapping):
            where = place.removesuffix(".") or "the file"
            raise LabFileError(f"{path}: {where}: write fields here, one a line, such as name: kisti-1.")
        self._content = content

    def refuse(self, name: str, why: str) -> NoReturn:
        """Raise a LabFileError for a field of this mapping."""
        raise LabFileError(f"{self._path}: {self._place}{name}: {why}.")

    def finish(self) -> None:
        """Refuse fields that nobody asked for: they are most often misspelt."""
        for name in self._content:
            if name not in self._read:
                self.refuse(str(name), f"unknown field; known here are {', '.join(sorted(self._read))}")

    def _get(self, name: str, default: Any = _MISSING) -> Any:
        self._read.add(name)
        value = self._content.get(name)
        if value is not None:
            return value
        if default is _MISSING:
            self.refuse(name, "missing")
        return default

    def text(self, name: str, *, pattern: re.Pattern[str] | None = None, default: str = _MISSING) -> str:
        """Return a text that matches `pattern`."""
        value = self._get(name, default)
        if not isinstance(value, str):
            self.refuse(name, f"{value!r} is no text")
        if pattern and not pattern.fullmatch(value):
            self.refuse(name, f"{value!r} should be at most 32 lower-case letters, digits and inner hyphens")
        return value

    def number(self, name: str, least: float, most: float, *, default: float = _MISSING) -> float:
        """Return a number in a range."""
        value = self._get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            self.refuse(name, f"{value!r} is no number from {least:g} to {most:g}")
        return value

    def integer(self, name: str, least: int, most: int, *, default: int = _MISSING) -> int:
        """Return a whole number in a range."""
        value = self.number(name, least, most, default=default)
        if not isinstance(value, int):
            self.refuse(name, f"{value!r} is no whole number")
        return value

    def quantity(
        self, name: str, kind: str, *, least: float = 0.0, most: float = float("inf"), default: float = _MISSING
    ) -> float:
        """Return a rate in bit/s, a throughput in B/s, a duration in seconds or a size in bytes."""
        value = self._get(name, default)
        if value is default:
            return default
        try:
            number = parse_quantity(value, kind)
        except ValueError as error:
            self.refuse(name, str(error))
        if not least <= number <= most:
            self.refuse(name, f"{value!r} is not from {least:g} to {most:g}")
        return number

    def address(self, name: str) -> IPv4Address:
        """Return an IPv4 address."""
        value = self._get(name)
        try:
            return IPv4Address(str(value))
        except ValueError:
            self.refuse(name, f"{value!r} is no IPv4 address")

    def network(self, name: str, *, longest_prefix: int) -> IPv4Network:
        """Return an IPv4 network of at most `longest_prefix` bits."""
        return self._network(name, self._get(name), longest_prefix)

    def networks(self, name: str, default: Sequence[str]) -> list[IPv4Network]:
        """Return one or more networks that hold a /24."""
        value = self._get(name, default)
        listed = [value] if isinstance(value, str) else self._sequence(name, value)
        return [self._network(name, text, 24) for text in listed]

    def _network(self, name: str, value: object, longest_prefix: int) -> IPv4Network:
        try:
            network = IPv4Network(str(value))
        except ValueError as error:
            self.refuse(name, f"{value!r} is no IPv4 network: {error}")
        if network.prefixlen > longest_prefix:
            self.refuse(name, f"{network} is too small: at least a /{longest_prefix} is needed")
        return network

    def names(self, name: str, default: Sequence[str] = _MISSING) -> list[str]:
        """Return a list of texts."""
        return [str(item) for item in self._sequence(name, self._get(name, default))]

    def choices(self, name: str, options: Mapping[str, T]) -> tuple[T, ...]:
        """Return what each of one or more different names stands for."""
        names = self.names(name)
        if not names or len(set(names)) < len(names) or not set(names) <= set(options):
            self.refuse(name, f"name one or more, each once, of {', '.join(options) or 'none that there is'}")
        return tuple(options[item] for item in names)

    def absolute_path(self, name: str, default: str = _MISSING) -> Path:
        """Return an absolute path with nothing in it that a mount table or a configuration would misread."""
        value = self.text(name, default=default)
        if not _PATH.fullmatch(value) or ".." in value.split("/"):
            self.refuse(name, f"{value!r} is no absolute path of letters, digits and ._- such as /lab/data")
        return Path(value)

    def has(self, name: str) -> bool:
        """Say whether a field is there and not empty."""
        self._read.add(name)
        return self._content.get(name) is not None

    def choice(self, name: str, options: Mapping[str, T], *, default: str = _MISSING) -> T:
        """Return what a name stands for."""
        value = self.text(name, default=default)
        if value not in options:
            self.refuse(name, f"{value!r} is unknown; there are {', '.join(options)}")
        return options[value]

    def mapping(self, name: str) -> Mapping[Any, Any]:
        """Return a mapping as it stands, empty if it is missing."""
        value = self._get(name, {})
        if not isinstance(value, Mapping):
            self.refuse(name, "write one setting a line, such as net.ipv4.tcp_sack: 1")
        return value

    def part(self, name: str) -> "Fields":
        """Return a mapping whose fields are read one by one, empty if it is missing."""
        return Fields(self._path, f"{self._place}{name}.", self._get(name, {}))

    def entries(self, name: str, *, least: int = 0, most: int = 1000) -> list["Fields"]:
        """Return a list of mappings."""
        listed = self._sequence(name, self._get(name, []))
        if not least <= len(listed) <= most:
            self.refuse(name, f"write {least} to {most} of them, not {len(listed)}")
        return [Fields(self._path, f"{self._place}{name}[{index}].", item) for index, item in enumerate(listed)]

    def _sequence(self, name: str, value: object) -> Sequence[Any]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            self.refuse(name, "write a list")
        return value
