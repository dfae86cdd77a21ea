"""Store what an inventory file describes: all of it or nothing."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import transaction
from django.db.models import Model
from django.utils.translation import gettext as _

from apps.accounts.models import Team
from apps.testbeds import services
from apps.testbeds.inventory import entries, reader
from apps.testbeds.inventory.entries import Problems
from apps.testbeds.inventory.fields import Lookup
from apps.testbeds.inventory.sections import SECTIONS, InventorySection

CREATED, CHANGED, SAME = "created", "changed", "same"


@dataclass(frozen=True)
class FieldChange:
    """A field's value before and after, as the file writes it; None where it is empty."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True)
class ItemChange:
    """What an import did, or would do, to one item: `action` is "created", "changed" or "same"."""

    action: str
    item: Model
    differences: tuple[FieldChange, ...] = ()

    @property
    def kind(self) -> str:
        """Return what sort of thing the item is."""
        return str(self.item._meta.verbose_name)


class _TeamItems(dict[type[Model], dict[Any, Any]]):
    """What the team has by kind and name; each kind is read once the file describes or names one."""

    def __init__(self, team: Team) -> None:
        super().__init__()
        self._team = team

    def __missing__(self, kind: type[Model]) -> dict[Any, Any]:
        section = next(section for section in SECTIONS if section.model is kind)
        self[kind] = {section.key_of(item): item for item in section.rows_of(self._team)}
        return self[kind]


def import_inventory(*, team: Team, text: str, dry_run: bool = False) -> list[ItemChange]:
    """Create what the file has and the team has not, change what differs; return that and what was the same.

    Things are recognised by kind and name (end-to-end RTTs by their two sites). A field that an entry leaves out
    stays as it is, and so does what the file does not name. One wrong entry and nothing is stored: ValidationError
    lists under "inventory" the line, the thing and the field of each. With `dry_run` everything is checked and
    nothing is kept.
    """
    document = reader.read_document(text)
    with transaction.atomic():
        changes = _store_all(team, document)
        if dry_run:
            transaction.set_rollback(True)
    return changes


def _store_all(team: Team, document: reader.MappingNode) -> list[ItemChange]:
    problems = Problems()
    entries.check_sections(document, problems)
    lookup = Lookup(_TeamItems(team))
    changes = []
    for section in SECTIONS:
        seen: set[object] = set()
        for entry in entries.entries_of(document, section, problems):
            values = entries.read_entry(section, entry, lookup, problems)
            if values is None:
                lookup.refused.add((section.model, entries.name_of(section, entry)))
                continue
            key = section.key_in(values)
            if key in seen:
                problems.add(
                    entry.line, entries.label_of(section, entry), [_("it stands here twice: leave one out.")]
                )
                continue
            seen.add(key)
            try:
                change = _store(team, section, lookup.items[section.model].get(key), values)
            except ValidationError as error:
                lookup.refused.add((section.model, entries.name_of(section, entry)))
                _report(section, entry, error, problems)
                continue
            lookup.items[section.model][key] = change.item
            changes.append(change)
    problems.raise_any()
    return changes


def _store(team: Team, section: InventorySection, item: Any, values: dict[str, Any]) -> ItemChange:
    """Create the item, or change what differs; ValidationError leaves the database as it was."""
    fields = {field.name: field for field in section.fields if field.name in values}
    before = {name: field.value_of(item) for name, field in fields.items()} if item else {}
    if item:
        # An item's identity is how it was found: the two sites of a pair may stand in either order.
        fields = {
            name: field
            for name, field in fields.items()
            if name not in section.identity and before[name] != values[name]
        }
        if not fields:
            return ItemChange(SAME, item)
    columns: dict[str, Any] = {}
    for name, field in fields.items():
        columns |= field.assignments(values[name])
    differences = tuple(
        difference
        for name, field in fields.items()
        if (difference := FieldChange(name, field.written(before.get(name)), field.written(values[name])))
        and difference.before != difference.after
    )
    # Each is a savepoint, so that what the database itself refuses does not end the whole transaction.
    if item:
        return ItemChange(CHANGED, services.update_item(item=item, values=columns), differences)
    return ItemChange(CREATED, services.create_item(kind=section.model, team=team, values=columns), differences)


def _report(section: InventorySection, entry: reader.MappingNode, error: ValidationError, problems: Problems) -> None:
    for column, texts in error.message_dict.items():
        field = section.field_of(column)
        name = field.name if field else ""
        line = entry.values[name].line if name in entry.values else entry.line
        label = entries.label_of(section, entry)
        problems.add(line, label if column == NON_FIELD_ERRORS else f"{label}, {name or column}", texts)
