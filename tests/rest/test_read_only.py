"""A field that is only read is passed over by no operation that answers that it did what it was asked."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from rest_framework import serializers

from apps.core import read_only
from tests import factories
from tests.rest import schema, world
from tests.rest.examples import examples
from tests.rest.test_conditions import address

pytestmark = pytest.mark.django_db
Json = dict[str, Any]
# They make nothing: what was fetched may be looked at anew.
LOOKS = ("/preview/",)
# Of times, counts, addresses and what is put together any value is passed over.
PASSING = {
    "accepted", "analysed_at", "bytes_freed", "brought_in", "created_at", "expires_at", "finished_at", "last_used_at",
    "launched_at", "members", "next_at", "node_count", "preview", "progress", "refusal", "resolved", "revoked_at",
    "runs_done", "saved_by", "skipped_dates", "teams", "updated_at", "url", "waiting",
}  # fmt: skip
# Of what they answer they take no field but those that they change (docs/rest.md).
TAKES_ITS_OWN_FIELDS = ("/reports/", "/validity/")


def bodies(team: Any, *methods: str) -> Iterator[tuple[str, str, Json, set[str]]]:
    """Yield (method, address, an example, names of what is only read) of what takes a body of fields."""
    example_of, places = examples(team), world.addresses(team)
    for path, method, operation in schema.operations(schema.document()):
        media = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if method not in methods or media is None:
            continue
        properties = schema.resolved(media["schema"]).get("properties", {})
        names = {name for name, part in properties.items() if part.get("readOnly")}
        example = example_of.get(f"{method.upper()} {path.removeprefix('/api/v1')}", {})
        yield method, address(path, operation, example, places), example.get("body", {}), names


def signed_in(person: Any) -> Client:
    """Return a client of a person that tells every answer, also of what broke."""
    options: Json = factories.bearer(person)
    return Client(raise_request_exception=False, **options)


def sent(client: Client, method: str, place: str, body: Json) -> Any:
    """Return the answer, and leave nothing of what it did."""
    with transaction.atomic():
        answer = getattr(client, method)(place, json.dumps(body), content_type="application/json")
        transaction.set_rollback(True)
    return answer


def another(value: Any) -> Any:
    """Return another value of the kind."""
    if isinstance(value, bool) or not value:
        return not value if isinstance(value, bool) else ["x"] if isinstance(value, list) else "x"
    return value + 1 if isinstance(value, int) else [*value, "x"] if isinstance(value, list) else f"{value}x"


def test_what_is_fetched_is_taken_back_everywhere_and_nothing_else_in_its_read_only_fields(
    team: Any, cast: factories.Cast
) -> None:
    client = signed_in(cast.alice)
    wrong, tried, looked = list[str](), 0, set[str]()
    for method, place, example, names in bodies(team, "put", "patch"):
        document = client.get(place).json()
        if not isinstance(document, dict):
            continue
        whole = sent(client, method, place, document)
        if whole.status_code == 400 and not any(part in place for part in TAKES_ITS_OWN_FIELDS):
            wrong += [f"{method} {place}: {name} is refused as it is" for name in whole.json()["fields"]]
        for name in names & set(document):
            looked.add(name)
            answer = sent(client, method, place, {**example, name: another(document[name])})
            fields = answer.json().get("fields", {}) if answer.status_code == 400 else {}
            tried += name not in PASSING
            if (name in fields) == (name in PASSING):
                wrong.append(f"{method} {place}: another {name} is answered by {answer.status_code} {fields}")
            elif name in fields and json.dumps(document[name], ensure_ascii=False) not in fields[name][0]:
                wrong.append(f"{method} {place}: {fields[name]} does not tell {document[name]!r}")
    assert wrong == []
    assert tried > 60 and {"visibility", "tags", "state", "id", "site", "is_superuser"} <= looked


def test_what_is_made_takes_no_field_that_is_only_read(team: Any, cast: factories.Cast) -> None:
    client = signed_in(cast.alice)
    wrong, tried = list[str](), 0
    for method, place, example, names in bodies(team, "post"):
        for name in names - PASSING:
            tried += 1
            answer = sent(client, method, place, {**example, name: "x"})
            is_refused = answer.status_code == 400 and name in answer.json()["fields"]
            if is_refused == any(part in place for part in LOOKS):
                wrong.append(f"{method} {place}: {name} is answered by {answer.status_code}")
    assert wrong == []
    assert tried > 30


def test_the_answer_names_the_address_that_changes_it(team: Any, cast: factories.Cast) -> None:
    client, place = signed_in(cast.alice), f"/api/v1/campaigns/{team.draft.pk}/"

    def refusal(method: str, path: str, body: Json) -> Json:
        answer = sent(client, method, path, body)
        assert answer.status_code == 400
        return {name: texts[0] for name, texts in answer.json()["fields"].items()}

    now = team.draft.visibility
    refused = refusal("patch", place, {"visibility": "public", "tags": ["wan"], "state": "finished", "goal": "New"})
    assert refused["visibility"] == (
        f'It is "{now}", and only read here: leave it out, or change it with PUT {place}sharing/.'
    )
    assert refused["tags"].endswith(f"PUT {place}tags/.")
    assert refused["state"] == 'It is "draft", and only read here: leave it out.'
    assert client.get(place).json()["goal"] != "New"
    new = refusal("post", "/api/v1/campaigns/", {"name": "x", "visibility": "public", "series": None})
    assert new == {
        "visibility": "It is only read here: leave it out, and change it afterwards with "
        "PUT /api/v1/campaigns/…/sharing/."
    }


def test_who_may_not_see_or_change_a_thing_is_told_that_and_no_value(team: Any, cast: factories.Cast) -> None:
    place = f"/api/v1/campaigns/{team.draft.pk}/"
    answers = [
        sent(signed_in(person), "patch", place, {"visibility": "public"}).status_code
        for person in (cast.bob, cast.charlie)
    ]
    assert answers == [403, 404]


def test_a_stale_tag_is_told_first(team: Any, cast: factories.Cast) -> None:
    client = signed_in(cast.alice)
    body = json.dumps({"visibility": "public"})
    place = f"/api/v1/campaigns/{team.draft.pk}/"
    stale = client.patch(place, body, content_type="application/json", HTTP_IF_MATCH='"0"')
    assert stale.status_code == 412


def test_fields_that_move_by_themselves_are_not_compared() -> None:
    options: Json = {"read_only": True}
    lasting: list[Any] = [serializers.CharField(**options), serializers.ChoiceField([], **options)]
    moving: list[Any] = [serializers.DateTimeField(**options), serializers.IntegerField(**options)]
    for field in (*lasting, *moving):
        field.bind("skipped", None)
    assert [read_only.is_lasting(field) for field in (*lasting, *moving)] == [True, True, False, False]
