"""A value that cannot be is refused, by its parameter's name: never answered with something else."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from tests.rest import schema, world
from tests.rest.examples import examples
from tests.rotation import number_of, part_of

pytestmark = pytest.mark.django_db
# With what texts are put together by: whoever quotes it must not read it as a form.
SIGNS = "%s %(x)d {0} {x!r} %25 5 %"
NONSENSE = f"nonsense-zq {SIGNS}"
# Of nothing and of nobody.
NO_ID = 999_999_999
# What a list itself holds is asked for by words or its exact text: that there is none is an answer.
FREE = {"search", "q", "name", "username", "address", "pattern"}
# Agents know nothing of runs: any number may be one.
ANY_NUMBER = {("/api/v1/jobs/", "run")}
# They count, and refer to nothing.
_BOUNDS = {"capacity_min", "capacity_max", "clients", "nodes", "tasks"}
COUNTS = _BOUNDS | {"page", "page_size", "point", "repetition", "attempt"}


def _is_free(path: str, name: str) -> bool:
    return name in FREE and not (name == "search" and path.startswith("/api/v1/exports/"))


def _asked(team: Any) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Yield (path of the schema, address, query that is right, parameter) of every parameter of every reading."""
    told, places = examples(team), world.addresses(team)
    for path, method, operation in schema.operations(schema.document()):
        if method != "get":
            continue
        example, address = told.get(f"GET {path.removeprefix(schema.ROOT[:-1])}", {}), path
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "path":
                first = path.removeprefix(schema.ROOT).partition("/")[0]
                value = example.get("path", {}).get(parameter["name"]) or places[f"{first}.{parameter['name']}"][0]
                address = address.replace(f"{{{parameter['name']}}}", str(value))
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "query" and parameter["schema"].get("type") != "object":
                yield path, address, example.get("query", {}), parameter


def test_every_reading_refuses_nonsense(team: Any) -> None:
    wrong, asked = [], 0
    for path, address, query, parameter in part_of(_asked(team)):
        name = parameter["name"]
        client = Client(raise_request_exception=False, **world.header(team, path))
        answer = client.get(address, query | {name: NONSENSE})
        if answer.status_code >= 500:
            wrong.append(f"{address}?{name}: {answer.status_code}")
        elif not _is_free(path, name):
            asked += 1
            fields = answer.json()["fields"] if answer.status_code == 400 else {}
            if not any(field.partition(".")[0] == name for field in fields):
                wrong.append(f"{address}?{name}: {answer.status_code}")
            elif len(json.dumps(answer.json())) > 6000:
                wrong.append(f"{address}?{name}: says too much")
    assert wrong == []
    assert asked > number_of(150)


def test_every_reading_refuses_the_number_of_nothing(team: Any) -> None:
    wrong, asked = [], 0
    for path, address, query, parameter in _asked(team):
        name = parameter["name"]
        if parameter["schema"].get("type") == "integer" and name not in COUNTS and (path, name) not in ANY_NUMBER:
            asked += 1
            answer = Client().get(address, query | {name: NO_ID}, **world.header(team, path))
            if answer.status_code not in (400, 404):
                wrong.append(f"{address}?{name}: {answer.status_code}")
    assert wrong == []
    assert asked > 30


def test_no_writing_reads_signs_in_what_was_sent_as_a_form(team: Any) -> None:
    """All texts of a body at once: errors quote them, and are of all fields together."""
    told, places, wrong, asked = examples(team), world.addresses(team), [], 0
    client = Client(raise_request_exception=False, **world.header(team, ""))
    for path, method, _operation in schema.operations(schema.document()):
        label, first = f"{method.upper()} {path.removeprefix('/api/v1')}", path.split("/")[3]
        example = told.get(label, {})
        if not isinstance(example.get("body"), dict | list):
            continue
        address = path.format_map({key.partition(".")[2]: values[0] for key, values in places.items()
                                   if key.partition(".")[0] == first} | example.get("path", {}))  # fmt: skip
        with transaction.atomic():
            body = json.dumps(_with_signs(example["body"]))
            answer = client.generic(method.upper(), address, body, "application/json")
            transaction.set_rollback(True)
        asked += 1
        wrong += [f"{label}: {answer.status_code}"] if answer.status_code >= 500 else []
    assert wrong == []
    assert asked > 60


def _with_signs(value: Any) -> Any:
    """Return a value with signs instead of all texts."""
    if isinstance(value, dict):
        return {name: _with_signs(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_signs(item) for item in value]
    return SIGNS if isinstance(value, str | bytes) else value
