"""From the lines of an inventory file to the values of its entries, with every problem named by line and field."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.testbeds import patterns
from apps.testbeds.inventory.fields import KnownRefusal, Lookup
from apps.testbeds.inventory.reader import MappingNode, ScalarNode, SequenceNode
from apps.testbeds.inventory.sections import SECTIONS, InventorySection
from apps.testbeds.models import Node

# The one version of the file there is.
VERSION = 1
# More than these help nobody: the first ones cause the rest.
MOST_PROBLEMS = 20


@dataclass
class Problems:
    """What is wrong with a file, in the order found."""

    texts: list[str] = field(default_factory=list)

    def add(self, line: int, where: str, texts: Iterable[str]) -> None:
        """Note problems of one place; `where` names the thing and the field."""
        for text in texts:
            words = {"line": line, "where": where, "problem": text}
            self.texts.append(_("Line %(line)s, %(where)s: %(problem)s") % words)

    def raise_any(self) -> None:
        """Raise the first of them as one ValidationError, under "inventory"."""
        left_out = len(self.texts) - MOST_PROBLEMS
        more = [_("… and %(number)s more.") % {"number": left_out}] if left_out > 0 else []
        if self.texts:
            raise ValidationError({"inventory": self.texts[:MOST_PROBLEMS] + more})


def check_sections(document: MappingNode, problems: Problems) -> None:
    """Note what is no section, and a version that is not ours."""
    names = [section.name for section in SECTIONS]
    for name, value in document.values.items():
        if name == "version":
            if not isinstance(value, ScalarNode) or value.text != str(VERSION):
                problems.add(value.line, name, [_("only version %s can be read.") % VERSION])
        elif name not in names:
            problems.add(value.line, name, [_("there is no such section; there are %s.") % ", ".join(names)])


def entries_of(document: MappingNode, section: InventorySection, problems: Problems) -> Iterator[MappingNode]:
    """Yield the entries of a section; one of nodes whose name is a pattern becomes several."""
    value = document.values.get(section.name, ScalarNode(0, None))
    if isinstance(value, ScalarNode) and value.text is None:
        return
    if not isinstance(value, SequenceNode):
        problems.add(value.line, section.name, [_("here stands a list, each entry of it begins with “-”.")])
        return
    for entry in value.items:
        if not isinstance(entry, MappingNode):
            problems.add(entry.line, section.name, [_("an entry has fields, such as “name: …”.")])
            continue
        try:
            yield from _expanded(entry) if section.model is Node else [entry]
        except ValidationError as error:
            problems.add(entry.line, label_of(section, entry), error.messages)


def read_entry(
    section: InventorySection, entry: MappingNode, lookup: Lookup, problems: Problems
) -> dict[str, Any] | None:
    """Return the values of an entry's fields; None if one is wrong or refers to something refused."""
    fields = {item.name: item for item in section.fields}
    label = label_of(section, entry)
    values: dict[str, Any] = {}
    usable = True
    for name, value in entry.values.items():
        try:
            if name not in fields:
                raise ValidationError(_("there is no such field; there are %s.") % ", ".join(fields))
            values[name] = fields[name].read(value, lookup)
        except ValidationError as error:
            problems.add(value.line, f"{label}, {name}", error.messages)
            usable = False
        except KnownRefusal:
            usable = False
    for name in section.identity:
        if not values.get(name) and (name not in entry.values or name in values):
            problems.add(entry.line, f"{label}, {name}", [_("this field is needed.")])
            usable = False
    return values if usable else None


def name_of(section: InventorySection, entry: MappingNode) -> str:
    """Return the name that others refer to an entry by."""
    parts = [entry.values.get(name) for name in section.identity]
    return " – ".join(part.text.strip() for part in parts if isinstance(part, ScalarNode) and part.text)


def label_of(section: InventorySection, entry: MappingNode) -> str:
    """Return what an entry is called in messages: ``nodes “KGFS01”``."""
    name = name_of(section, entry)
    return f"{section.name} “{name}”" if name else section.name


def _expanded(entry: MappingNode) -> list[MappingNode]:
    """Return one entry for each node that a pattern in `name` stands for, each with its own address."""
    name = entry.values.get("name")
    if not isinstance(name, ScalarNode) or "[" not in (name.text or ""):
        return [entry]
    names = patterns.expand_pattern(name.text or "")
    own = [entry.values] * len(names)
    if (written := entry.values.get("addresses")) is not None:
        if not isinstance(written, ScalarNode):
            raise ValidationError(_("addresses of a pattern of names are a pattern too, such as 10.0.1.[11-14]."))
        addresses = patterns.expand_pattern(written.text or "")
        if len(addresses) != len(names):
            raise ValidationError(
                _("these are %(addresses)s addresses for %(nodes)s nodes: write one for each, or none.")
                % {"addresses": len(addresses), "nodes": len(names)}
            )
        own = [{**entry.values, "addresses": ScalarNode(written.line, address)} for address in addresses]
    return [
        MappingNode(entry.line, {**values, "name": ScalarNode(name.line, one)})
        for one, values in zip(names, own, strict=True)
    ]
