"""Make, change, copy and delete what is in an inventory; forms, REST and imports all come through here."""

import unicodedata
from collections.abc import Mapping
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import ProtectedError
from django.utils.translation import gettext as _

from apps.accounts.models import Team, TeamOwned
from apps.core.errors import by_field
from apps.core.versions import hold
from apps.testbeds import queries
from apps.testbeds.models.base import InventoryItem
from apps.testbeds.places import refusal_to_move
from apps.testbeds.services import parts
from apps.testbeds.services.confirmations import Confirmation, confirmed

Item = TypeVar("Item", bound=TeamOwned)


@transaction.atomic
def create_item(
    *, kind: type[Item], team: Team, values: Mapping[str, Any], confirmation: Confirmation | None = None
) -> Item:
    """Return a new item of the team; `values` are its columns and parts by name.

    Parts are a node's `addresses`, a cluster's `nodes` and a file system's `mounts`. New addresses have the
    `confirmation`. ValidationError names each field that is wrong, also one that refers to another team's things.
    """
    return _save(kind(team=team), confirmed(values, confirmation))


@transaction.atomic
def update_item(*, item: Item, values: Mapping[str, Any], confirmation: Confirmation | None = None) -> Item:
    """Change the columns and parts given and leave the others; ValidationError as in `create_item`."""
    hold(item)
    return _save(item, confirmed(values, confirmation))


@transaction.atomic
def clone_item(*, item: Item, name: str) -> Item:
    """Return a copy under another name: of a cluster with its nodes, of a file system with its mounts.

    A node's addresses are not copied: no two machines share one.
    """
    columns = {
        field.name: getattr(item, field.name)
        for field in item._meta.concrete_fields
        if field.editable and not field.primary_key and field.name != "team"
    }
    return create_item(kind=type(item), team=item.team, values=columns | parts.parts_of(item) | {"name": name})


@transaction.atomic
def delete_item(*, item: TeamOwned) -> None:
    """Delete an item; ProtectedError holds what would break."""
    if dependents := queries.dependents(item):
        raise ProtectedError(_("Others depend on it."), set(dependents))
    item.delete()


def new_item(*, kind: type[Item], team: Team, values: Mapping[str, Any]) -> Item:
    """Return an item of the team that is not stored, with its columns.

    ValidationError names each field that is wrong by itself; what stands in the database was not asked.
    """
    item = kind(team=team)
    set_columns(item, values)
    return item


def set_columns(item: TeamOwned, values: Mapping[str, Any]) -> None:
    """Set the columns of an item and store nothing; ValidationError as of `new_item`."""
    _assign(item, values)
    if wrong := _own_refusals(item):
        raise ValidationError(wrong)


def _save(item: Item, values: Mapping[str, Any]) -> Item:
    _assign(item, values)
    if wrong := _refusals(item) or _refusal_to_move(item):
        raise ValidationError(wrong)
    item.save()
    for name, setter in parts.SETTERS.get(type(item), {}).items():
        if name in values:
            setter(item, values[name])
    return item


def _assign(item: TeamOwned, values: Mapping[str, Any]) -> None:
    """Set the columns that are given, and no part."""
    for name, value in values.items():
        if name not in parts.SETTERS.get(type(item), {}):
            setattr(item, name, value.strip() if isinstance(value, str) else value)


def _own_refusals(item: TeamOwned) -> dict[str, list[Any]]:
    """Return what is wrong with each field, whatever else there is."""
    wrong: dict[str, list[Any]] = {}
    try:
        # A reference that is set was read from the database; asking whether it exists would cost a query each.
        relations = {
            field.name for field in item._meta.concrete_fields if field.is_relation and _target_id(item, field)
        }
        item.clean_fields(exclude={"team", *relations})
    except ValidationError as error:
        wrong = dict(by_field(error))
    for field in item._meta.concrete_fields:
        if field.name in wrong:
            continue
        value = getattr(item, field.name) if isinstance(field, models.ForeignKey) else field.value_from_object(item)
        if isinstance(value, TeamOwned) and value.team_id != item.team_id:
            wrong[field.name] = [parts.other_team(value)]
        elif isinstance(value, str) and _holds_control(value, allowed="\n\r\t" * isinstance(field, models.TextField)):
            wrong[field.name] = [_("This holds a control character: take it out, or write it again.")]
    return wrong


def _refusals(item: TeamOwned) -> dict[str, list[Any]]:
    """Return what is wrong with each field."""
    wrong = _own_refusals(item)
    if isinstance(item, InventoryItem) and "name" not in wrong and _name_is_taken(item):
        wrong["name"] = [
            _("The team already has a %(kind)s called “%(name)s”: choose another name.")
            % {"kind": item._meta.verbose_name, "name": item.name}
        ]
    if not wrong:
        try:
            item.validate_constraints(exclude={"name"})
        except ValidationError as error:
            wrong = dict(by_field(error))
    return wrong


def _refusal_to_move(item: TeamOwned) -> dict[str, list[Any]]:
    return {name: [text] for name, text in refusal_to_move(item).items()} if item.pk else {}


def _target_id(item: models.Model, field: models.Field) -> object:
    return getattr(item, field.attname)


def _name_is_taken(item: InventoryItem) -> bool:
    return type(item)._default_manager.filter(team=item.team, name=item.name).exclude(pk=item.pk).exists()


def _holds_control(text: str, allowed: str) -> bool:
    """Say whether a text holds what can not be stored or shown: control characters, lone surrogates."""
    return any(unicodedata.category(character) in ("Cc", "Cs") and character not in allowed for character in text)
