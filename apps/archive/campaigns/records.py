"""Rows as JSON objects and back: field by field, and nothing but what the field may hold."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import connection, models
from django.utils.dateparse import parse_datetime

from apps.archive.campaigns import shapes
from apps.archive.campaigns.form import ArchiveError, wrong
from apps.bench.text import Message, _, problem_of
from apps.core import moments, storable

Json = dict[str, Any]
M = TypeVar("M", bound=models.Model)

_STAMPED = "created_at", "updated_at"


def record(item: models.Model, names: Iterable[str]) -> Json:
    """Return fields of a row as JSON values, times in UTC."""
    return {name: _plain(getattr(item, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return str(value) if isinstance(value, models.TextChoices) else value


def values(model: type[models.Model], data: object, names: Iterable[str], place: str) -> Json:
    """Return the values of fields that a record has; ArchiveError names the field that is wrong. Others are left."""
    document = mapping(data, place)
    checked_values = {}
    for name in names:
        if name not in document:
            raise wrong(f"{place}, {name}", Message(_("This is missing.")))
        checked_values[name] = value(model._meta.get_field(name), document[name], f"{place}, {name}")
    return checked_values


def value(field: Any, raw: Any, place: str) -> Any:
    """Return what a field is set to by a JSON value; ArchiveError if that is nothing that it may hold."""
    if raw is None:
        if not field.null:
            raise wrong(place, Message(_("This is empty: it needs a value.")))
        return None
    if isinstance(field, ArrayField):
        items = sequence(raw, place)
        # Its length first: those of a list too long are not read.
        _validate(partial(models.Field.run_validators, field), items, place)
        return [value(field.base_field, item, place) for item in items]
    typed = _typed(field, raw, place)
    choices = {choice for choice, _label in field.flatchoices} | ({""} if field.blank else set())
    if field.choices and typed not in choices:
        raise wrong(place, Message(_("“%(value)s” is none of the values there are."), {"value": str(typed)[:80]}))
    _validate(field.run_validators, typed, place)
    if typed == "" and not field.blank:
        # Django asks none of them about what is empty.
        for check_form in field.validators:
            _validate(check_form, typed, place)
    return typed


def _validate(check: Callable[[Any], None], raw: Any, place: str) -> None:
    try:
        check(raw)
    except ValidationError as error:
        raise wrong(place, as_told(error)) from error


def as_told(error: ValidationError) -> Message:
    """Return what a ValidationError says, which is in the reader's language already."""
    return Message("%(problem)s", {"problem": " ".join(error.messages)[:500]})


def _typed(field: Any, raw: Any, place: str) -> Any:
    kinds: tuple[tuple[type, Any], ...] = (
        (models.BooleanField, bool),
        (models.IntegerField, int),
        (models.FloatField, (int, float)),
        (models.CharField, str),
        (models.TextField, str),
        (models.DateTimeField, str),
    )
    if isinstance(field, models.JSONField):
        if not shapes.has_shape(field.model, field.name, raw):
            raise wrong(place, Message(_("This is not in its form.")))
        return raw
    for kind, types in kinds:
        if isinstance(field, kind):
            if not isinstance(raw, types) or (isinstance(raw, bool) and types is not bool):
                break
            if kind is models.DateTimeField:
                return moment(raw, place)
            return number(raw, place) if kind is models.FloatField else raw
    raise wrong(place, Message(_("This is of the wrong kind.")))


def moment(raw: object, place: str) -> datetime:
    """Return a moment; ArchiveError if a text is none, has no time zone, or is of a year that nobody measures in."""
    try:
        instant = parse_datetime(raw) if isinstance(raw, str) else None
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise wrong(place, Message(_("This is no time with its zone.")))
    if not moments.is_reasonable(instant):
        raise wrong(place, Message(_("This time is too far away.")))
    return instant


def mapping(data: object, place: str) -> Json:
    """Return an object; ArchiveError for anything else."""
    if not isinstance(data, dict):
        raise wrong(place, Message(_("Here stands an object.")))
    return data


def sequence(data: object, place: str) -> list[Any]:
    """Return a list; ArchiveError for anything else."""
    if not isinstance(data, list):
        raise wrong(place, Message(_("Here stands a list.")))
    return data


def text(data: object, place: str, maximum: int = 300) -> str:
    """Return a text of so many characters at most; ArchiveError for anything else."""
    if not isinstance(data, str) or len(data) > maximum:
        raise wrong(place, Message(_("Here stands a text of at most %(most)s characters."), {"most": maximum}))
    return data


def number(data: object, place: str) -> float:
    """Return a number that figures are computed with; ArchiveError for anything else."""
    if isinstance(data, bool) or not isinstance(data, int | float) or not _is_bounded(data):
        raise wrong(place, Message(_("Here stands a number.")))
    return float(data)


def _is_bounded(data: float) -> bool:
    """Return whether sums and squares of many such numbers can be computed, and a column holds it."""
    return storable.is_bounded(data)


def whole(data: object, place: str) -> int:
    """Return a whole number from 0 on; ArchiveError for anything else."""
    if isinstance(data, bool) or not isinstance(data, int) or not 0 <= data < 2**31:
        raise wrong(place, Message(_("Here stands a whole number.")))
    return data


def check(data: Any, place: str) -> None:
    """Refuse JSON that could not be stored, or that would do harm where it is shown."""
    if isinstance(data, str):
        if "\0" in data or (not data.isprintable() and _has_surrogates(data)):
            raise wrong(place, Message(_("A text has characters that cannot be stored.")))
    elif isinstance(data, Mapping):
        if "msgid" in data and problem_of(data):
            raise wrong(place, Message(_("A message does not fit its values.")))
        for name, item in data.items():
            check(name, place)
            check(item, place)
    elif isinstance(data, Sequence):
        for item in data:
            check(item, place)
    elif isinstance(data, int | float) and not _is_bounded(data):
        raise wrong(place, Message(_("This number is too large.")))


def _has_surrogates(data: str) -> bool:
    try:
        data.encode()
    except UnicodeEncodeError:
        return True
    return False


def restamp(items: Sequence[M], stamps: Sequence[Json]) -> None:
    """Give stored rows the times at which they were made and changed, which are else those of the import."""
    if not items:
        return
    model = type(items[0])
    names = [name for name in stamps[0] if name in {field.name for field in model._meta.concrete_fields}]
    number = model._meta.pk
    table, key = (connection.ops.quote_name(name) for name in (model._meta.db_table, str(number.column)))
    # Names are of fields of ours.
    sets = ", ".join(f"{connection.ops.quote_name(name)} = given.{name}" for name in names)
    casts = ", ".join("%s::timestamptz[]" for _name in names)
    kind = number.db_type(connection)
    sql = f"UPDATE {table} SET {sets} FROM unnest(%s::{_array(kind)}[], {casts}) given (id, {', '.join(names)})"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(
            f"{sql} WHERE {table}.{key} = given.id",
            [[item.pk for item in items], *([stamp[name] for stamp in stamps] for name in names)],
        )


def _array(kind: str | None) -> str:
    return "uuid" if kind == "uuid" else "bigint"


def stamps(model: type[models.Model], data: object, place: str, extra: Iterable[str] = ()) -> Json:
    """Return the times of a record that the database would else set by itself."""
    names = [name for name in (*_STAMPED, *extra) if any(field.name == name for field in model._meta.concrete_fields)]
    return values(model, data, names, place)


__all__ = [
    "ArchiveError", "Json", "check", "mapping", "moment", "number", "record", "restamp", "sequence", "stamps", "text",
    "value", "values", "whole",
]  # fmt: skip
