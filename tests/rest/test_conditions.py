"""Whoever says on which ETag a change rests undoes nothing that somebody else did meanwhile: at every address."""

from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.core import versions
from apps.testbeds.models import Site
from tests import factories
from tests.core.test_refused_writes import everything
from tests.rest import schema, world
from tests.rest.examples import examples
from tests.rotation import part_of

pytestmark = pytest.mark.django_db
CHANGES = ("put", "patch", "delete")
# What a request itself leaves: that a token was used.
PASSING = {"accounts.ApiToken"}


def changes() -> list[tuple[str, str, dict[str, Any]]]:
    """Return (path, method, operation) of every operation that changes what stands at an address."""
    return [item for item in schema.operations(schema.document()) if item[1] in CHANGES]


def address(path: str, operation: dict[str, Any], example: dict[str, Any], places: dict[str, list[Any]]) -> str:
    """Return the address of the thing that the example of the operation is about."""
    first = path.removeprefix(schema.ROOT).partition("/")[0]
    for item in operation.get("parameters", ()):
        if item["in"] == "path":
            value = example.get("path", {}).get(item["name"], places[f"{first}.{item['name']}"][0])
            path = path.replace(f"{{{item['name']}}}", str(value))
    return path


def tried(client: Client, method: str, place: str, example: dict[str, Any], headers: dict[str, str]) -> list[str]:
    """Return what is wrong with the answers to a change on a stale tag, and then on the true one."""
    seen, wrong = client.get(place, **headers), []
    tag = seen.headers.get("ETag")
    if seen.status_code != 200 or not tag:
        return [f"{place}: GET answers {seen.status_code} with the tag {tag}"]
    if client.get(place, **headers).headers["ETag"] != tag:
        wrong.append(f"{place}: another tag, and nothing was changed")
    body = {"data": example.get("body", {}), "content_type": "application/json"}
    call, before = getattr(client, method), stored()
    with CaptureQueriesContext(connection) as asked:
        stale = call(place, **body, HTTP_IF_MATCH='"0000000000000000"', **headers)
    if stale.status_code != 412 or not stale.json()["detail"] or stored() != before:
        wrong.append(f"{method} {place}: a stale tag is answered by {stale.status_code}")
    if not any("FOR NO KEY UPDATE" in item["sql"] for item in asked.captured_queries):
        wrong.append(f"{method} {place}: the row is not held while its tag is looked at")
    if call(place, **body, HTTP_IF_MATCH=f'"other", {tag}', **headers).status_code == 412:
        wrong.append(f"{method} {place}: the true tag is refused")
    return wrong


def stored() -> dict[str, Any]:
    return {label: rows for label, rows in everything().items() if label not in PASSING}


def test_every_change_on_a_stale_tag_is_refused_and_on_the_true_one_carried_out(
    team: Any, cast: factories.Cast
) -> None:
    client, headers = Client(raise_request_exception=False), factories.bearer(cast.alice)
    told, places = examples(team), world.addresses(team)
    wrong = []
    operations = changes()
    assert len(operations) > 50
    assert [f"{method} {path}" for path, method, one in operations if "412" not in one["responses"]] == []
    for path, method, operation in part_of(operations):
        example = told.get(f"{method.upper()} {path.removeprefix('/api/v1')}", {})
        with transaction.atomic():
            wrong += tried(client, method, address(path, operation, example, places), example, headers)
            # One is not about what another has deleted.
            transaction.set_rollback(True)
    assert wrong == []


def test_a_condition_on_what_no_address_takes_is_refused_as_without_it(team: Any, cast: factories.Cast) -> None:
    client, headers = Client(raise_request_exception=False), factories.bearer(cast.alice)
    bodies, places = examples(team), world.addresses(team)
    offered: dict[str, tuple[dict[str, Any], str, set[str]]] = {}
    for path, method, operation in schema.operations(schema.document()):
        offered.setdefault(path, (operation, f"{method.upper()} {path.removeprefix('/api/v1')}", set()))[2].add(
            method
        )
    wrong = []
    for path, (operation, name, methods) in part_of(sorted(offered.items())):
        place = address(path, operation, bodies.get(name, {}), places)
        for method in set(CHANGES) - methods:
            call = getattr(client, method)
            plain, conditional = (
                call(place, {}, "application/json", **condition, **headers).status_code
                for condition in ({}, {"HTTP_IF_MATCH": '"x"'})
            )
            if plain not in (403, 405) or conditional != plain:
                wrong.append(f"{method} {place}: {plain}, on a condition {conditional}")
    assert wrong == []


def test_the_second_of_two_who_read_the_same_is_told_and_the_first_keeps_what_they_wrote(cast: Any) -> None:
    client, headers = Client(), factories.bearer(cast.alice)
    site = Site.objects.create(team=cast.team, name="Daejeon")
    place = f"/api/v1/sites/{site.pk}/"
    tag = client.get(place, **headers).headers["ETag"]

    def change(text: str, **more: str) -> Any:
        return client.patch(place, {"notes": text}, content_type="application/json", **headers, **more)

    assert change("first", HTTP_IF_MATCH=tag).status_code == 200
    refused = change("second", HTTP_IF_MATCH=tag)
    assert refused.status_code == 412 and refused.json() == {
        "detail": "Somebody changed it since you read it: read it again, then repeat what you want of it.",
        "fields": {},
    }
    site.refresh_from_db()
    assert site.notes == "first"
    now = client.get(place, **headers).headers["ETag"]
    assert now != tag
    # A proxy that compresses weakens it; * asks only that the thing is there.
    assert change("third", HTTP_IF_MATCH=f"W/{now}").status_code == 200
    assert change("fourth", HTTP_IF_MATCH="*").status_code == 200
    # Without the header all is as it was.
    assert change("fifth").status_code == 200
    assert client.delete(place, HTTP_IF_MATCH=tag, **headers).status_code == 412
    assert Site.objects.filter(pk=site.pk).exists()


def test_who_may_not_write_is_told_that_and_not_whether_it_was_changed(cast: Any) -> None:
    site = Site.objects.create(team=cast.team, name="Daejeon")
    place, stale = f"/api/v1/sites/{site.pk}/", {"HTTP_IF_MATCH": '"0"', "content_type": "application/json"}
    answers = [
        Client().patch(place, {"notes": "x"}, **factories.bearer(person), **stale).status_code
        for person in (cast.bob, cast.charlie)
    ]
    assert answers == [403, 404]


def test_a_change_that_is_refused_under_a_condition_leaves_nothing(cast: Any) -> None:
    client, headers = Client(), factories.bearer(cast.alice)
    site = Site.objects.create(team=cast.team, name="Daejeon")
    Site.objects.create(team=cast.team, name="Busan")
    place = f"/api/v1/sites/{site.pk}/"
    tag = client.get(place, **headers).headers["ETag"]
    answer = client.patch(place, {"name": "Busan"}, content_type="application/json", HTTP_IF_MATCH=tag, **headers)
    assert answer.status_code == 400
    assert client.get(place, **headers).headers["ETag"] == tag


def test_a_digest_does_not_depend_on_the_order_of_names_and_tells_kinds_apart() -> None:
    assert versions.digest_of({"a": 1, "b": [1.5, None]}) == versions.digest_of({"b": [1.5, None], "a": 1})
    assert len({versions.digest_of(value) for value in ("1", 1, [1], None, True, {"a": 1}, 1.0)}) == 7
