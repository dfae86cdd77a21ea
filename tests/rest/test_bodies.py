"""Bodies that no reader takes are refused with a reason, at every operation that takes one."""

import json
import logging
from typing import Any

import pytest
from django.test import Client

from apps.core import storable
from tests import factories
from tests.rest import schema
from tests.rotation import part_of

pytestmark = pytest.mark.django_db
DEEP = "[" * 100_000
HOSTILE = {
    "brackets": DEEP,
    "braces": '{"a":' * 100_000,
    "closed brackets": f'{{"name": {"[" * 900}{"]" * 900}}}',
    "null character": '{"name": "a\\u0000b"}',
    "null character in a name": '{"a\\u0000b": 1}',
    "half a character": '{"name": "\\ud800"}',
    "infinity": '{"name": 1e999}',
    "not a number": '{"name": NaN}',
    "huge number": f'{{"name": {"9" * 400}}}',
    "longer number": f'{{"name": {"9" * 5000}}}',
    "list": "[1]",
    "text": '"x"',
    "number": "17",
    "nothing": "null",
    "half": '{"name": ',
    "many objects": '{"x": [' + "{}," * 300_000 + "{}]}",
    "many figures": "[" + "1," * 300_000 + "1]",
    "many texts": "[" + '"",' * 300_000 + "1]",
    "not UTF-8": b'{"name": "\xff"}',
}
# One reader takes all bodies: each operation meets this share of the kinds, and each kind this share of them.
SHARE = 4
# Of a body that it does not take it says so, whatever there is: each kind is tried there in every run.
MAKING = ("/api/v1/sites/", "post")
ODD = ["9" * 30, "9" * 5000, "-1", "1.5", "x", "%00", "%EF%BF%BD"]


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_operation_breaks_on_a_hostile_body(cast: factories.Cast, kind: str) -> None:
    logging.getLogger("django.request").setLevel(logging.CRITICAL)
    # Also what only administrators of the service may ask.
    header, statuses = factories.bearer(factories.user("root", is_superuser=True)), set()
    client = Client(raise_request_exception=False)
    try:
        operations = schema.operations(schema.document())
        writes = [(path, method) for path, method, _one in operations if method in ("post", "put", "patch")]
        share = writes[list(HOSTILE).index(kind) % SHARE :: SHARE]
        for path, method in [MAKING, *part_of(share)]:
            address = path.replace("{id}", "1").replace("{slug}", "grid").replace("{a}", "1").replace("{b}", "1")
            answer = client.generic(method.upper(), address, HOSTILE[kind], "application/json", **header)
            statuses.add(answer.status_code)
            assert answer.status_code in (400, 404, 415), (method, address, answer.content)
            assert set(answer.json()) >= {"detail", "fields"}
    finally:
        logging.getLogger("django.request").setLevel(logging.NOTSET)
    assert 400 in statuses


def test_a_body_that_is_too_large_is_413(cast: factories.Cast, client: Client, settings: Any) -> None:
    settings.FORM_MOST_BYTES = 1000
    body = json.dumps({"name": "x" * 2000})
    answer = client.post("/api/v1/sites/", body, "application/json", **factories.bearer(cast.alice))
    assert answer.status_code == 413 and "too large" in answer.json()["detail"]


@pytest.mark.parametrize("number", ODD)
def test_odd_ids_are_not_there(cast: factories.Cast, client: Client, number: str) -> None:
    header = factories.bearer(factories.user("root", is_superuser=True))
    reads = [path for path, method, _one in schema.operations(schema.document()) if method == "get" and "{" in path]
    first = ODD.index(number)
    for address in part_of([*reads[first:], *reads[:first]]):
        for name in ("id", "slug", "permanent_id", "a", "b", "name", "tool", "stream"):
            address = address.replace(f"{{{name}}}", number)
        answer = client.get(address, **header)
        assert answer.status_code in (400, 404), (address, answer.status_code)


def test_a_patch_gives_what_stands_within_whole(cast: factories.Cast, pair: Any, client: Client) -> None:
    header = factories.bearer(cast.alice)
    answer = client.patch(f"/api/v1/nodes/{pair[0].pk}/", {"addresses": [{}]}, "application/json", **header)
    assert answer.status_code == 400 and answer.json()["fields"] == {
        "addresses.0.address": ["This field is required."]
    }


def test_a_figure_of_brackets_is_refused(cast: factories.Cast, client: Client) -> None:
    client.force_login(cast.alice)
    assert client.post("/figures/", {"chart": DEEP, "ending": "svg", "name": "x"}).status_code == 400


@pytest.mark.parametrize(
    ("value", "place"), [({"a": [{"b": 2**64}]}, "a.0.b"), ({"a": "\0"}, "a"), ({"a": {"\ud800": 1}}, "a")]
)
def test_the_place_is_told(value: Any, place: str) -> None:
    with pytest.raises(storable.UnstorableError) as caught:
        storable.check(value)
    assert caught.value.place == place


def nested(levels: int) -> Any:
    value: Any = None
    for _level in range(levels):
        value = [value]
    return value


def test_what_can_be_stored_is_taken() -> None:
    storable.check({"a": [1, 2.5, None, True, "한글 😀"]})
    storable.check(nested(storable.DEEPEST))
    with pytest.raises(storable.UnstorableError):
        storable.check(nested(storable.DEEPEST + 1))
