"""No request that the schema allows, and none that it does not, is answered otherwise than the schema says."""

from typing import Any

import pytest
from django.utils import timezone

from tests import factories
from tests.rest import privacy, schema
from tests.rest.examples import examples
from tests.rest.fuzzing import Caller
from tests.rotation import part_of

# What also a viewer changes.
OF_THEIR_OWN = {"PATCH /api/v1/me/", "DELETE /api/v1/memberships/{id}/"}
# What needs measurements that no small team has: their own tests make them.
REFUSED = {
    "POST /api/v1/findings/{id}/draft/",
    "POST /api/v1/site-layers/{a}/{b}/draft/",
    "POST /api/v1/workload/draft/",
    # What only administrators of the service may.
    "GET /api/v1/set-aside/",
    "GET /api/v1/set-aside/{id}/",
    "POST /api/v1/set-aside/{id}/try-again/",
}
pytestmark = pytest.mark.django_db


@pytest.fixture
def caller(team: Any, cast: factories.Cast) -> Caller:
    """Return who sends the requests: the manager each, beside them the viewer and the stranger in turn, or each.

    None of them sees what Oscar keeps to himself.
    """
    people = {"manager": cast.alice, "viewer": cast.bob, "stranger": cast.charlie}
    # Each request is taken back: a token that was never used would be marked as used by all of them.
    used = timezone.now()
    headers = {
        who: factories.bearer(person, last_used_at=used)["HTTP_AUTHORIZATION"] for who, person in people.items()
    }
    return Caller(headers, privacy.keep(team).words)


def test_every_answer_is_as_the_schema_says(team: Any, caller: Caller) -> None:
    for operation in part_of(schema.operations_of(team)):
        caller.fuzz(operation)
    assert not caller.report(), caller.report()


def test_what_a_person_would_send_succeeds_for_the_manager(team: Any, caller: Caller) -> None:
    """Every operation has a request with real things, so that what is drawn is not refused for want of any."""
    told, operations = examples(team), schema.operations_of(team)
    asked = {operation.label for operation in part_of(operations, parts=2)}
    for operation in operations:
        label = f"{operation.method.upper()} {operation.path.removeprefix('/api/v1')}"
        plain = {"path": {item.name: item.definition["schema"]["enum"][0] for item in operation.path_parameters}}
        example = plain | told.pop(label, {})
        if operation.label in asked:
            caller.send(operation, example)
    assert not told, "examples of no operation"
    assert not caller.report(), caller.report()
    refused = {who: found.refused() for who, found in caller.found.items()}
    assert refused["manager"] == REFUSED & asked
    writes = {label for label in caller.found["viewer"].statuses if label.split()[0] in ("PUT", "PATCH", "DELETE")}
    assert writes - refused["viewer"] == OF_THEIR_OWN & asked
    assert writes - refused["stranger"] == {"PATCH /api/v1/me/"} & asked
