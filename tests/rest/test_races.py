"""Every REST write, with what it is about deleted, or its value taken, in the middle of it: never a 500."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db import connection, models, transaction
from django.urls import resolve

from tests import factories
from tests.rest import racing, schema
from tests.rest.examples import examples
from tests.rest.fuzzing import Caller
from tests.rotation import number_of, part_of

pytestmark = pytest.mark.django_db
# Nobody deletes these while they are in use.
STAY = ("accounts", "auth", "contenttypes")
# What a body names, by its field; where the name of the field is that of no model.
NAMED = {"server_cluster": "cluster", "a_node": "node", "b_node": "node", "site_a": "site", "site_b": "site"}
PARTS = 2
LATE = "at the end of the transaction: "
MODELS = {model._meta.model_name: model for model in apps.get_models() if model._meta.app_label not in STAY}


@pytest.fixture
def caller(cast: factories.Cast) -> Caller:
    return Caller({"manager": factories.bearer(cast.alice)["HTTP_AUTHORIZATION"]})


def writes(world: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield (operation, example) of every REST write of which a person would send something."""
    told = examples(world)
    for operation in schema.operations_of(world):
        label = f"{operation.method.upper()} {operation.path.removeprefix('/api/v1')}"
        if operation.method.upper() != "GET":
            path = {item.name: item.definition["schema"]["enum"][0] for item in operation.path_parameters}
            yield operation, {"path": path} | told.get(label, {})


def concerned(operation: Any, example: dict[str, Any]) -> list[models.Model]:
    """Return what a request is about: what its address and its body name, and what these belong to."""
    rows: dict[tuple[type, object], models.Model] = {}
    found = [_addressed(operation, example), *_named(example.get("body"))]
    for row in found:
        for one in (row, *_parents(row)) if row is not None else ():
            if type(one)._meta.app_label not in STAY:
                rows[type(one), one.pk] = one
    return list(rows.values())


def _addressed(operation: Any, example: dict[str, Any]) -> models.Model | None:
    path = operation.path
    for name, value in example["path"].items():
        path = path.replace(f"{{{name}}}", str(value))
    view = resolve(path).func.cls
    rows = getattr(view, "queryset", None)
    wanted = example["path"].get("id", example["path"].get("campaign"))
    if rows is None or wanted is None:
        return None
    return rows.model._base_manager.filter(pk=wanted).first()


def _named(body: Any) -> Iterator[models.Model]:
    if isinstance(body, list):
        for part in body:
            yield from _named(part)
    if not isinstance(body, dict):
        return
    for name, value in body.items():
        model = MODELS.get(NAMED.get(name, name).rstrip("s")) or MODELS.get(name)
        values = value if isinstance(value, list) else [value]
        for one in values if model is not None else ():
            if isinstance(one, int) and not isinstance(one, bool):
                yield from model._base_manager.filter(pk=one)
            elif isinstance(one, str) and _has_permanent_id(model):
                yield from model._base_manager.filter(permanent_id=one)
        yield from _named(value)


def _has_permanent_id(model: type[models.Model]) -> bool:
    try:
        return bool(model._meta.get_field("permanent_id"))
    except FieldDoesNotExist:
        return False


def _parents(row: models.Model) -> Iterator[models.Model]:
    for field in row._meta.concrete_fields:
        parent = getattr(row, field.name) if field.many_to_one or field.one_to_one else None
        if parent is not None:
            yield parent


def again(row: models.Model) -> list[models.Model]:
    """Return a row that was deleted and is there nevertheless."""
    return list(type(row)._base_manager.filter(pk=row.pk))


def race(caller: Caller, operation: Any, example: dict[str, Any], moment: racing.Moment) -> int:
    """Send a request in which something happens, and return the answer's status; what it leaves is rolled back.

    A foreign key that leads nowhere is found out at the end of the test's transaction, in the service at that of the
    request's: there it is a collision like others.
    """
    statuses = caller.found["manager"].statuses
    before = Counter(statuses.get(operation.label, ()))
    with moment.awaited():
        caller.send(operation, example)
    for found in caller.found.values():
        for key in [key for key, text in found.problems.items() if LATE in text]:
            del found.problems[key]
    (status,) = statuses[operation.label] - before
    return status


@pytest.mark.parametrize("part", range(PARTS))
def test_what_a_write_is_about_is_deleted_in_the_middle_of_it(team: Any, caller: Caller, part: int) -> None:
    tried, returned = 0, list[str]()
    for operation, example in part_of(list(writes(team))[part::PARTS], parts=2):
        for row in concerned(operation, example):
            table = type(row)._meta.db_table
            instants: list[Callable[[str], bool]] = [racing.Read(table), racing.changes]
            for instant in instants:
                there: list[models.Model] = []
                moment = racing.Moment(instant, racing.delete(row), lambda row=row, to=there: to.extend(again(row)))
                # What is refused is undone, and the deletion with it, for it is of the same transaction here.
                if race(caller, operation, example, moment) < 300:
                    returned += [f"{operation.label}: {one!r}" for one in there]
                tried += moment.has_come
    assert tried > number_of(40, parts=2)
    assert not returned, "stored again by a write that had read them"
    assert not caller.report(), caller.report()


def test_what_a_write_stores_is_stored_by_another_at_this_moment(team: Any, caller: Caller) -> None:
    tried = set()
    for operation, example in part_of(writes(team), parts=2):
        moment = racing.Moment(racing.stores, racing.collide)
        race(caller, operation, example, moment)
        if moment.has_come:
            tried.add(operation.label)
    assert len(tried) > number_of(40, parts=2)
    assert not caller.report(), caller.report()
    # What is played in the other test is a deletion as the service does it, with all that hangs on it.
    with transaction.atomic():
        racing.delete(team.measured)()
        connection.check_constraints()
        assert not type(team.measured).objects.filter(pk=team.measured.pk).exists()
        transaction.set_rollback(True)
