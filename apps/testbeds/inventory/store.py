"""Store what an inventory file describes: all of it or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import DataError, IntegrityError, transaction
from django.db.models import Model
from django.utils.translation import gettext as _

from apps.accounts.models import Team
from apps.core.limits import owned
from apps.core.limits.owned import TooManyOwnedError
from apps.testbeds import services
from apps.testbeds.inventory import entries, reader
from apps.testbeds.inventory.entries import Problems
from apps.testbeds.inventory.fields import Field, Lookup
from apps.testbeds.inventory.sections import SECTIONS, InventorySection

CREATED, CHANGED, SAME = "created", "changed", "same"
# Of so many that the database refuses together each is looked at by itself.
_FEW = 16
# The columns that say where something stands.
_PLACES = {"testbed", "site"}


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


def import_inventory(
    *, team: Team, text: str, dry_run: bool = False, confirmation: services.Confirmation | None = None
) -> list[ItemChange]:
    """Create what the file has and the team has not, change what differs; return that and what was the same.

    Things are recognised by kind and name (end-to-end RTTs by their two sites). A field that an entry leaves out
    stays as it is, and so does what the file does not name. One wrong entry and nothing is stored: ValidationError
    lists under "inventory" the line, the thing and the field of each. With `dry_run` everything is checked and
    nothing is kept. New addresses have the `confirmation`; none comes with a file.
    """
    document = reader.read_document(text)
    with transaction.atomic():
        changes = _store_all(team, document, confirmation)
        if dry_run:
            transaction.set_rollback(True)
    return changes


def _store_all(
    team: Team, document: reader.MappingNode, confirmation: services.Confirmation | None
) -> list[ItemChange]:
    problems = Problems()
    entries.check_sections(document, problems)
    lookup = Lookup(_TeamItems(team))
    _require_room(team, document, lookup)
    changes = []
    for section in SECTIONS:
        changes += _Storing(team, section, lookup, problems, confirmation).store(document)
    problems.raise_any()
    return changes


def _require_room(team: Team, document: reader.MappingNode, lookup: Lookup) -> None:
    """Raise TooManyOwnedError where the team would have too many things, before an entry is looked at."""
    for section in SECTIONS:
        if section.identity != ("name",):
            # The ends of a pair stand in either order: those are counted as they are stored.
            continue
        names = {entries.name_of(section, entry) for entry in entries.entries_of(document, section, Problems())}
        if names:
            new_names = names - lookup.items[section.model].keys() - {""}
            owned.require_room([section.model(team=team)] * len(new_names))


@dataclass(frozen=True)
class _Wanted:
    """What is to be done for an entry: `prepared` is stored, or the columns of an item are changed."""

    key: object
    entry: reader.MappingNode
    item: Any
    columns: Mapping[str, Any]
    prepared: services.Prepared | None = None


class _Storing:
    """Stores the entries of one section: all that is new, or changes, at once, for each alone costs queries."""

    def __init__(
        self,
        team: Team,
        section: InventorySection,
        lookup: Lookup,
        problems: Problems,
        confirmation: services.Confirmation | None,
    ) -> None:
        self._confirmation = confirmation
        self._team, self._section, self._lookup, self._problems = team, section, lookup, problems

    def store(self, document: reader.MappingNode) -> list[ItemChange]:
        """Return what was done for each entry that is not refused, in their order."""
        changes: dict[object, ItemChange | None] = {}
        pending: list[_Wanted] = []
        for entry in entries.entries_of(document, self._section, self._problems):
            values = entries.read_entry(self._section, entry, self._lookup, self._problems)
            if values is None:
                self._refuse(entry)
                continue
            key = self._section.key_in(values)
            if key in changes:
                label = entries.label_of(self._section, entry)
                self._problems.add(entry.line, label, [_("it stands here twice: leave one out.")])
                continue
            try:
                changes[key] = self._begin(key, entry, values, pending)
            except ValidationError as error:
                changes[key] = None
                self._refuse(entry, error)
        refused = {
            one.key
            for is_new in (False, True)
            for one in self._carry_out([one for one in pending if bool(one.prepared) is is_new])
        }
        return [change for key, change in changes.items() if change and key not in refused]

    def _begin(
        self, key: object, entry: reader.MappingNode, values: dict[str, Any], pending: list[_Wanted]
    ) -> ItemChange:
        """Return what is done for an entry; one that is to be carried out is added to `pending`."""
        item = self._lookup.items[self._section.model].get(key)
        given_fields = [field for field in self._section.fields if field.name in values]
        before = {field.name: field.value_of(item) if item else None for field in given_fields}
        # An item's identity is how it was found: the two sites of a pair may stand in either order.
        fields = {
            field.name: field
            for field in given_fields
            if not (item and (field.name in self._section.identity or before[field.name] == values[field.name]))
        }
        if item and not fields:
            return ItemChange(SAME, item)
        differences = _differences(fields, before, values)
        columns = services.confirmed(_columns(fields, values), self._confirmation)
        if not item:
            prepared = services.prepare_item(kind=self._section.model, team=self._team, values=columns)
            pending.append(_Wanted(key, entry, prepared.item, columns, prepared))
            return ItemChange(CREATED, prepared.item, differences)
        if columns.keys() & _PLACES:
            # Whether it may go there is asked for each.
            services.update_item(item=item, values=columns)
        else:
            pending.append(_Wanted(key, entry, item, columns))
        return ItemChange(CHANGED, item, differences)

    def _carry_out(self, pending: Sequence[_Wanted]) -> list[_Wanted]:
        """Create or change items, all of them together if that can be; return those that are refused."""
        if not pending:
            return []
        try:
            if prepared := [one.prepared for one in pending if one.prepared]:
                services.store_items(prepared)
            else:
                services.change_items([(one.item, one.columns) for one in pending])
        except TooManyOwnedError:
            # Said once, not of each entry.
            raise
        except (IntegrityError, DataError, ValidationError):
            if len(pending) > _FEW:
                half = len(pending) // 2
                return self._carry_out(pending[:half]) + self._carry_out(pending[half:])
            return [one for one in pending if not self._carry_out_alone(one)]
        for one in pending:
            self._lookup.items[self._section.model][one.key] = one.item
        return []

    def _carry_out_alone(self, one: _Wanted) -> bool:
        """Create or change one item, so that what is wrong with it is said; return whether nothing is."""
        kind = self._section.model
        try:
            if one.prepared:
                new_item = services.create_item(kind=kind, team=self._team, values=one.columns)
                # What others were told of is the one that is stored now.
                one.item.__dict__.update(new_item.__dict__)
            else:
                services.update_item(item=one.item, values=one.columns)
        except ValidationError as error:
            self._refuse(one.entry, error)
            return False
        self._lookup.items[kind][one.key] = one.item
        return True

    def _refuse(self, entry: reader.MappingNode, error: ValidationError | None = None) -> None:
        """Note that others may refer to it in vain, and what is wrong with it, unless that is noted."""
        self._lookup.refused.add((self._section.model, entries.name_of(self._section, entry)))
        if error is not None:
            _report(self._section, entry, error, self._problems)


def _columns(fields: Mapping[str, Field], values: Mapping[str, Any]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, field in fields.items():
        columns |= field.assignments(values[name])
    return columns


def _differences(
    fields: Mapping[str, Field], before: Mapping[str, Any], values: Mapping[str, Any]
) -> tuple[FieldChange, ...]:
    written = (
        FieldChange(name, field.written(before.get(name)), field.written(values[name]))
        for name, field in fields.items()
    )
    return tuple(difference for difference in written if difference.before != difference.after)


def _report(section: InventorySection, entry: reader.MappingNode, error: ValidationError, problems: Problems) -> None:
    for column, texts in error.message_dict.items():
        field = section.field_of(column)
        name = field.name if field else ""
        line = entry.values[name].line if name in entry.values else entry.line
        label = entries.label_of(section, entry)
        problems.add(line, label if column == NON_FIELD_ERRORS else f"{label}, {name or column}", texts)
