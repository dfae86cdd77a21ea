"""A value that cannot be is refused, by its parameter's name: never answered with something else."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from tests.rest import schema, world
from tests.rest.examples import examples

pytestmark = pytest.mark.django_db
NONSENSE = "nonsense-zq"
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
    for path, address, query, parameter in _asked(team):
        name = parameter["name"]
        if not _is_free(path, name):
            asked += 1
            answer = Client().get(address, query | {name: NONSENSE}, **world.header(team, path))
            fields = answer.json()["fields"] if answer.status_code == 400 else {}
            if not any(field.partition(".")[0] == name for field in fields):
                wrong.append(f"{address}?{name}: {answer.status_code}")
            elif len(json.dumps(answer.json())) > 6000:
                wrong.append(f"{address}?{name}: says too much")
    assert wrong == []
    assert asked > 150


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
