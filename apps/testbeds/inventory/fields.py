"""The fields of an inventory file: how each is read, what it is in the database, and how it is written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.utils.translation import gettext as _

from apps.bench import units
from apps.core import messages
from apps.testbeds import patterns, quantities, services
from apps.testbeds.inventory.reader import MappingNode, ScalarNode, SequenceNode, Value
from apps.testbeds.models import Cluster, Node, Switch


class Inline(list):
    """A list that is written on one line."""


class InlineEntry(dict):
    """A mapping that is written on one line."""


@dataclass
class Lookup:
    """What the team has by kind and name; `refused` are those that stand in the file but could not be stored."""

    items: Mapping[type[Model], dict[Any, Any]]
    refused: set[tuple[type[Model], str]] = field(default_factory=set)

    def find(self, kind: type[Model], name: str) -> Any:
        """Return the item; KnownRefusal or ValidationError if there is none."""
        if name in self.items[kind]:
            return self.items[kind][name]
        if (kind, name) in self.refused:
            raise KnownRefusal
        raise ValidationError(
            _("There is no %(kind)s called “%(name)s”: describe it in this file, or correct the name.")
            % {"kind": kind._meta.verbose_name, "name": name}
        )


class KnownRefusal(Exception):
    """A reference to something whose own refusal has been reported already."""


@dataclass(frozen=True)
class Field:
    """A field of the file: `read` makes the value of a text or list, `write` the other way round.

    `columns` are the model's attributes the value goes to; a value for several is a tuple. `get` takes the value
    from an item of the database, in the form that `read` gives.
    """

    name: str
    columns: tuple[str, ...]
    read: Callable[[Value, Lookup], Any]
    write: Callable[[Any], Any] = lambda value: value
    get: Callable[[Any], Any] | None = None

    def value_of(self, item: Model) -> Any:
        """Return the item's value of the field."""
        return self.get(item) if self.get else getattr(item, self.columns[0])

    def written(self, value: Any) -> Any:
        """Return the value as the file has it; None if it is empty."""
        return None if value in (None, "", []) else self.write(value)

    def assignments(self, value: Any) -> dict[str, Any]:
        """Return what the value sets on the item, by column."""
        return dict(zip(self.columns, value, strict=True)) if len(self.columns) > 1 else {self.columns[0]: value}


def plain(value: Value) -> str:
    """Return a single value's text; "" for null. ValidationError for a list or a mapping."""
    if not isinstance(value, ScalarNode):
        raise ValidationError(_("Here stands a single value, not a list or a mapping."))
    return (value.text or "").strip()


def text(name: str) -> Field:
    """Return a field of free text."""
    return Field(name, (name,), lambda value, _lookup: plain(value))


def quantity(name: str, column: str, kind: str) -> Field:
    """Return a field of a quantity, "1 Gbit/s" or a number in base units; kinds as in `apps.bench.units`."""

    def read(value: Value, _lookup: Lookup) -> Any:
        if not (written := plain(value)):
            return None
        try:
            return units.parse_quantity(written, kind)
        except units.UnitError as error:
            raise ValidationError(messages.render(error.message)) from error

    return Field(name, (column,), read, write=lambda value: quantities.text_of(value, kind))


def whole_number(name: str) -> Field:
    """Return a field of a whole number."""
    return Field(name, (name,), quantity(name, name, "integer").read)


def limit(name: str, kind: str, usual: float) -> Field:
    """Return a field of a number that is left out where it is the usual one."""
    read = quantity(name, name, kind).read
    return Field(name, (name,), read, write=lambda value: None if value == usual else value)


def reference(name: str, kind: type[Model], column: str = "") -> Field:
    """Return a field that names something of another section."""

    def read(value: Value, lookup: Lookup) -> Any:
        written = plain(value)
        return lookup.find(kind, written) if written else None

    return Field(name, (column or name,), read, write=str)


