"""Where an operation takes no body, one that is sent is refused with the remedy; nothing and {} are none."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.campaigns.models import Campaign, Tombstone
from tests import factories
from tests.campaigns import factories as make
from tests.rest import schema, world
from tests.rotation import part_of

pytestmark = pytest.mark.django_db
# One reader takes all: each operation meets this share of the kinds, and each kind this share of the operations.
SHARE = 4
BODIES = ('{"reason": "why"}', "[1]", "why", '"why"', "null", "{", b"\xff", '{"\\ud800": 1}', '{"a\\u0000": 1}')
EMPTY = ("", " \n", "{}", "{ }")


def bodiless(team: Any) -> list[tuple[str, str, dict[str, str]]]:
    """Return (method, address, headers) of every operation without a body."""
    places, found = world.addresses(team), []
    for path, method, operation in schema.operations(schema.document()):
        if "requestBody" in operation:
            continue
        address, first = path, path.removeprefix(schema.ROOT).partition("/")[0]
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "path":
                value = places[f"{first}.{parameter['name']}"][0]
                address = address.replace(f"{{{parameter['name']}}}", str(value))
        found.append((method.upper(), address, world.header(team, path)))
    return found


def test_every_operation_without_a_body_refuses_one_and_takes_none(team: Any) -> None:
    operations, wrong, client = bodiless(team), [], Client(raise_request_exception=False)
    methods = {method for method, _address, _headers in operations}
    assert len(operations) > 150 and methods == {"GET", "POST", "DELETE"}
    # No share of a turn: each kind of body is met in each.
    for place, (method, address, headers) in part_of(enumerate(operations), parts=3):
        for body in BODIES[place % SHARE :: SHARE]:
            answer = client.generic(method, address, body, "application/json", **headers)
            told = answer.content.decode()
            if answer.status_code != 400 or ("takes no body" not in told and "no such field" not in told):
                wrong.append((method, address, body, answer.status_code))
        answer = client.generic(method, address, b"why", "text/plain", **headers)
        if answer.status_code not in (400, 415):
            wrong.append((method, address, "text", answer.status_code))
    assert wrong == []
    # Some programs name a type, or send an empty object, wherever they ask; those that delete come last.
    last = sorted(operations, key=lambda one: one[0] == "DELETE")
    for place, (method, address, headers) in part_of(enumerate(last), parts=3):
        for body in EMPTY[place % SHARE :: SHARE]:
            told = client.generic(method, address, body, "application/json", **headers)
            if not told.streaming and "takes no body" in told.content.decode(errors="replace"):
                wrong.append((method, address, body, told.status_code))
    assert wrong == []


def test_a_file_is_a_body_too(team: Any) -> None:
    [(method, address, headers), *_others] = [operation for operation in bodiless(team) if operation[0] == "POST"]
    answer = Client().post(address, {"file": SimpleUploadedFile("a.txt", b"x")}, **headers)
    assert (method, answer.status_code) == ("POST", 400) and "file" in answer.json()["fields"]


def test_the_reason_of_a_deletion_is_asked_for_where_it_is_taken(cast: factories.Cast, pair: Any) -> None:
    campaign, header = make.campaign(cast), factories.bearer(cast.alice)
    make.experiment(campaign, *pair)
    address = f"/api/v1/campaigns/{campaign.pk}/"
    answer = Client().delete(address, {"reason": "A cable."}, "application/json", **header)
    assert answer.status_code == 400
    assert answer.json()["fields"] == {"reason": ["DELETE takes no body here: give it in the address, as ?reason=…."]}
    assert Campaign.objects.filter(pk=campaign.pk).exists()
    assert Client().delete(f"{address}?reason=A%20cable.", **header).status_code == 204
    assert Tombstone.objects.get().reason == "A cable."
