"""Two who change different fields of one thing at one instant: each field is as whoever changed it says."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import models, transaction
from django.test import Client
from django.urls import resolve

from apps.reports.models import Report
from apps.reports.overview.selection import Selection
from tests import factories
from tests.rest import racing, schema, world
from tests.rest.examples import examples
from tests.rest.test_conditions import address

pytestmark = pytest.mark.django_db
Json = dict[str, Any]
NUMBERS = (models.IntegerField, models.FloatField)
# What another value of depends on the other fields: such a field is sent, and not changed besides.
BOUND = {"cron", "cron_timezone", "tool", "username", "slug", "query", "language"}
# So many fields of a thing are sent, each for itself.
MOST = 5
# Of these one field alone may be written.
SINGLE = ["/memberships/", "/notes/", "/teams/"]


def patches(team: Any) -> Iterator[tuple[str, models.Model, list[str], Json]]:
    """Yield (address, row, names of what may be written, an example) of everything that takes a PATCH."""
    told, places = examples(team), world.addresses(team)
    parts = schema.document()["components"]["schemas"]
    for path, method, operation in schema.operations(schema.document()):
        if method != "patch":
            continue
        example = told.get(f"PATCH {path.removeprefix('/api/v1')}", {})
        place = address(path, operation, example, places)
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        properties = parts[body["$ref"].rpartition("/")[2]]["properties"]
        yield (
            place,
            subject(team, place),
            [name for name, part in properties.items() if "readOnly" not in part],
            example.get("body", {}),
        )


def subject(team: Any, place: str) -> models.Model:
    """Return the row that an address is about."""
    found = resolve(place)
    if place == "/api/v1/me/":
        return team.cast.alice
    view = found.func.cls
    model = Report if "reports/" in place else getattr(view.serializer_class.Meta, "model", None)
    if place.startswith("/api/v1/report-schedules/"):
        model = view.serializer_class.Meta.model
    [(name, value)] = [item for item in found.kwargs.items() if item[0] != "format"]
    return model._base_manager.get(**{name: value})


def another(field: models.Field, value: Any) -> Any:
    """Return another value that a field may have, None where none is known."""
    if field.choices:
        return next((key for key, _label in field.flatchoices if key != value), None)
    if isinstance(field, models.BooleanField):
        return not value
    if isinstance(field, NUMBERS) and not field.is_relation:
        return (value or 1) + 1
    return f"{value}x" if isinstance(field, models.CharField | models.TextField) else None


def others(row: models.Model, written: list[str]) -> Json:
    """Return {column: another value} of what may be written of a row."""
    if isinstance(row, Report):
        kept = Selection(timezone="Asia/Seoul").as_json() if row.kind == Report.Kind.MANAGEMENT else {"also": []}
        return {"title": "Other", "selection": row.selection | kept, "edits": {"title": "Other"}}
    known = {field.name: field for field in row._meta.concrete_fields}
    found = {
        name: another(known[name], getattr(row, name)) for name in written if name in known and name not in BOUND
    }
    return {name: value for name, value in found.items() if value is not None}


def changed(name: str, value: Any, body: Json, row: models.Model) -> bool:
    """Return whether a column is another's to change besides a body, and still as they set it."""
    now: Any = type(row)._base_manager.values_list(name, flat=True).get(pk=row.pk)
    if isinstance(value, dict) and isinstance(now, dict):
        return all(now.get(part) == inner for part, inner in value.items() if part not in body)
    return bool(now == value)


def undone(client: Client, place: str, row: models.Model, body: Json, name: str, value: Any) -> bool | None:
    """Send a body while somebody else changes a column: return whether that is undone, None if it was refused."""
    rows = type(row)._base_manager.filter(pk=row.pk)

    def is_first(sql: str) -> bool:
        return bool(racing.LOCK.search(sql)) or sql.startswith(f'UPDATE "{row._meta.db_table}"')

    with transaction.atomic():
        moment = racing.Moment(is_first, lambda: rows.update(**{name: value}))
        with moment.awaited():
            answer = client.patch(place, body, content_type="application/json")
        found = not changed(name, value, body, row) if answer.status_code < 300 and moment.has_come else None
        transaction.set_rollback(True)
    return found


def test_no_change_of_a_field_undoes_that_of_another_at_the_same_instant(team: Any, cast: factories.Cast) -> None:
    client = Client(raise_request_exception=False, **factories.bearer(cast.alice))
    wrong, tried = list[str](), dict[str, int]()
    for place, row, written, example in list(patches(team)):
        tried[place] = 0
        shown = client.get(place).json()
        names = [name for name in written if name in shown and name != "team"]
        bodies = [example, *({name: shown[name]} for name in names[:: len(names) // MOST + 1])]
        for number, body in enumerate(bodies):
            besides = [item for item in others(row, written).items() if item[0] not in body]
            # Each field once with the example, then each field sent with one other.
            for name, value in besides if number == 0 else besides[number % len(besides) :][:1] if besides else []:
                found = undone(client, place, row, body, name, value)
                tried[place] += found is not None
                wrong += [f"PATCH {place} of {list(body)} undoes {name}"] if found else []
    assert wrong == []
    untried = [place for place, count in tried.items() if not count]
    assert len(tried) > 15 and all(any(part in place for part in SINGLE) for place in untried), tried
