"""No request that the schema allows, and none that it does not, is answered otherwise than the schema says."""

import logging
from pathlib import Path
from typing import Any

import pytest

from tests import factories
from tests.rest import schema, world
from tests.rest.examples import examples
from tests.rest.fuzzing import Caller

# What needs measurements that no small team has: their own tests make them.
REFUSED = {
    "POST /api/v1/findings/{id}/draft/",
    "POST /api/v1/site-layers/{a}/{b}/draft/",
    "POST /api/v1/workload/draft/",
}
pytestmark = pytest.mark.django_db


@pytest.fixture
def team(cast: factories.Cast, settings: Any, tmp_path: Path) -> Any:
    settings.VAR_DIR = tmp_path
    # Each refusal would be a line.
    logging.getLogger("django.request").setLevel(logging.CRITICAL)
    yield world.build(cast, tmp_path)
    logging.getLogger("django.request").setLevel(logging.NOTSET)


def caller_for(team: Any, who: str) -> Caller:
    return Caller(factories.bearer(getattr(team.cast, who))["HTTP_AUTHORIZATION"])


@pytest.mark.parametrize("who", ["alice", "bob", "charlie"])
def test_every_answer_is_as_the_schema_says(team: Any, who: str) -> None:
    caller = caller_for(team, who)
    for operation in schema.operations_of(team):
        caller.fuzz(operation)
    assert not caller.found.problems, caller.found.report()


@pytest.mark.parametrize("who", ["alice", "bob", "charlie"])
def test_what_a_person_would_send_succeeds_for_the_manager_alone(team: Any, who: str) -> None:
    """Every operation has an example with real things, so that what is drawn is not refused for want of any."""
    caller, told = caller_for(team, who), examples(team)
    for operation in schema.operations_of(team):
        label = f"{operation.method.upper()} {operation.path.removeprefix('/api/v1')}"
        plain = {"path": {item.name: item.definition["schema"]["enum"][0] for item in operation.path_parameters}}
        caller.send(operation, plain | told.pop(label, {}))
    assert not told, "examples of no operation"
    assert not caller.found.problems, caller.found.report()
    statuses = {label: set(found) for label, found in caller.found.statuses.items()}
    print({k: v for k, v in statuses.items() if not any(x < 300 for x in v)})
    if who == "alice":
        assert {label for label, found in statuses.items() if min(found) >= 300} == REFUSED
