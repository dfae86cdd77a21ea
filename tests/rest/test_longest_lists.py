"""Lists in bodies are bounded, and what is done for each of their entries asks the database nothing."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import factories as people
from tests.rest import schema, world
from tests.rest.examples import examples

pytestmark = pytest.mark.django_db
Json = dict[str, Any]
Place = tuple[str, ...]
EACH = "*"
# Who asks, and its tokens, teams, roles and limits; the thing of the address; what is refused beside the list.
MOST_QUERIES = 60
# Files come in a form, each a part of it; how many of them there may be is told before they are read.
IN_FORMS = {("post", "/api/v1/imports/")}


def _parts(described: Json, place: Place = ()) -> Iterator[tuple[Place, Json]]:
    """Yield (place, description) of each part that is read of a body."""
    described = schema.resolved(described)
    if described.get("readOnly"):
        return
    yield place, described
    if "items" in described:
        yield from _parts(described["items"], (*place, EACH))
    if isinstance(described.get("additionalProperties"), dict):
        yield from _parts(described["additionalProperties"], (*place, EACH))
    for name, part in described.get("properties", {}).items():
        yield from _parts(part, (*place, name))
    for part in (*described.get("oneOf", ()), *described.get("anyOf", ())):
        yield from _parts(part, place)


def _bodies() -> Iterator[tuple[str, str, Json]]:
    """Yield (method, path, description) of every body."""
    for path, method, operation in schema.operations(schema.document()):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            yield method, path, content["schema"]
            break


def test_every_list_and_every_object_of_any_names_has_a_bound() -> None:
    lists, unbounded = 0, []
    for method, path, body in _bodies():
        for place, part in _parts(body):
            if part.get("type") == "array":
                lists += 1
                unbounded += [] if "maxItems" in part else [f"{method} {path} {place}"]
            elif part.get("type") == "object" and part.get("additionalProperties", True) is not False:
                unbounded += [] if "maxProperties" in part else [f"{method} {path} {place}"]
            # A value of any kind is bounded with the body that it stands in, by `core.json_bodies`.
    assert unbounded == []
    assert lists > 30


def _lists() -> list[tuple[str, str, Place, Json]]:
    """Return (method, path, place, description) of every list of every body that is JSON."""
    return [
        (method, path, place, part)
        for method, path, body in _bodies()
        if (method, path) not in IN_FORMS
        for place, part in _parts(body)
        if part.get("type") == "array"
    ]


def _entry(described: Json, names: dict[str, list[Any]], name: str) -> Any:
    """Return an entry of a list, of the things of the team where its name says what it refers to."""
    described = schema.resolved(described)
    if "properties" in described:
        wanted = {*described.get("required", ()), "node"} & described["properties"].keys()
        return {name: _entry(described["properties"][name], names, name) for name in sorted(wanted)}
    if described.get("type") == "array":
        return [_entry(described["items"], names, name)]
    if "enum" in described:
        return described["enum"][0]
    kind = {"integer": int, "string": str}.get(described.get("type", ""), object)
    return next((value for value in names.get(name, ()) if isinstance(value, kind)), 1 if kind is int else "a")


def _put(body: Any, place: Place, value: Any, described: Json, names: dict[str, list[Any]]) -> Any:
    """Return a body with a value at a place; what is not there on the way to it is made."""
    if not place:
        return value
    described, (step, *rest) = schema.resolved(described), place
    if step == EACH:
        inner = described["items"] if described.get("type") == "array" else described["additionalProperties"]
        if described.get("type") == "array":
            first = body[0] if isinstance(body, list) and body else _entry(inner, names, "")
            return [_put(first, tuple(rest), value, inner, names)]
        key = next(iter(body), "client") if isinstance(body, dict) else "client"
        return {key: _put((body or {}).get(key), tuple(rest), value, inner, names)}
    whole = dict(body) if isinstance(body, dict) else {}
    return whole | {step: _put(whole.get(step), tuple(rest), value, described["properties"][step], names)}


class Asker:
    """Asks an operation with a list at one place of its body, and counts what the database is asked."""

    def __init__(self, team: Any) -> None:
        self._team, self._told, self._names = team, examples(team), world.names(team)
        self._places = world.addresses(team)
        self._bodies = {(method, path): body for method, path, body in _bodies()}

    def ask(self, method: str, path: str, place: Place, part: Json, more: int, who: Any) -> tuple[int, Json, int]:
        """Return (status, answer, queries) where the list has so many entries more than it may."""
        told = self._told.get(f"{method.upper()} {path.removeprefix(schema.ROOT[:-1])}", {})
        name = next((step for step in reversed(place) if step != EACH), "")
        entries = [copy.copy(_entry(part["items"], self._names, name))] * (part["maxItems"] + more)
        body = _put(copy.deepcopy(told.get("body", {})), place, entries, self._bodies[method, path], self._names)
        address = path
        for parameter, value in told.get("path", {}).items():
            address = address.replace(f"{{{parameter}}}", str(value))
        assert "{" not in address, address
        with CaptureQueriesContext(connection) as asked:
            answer = Client().generic(method.upper(), address, json.dumps(body), "application/json", **who)
        return answer.status_code, answer.json(), len(asked)


def test_one_entry_more_than_a_list_takes_is_refused_by_its_name(team: Any) -> None:
    asker, wrong = Asker(team), []
    for method, path, place, part in _lists():
        status, answer, queries = asker.ask(method, path, place, part, 1, world.header(team, path))
        # What is wrong with the whole body stands in no field.
        said = {field.partition(".")[0]: texts for field, texts in answer["fields"].items()} or {
            "*": [answer["detail"]]
        }
        name = next(iter(place), EACH)
        if status != 400 or f"At most {part['maxItems']} entries" not in said[name][0]:
            wrong.append(f"{method} {path} {place}: {status} {str(answer)[:200]}")
        if queries > MOST_QUERIES:
            wrong.append(f"{method} {path} {place}: {queries} queries")
    assert wrong == []


@pytest.mark.parametrize("role", ["manager", "viewer"])
def test_the_longest_list_is_read_with_few_queries(team: Any, role: str) -> None:
    asker, wrong = Asker(team), []
    for method, path, place, part in _lists():
        who = world.header(team, path) if role == "manager" else people.bearer(team.cast.bob)
        status, answer, queries = asker.ask(method, path, place, part, 0, who)
        if status >= 500 or queries > MOST_QUERIES:
            wrong.append(f"{method} {path} {place}: {status}, {queries} queries, {str(answer)[:100]}")
    assert wrong == []


def test_a_viewer_is_refused_before_a_list_is_read(team: Any) -> None:
    asker, allowed = Asker(team), []
    for method, path, place, part in _lists():
        if method == "post" and path in ("/api/v1/clusters/", "/api/v1/nodes/", "/api/v1/experiments/preview/"):
            status, _answer, queries = asker.ask(method, path, place, part, 0, people.bearer(team.cast.bob))
            allowed += [] if status == 403 and queries < 20 else [f"{path} {place}: {status}, {queries}"]
    assert allowed == []


def test_what_stands_in_a_list_twice_is_kept_once(team: Any) -> None:
    who, a, b = people.bearer(team.cast.alice), team.a.pk, team.b.pk
    made = (
        Client()
        .post("/api/v1/clusters/", {"name": "twice", "nodes": [b, a, str(b)]}, "application/json", **who)
        .json()
    )
    assert sorted(made["nodes"]) == sorted([a, b])
    site = team.a.testbed.site_id
    body = {"title": "Year", "language": "en", "period": "3-months", "sites": [site] * 3}
    assert Client().post("/api/v1/management-reports/", body, "application/json", **who).json()["sites"] == [site]


@pytest.mark.parametrize("wrong", ["x", 1.5, True, None, [1], -1, 10**30, "9" * 5000, 999_999_999])
def test_an_entry_that_is_no_id_is_refused(team: Any, wrong: Any) -> None:
    body = {"name": "odd", "nodes": [team.a.pk, wrong]}
    answer = Client().post("/api/v1/clusters/", body, "application/json", **people.bearer(team.cast.alice))
    assert answer.status_code == 400
    assert [name.partition(".")[0] for name in answer.json()["fields"]] == ["nodes"]