def end(name: str) -> Field:
    """Return a field that names an end of a link: ``{node: KGFS01}`` or ``{switch: KISTI}``."""

    def read(value: Value, lookup: Lookup) -> Any:
        kinds: dict[str, type[Model]] = {"node": Node, "switch": Switch}
        if not isinstance(value, MappingNode) or len(value.values) != 1 or next(iter(value.values)) not in kinds:
            raise ValidationError(_("Write {node: NAME} or {switch: NAME}."))
        ((kind, written),) = value.values.items()
        end_item = lookup.find(kinds[kind], plain(written))
        return (end_item, None) if kind == "node" else (None, end_item)

    def write(value: tuple[Node | None, Switch | None]) -> Any:
        node, switch = value
        return InlineEntry(node=str(node)) if node else InlineEntry(switch=str(switch))

    return Field(
        name,
        (f"{name}_node", f"{name}_switch"),
        read,
        write,
        get=lambda item: (getattr(item, f"{name}_node"), getattr(item, f"{name}_switch")),
    )


def addresses() -> Field:
    """Return the field of a node's addresses: texts, or ``{address: 10.0.0.1, interface: eth0}``."""

    def read(value: Value, _lookup: Lookup) -> Any:
        return [services.Address(*pair) for pair in _pairs(value, "address", "interface")]

    return Field(
        "addresses",
        ("addresses",),
        read,
        write=lambda value: Inline(_written(item.address, "address", item.interface, "interface") for item in value),
        get=lambda node: [services.Address(row.address, row.interface) for row in node.addresses.all()],
    )


def nodes() -> Field:
    """Return the field of a cluster's nodes: names or patterns such as ``KGFS[01-04]``."""

    def read(value: Value, lookup: Lookup) -> Any:
        names = [name for item in _items(value) for name in patterns.expand_pattern(plain(item))]
        return sorted({lookup.find(Node, name) for name in names}, key=str)

    return Field(
        "nodes",
        ("nodes",),
        read,
        write=lambda value: Inline(str(node) for node in value),
        get=lambda cluster: sorted(cluster.nodes.all(), key=str),
    )


def mounts() -> Field:
    """Return the field of the clusters that mount a file system: names, or ``{cluster: NAME, path: /elsewhere}``."""

    def read(value: Value, lookup: Lookup) -> Any:
        pairs = _pairs(value, "cluster", "path")
        mount_points = [services.MountPoint(lookup.find(Cluster, name), path) for name, path in pairs]
        return sorted(mount_points, key=lambda item: str(item.cluster))

    return Field(
        "mounted_by",
        ("mounts",),
        read,
        write=lambda value: Inline(_written(str(item.cluster), "cluster", item.path, "path") for item in value),
        get=lambda file_system: sorted(
            (services.MountPoint(row.cluster, row.path) for row in file_system.mounts.all()),
            key=lambda item: str(item.cluster),
        ),
    )


def _items(value: Value) -> list[Value]:
    if isinstance(value, SequenceNode):
        return value.items
    if isinstance(value, ScalarNode):
        return [value] if value.text else []
    raise ValidationError(_("Here stands a list."))


def _pairs(value: Value, first: str, second: str) -> list[tuple[str, str]]:
    """Return the pairs of a list of texts (then the second is "") or of mappings with the two fields."""
    pairs = []
    for item in _items(value):
        if not isinstance(item, MappingNode):
            pairs.append((plain(item), ""))
            continue
        if first not in item.values or not set(item.values) <= {first, second}:
            raise ValidationError(
                _("Write a text, or {%(first)s: …, %(second)s: …}.") % {"first": first, "second": second}
            )
        pairs.append((plain(item.values[first]), plain(item.values.get(second, ScalarNode(item.line, None)))))
    return pairs


def _written(value: str, first: str, other: str, second: str) -> Any:
    return InlineEntry({first: value, second: other}) if other else value
