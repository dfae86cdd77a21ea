"""What is refused for the state of a thing is 409 with a sentence, wherever it is refused; the schema says so."""

import ast
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from apps.core.errors import ConflictError
from tests import factories
from tests.rest import schema
from tests.test_architecture import ROOT, SOURCES, tree_of

pytestmark = pytest.mark.django_db


def _refused(team: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield (method, path, body) of what the state of each thing forbids."""
    goodput = {"as": "metric", "name": "goodput", "unit": "Mbit/s"}
    done, running, draft = team.measured.pk, team.running.pk, team.draft.pk
    yield "post", f"campaigns/{running}/launch/", None
    yield "post", f"campaigns/{done}/launch/", None
    yield "post", f"campaigns/{done}/cancel/", None
    yield "post", f"campaigns/{draft}/cancel/", None
    yield "post", f"campaigns/{done}/pause/", None
    yield "post", f"campaigns/{running}/resume/", None
    yield "post", f"campaigns/{running}/withdraw/", None
    yield "post", f"campaigns/{done}/rerun-failed/", None
    yield "delete", f"campaigns/{running}/", None
    yield "patch", f"experiments/{team.windows.pk}/", {"repetitions": 3}
    yield "delete", f"experiments/{team.windows.pk}/", None
    yield "delete", f"trials/{team.trial.pk}/validity/", None
    yield "delete", f"reports/{team.report.pk}/", None
    yield "delete", f"agents/{team.a.agent.pk}/", None
    yield "post", "enrolment-tokens/", {"node": team.a.pk}
    yield "delete", f"nodes/{team.a.pk}/", None
    yield "delete", f"sites/{team.a.testbed.site_id}/", None
    yield "post", f"campaign-archives/{team.incoming.pk}/agree/", {}
    yield "post", f"imports/{team.read.pk}/columns/", {"tool": "iperf3-tcp", "columns": {"rate": goodput}}
    yield "post", f"analyses/{team.running.pk}/retry/", None
    manager = team.cast.team.memberships.get(user=team.cast.alice)
    yield "patch", f"memberships/{manager.pk}/", {"role": "viewer"}
    yield "delete", f"memberships/{manager.pk}/", None


def test_every_refusal_for_a_state_is_a_conflict(team: Any) -> None:
    wrong, headers = [], factories.bearer(team.cast.alice)
    for method, path, body in _refused(team):
        answer = getattr(Client(), method)(f"/api/v1/{path}", body or "", content_type="application/json", **headers)
        if answer.status_code != 409 or len(answer.json()["detail"]) < 15:
            wrong.append(f"{method} {path}: {answer.status_code} {answer.content.decode()[:200]}")
    assert wrong == []


def test_no_view_makes_another_answer_of_a_conflict() -> None:
    """Which refusals are conflicts is decided where they are raised: no view turns one kind into the other."""
    wrong = []
    for file in SOURCES:
        for node in ast.walk(tree_of(file)) if file.name.startswith("api") else ():
            if isinstance(node, ast.ExceptHandler):
                names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
                if {"Conflict", "ValidationError"} <= names:
                    wrong.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert wrong == []
    assert issubclass(__import__("apps.campaigns.errors", fromlist=["WrongState"]).WrongState, ConflictError)


def test_the_schema_says_409_of_every_write() -> None:
    writes = [item for _path, method, item in schema.operations(schema.document()) if method != "get"]
    assert len(writes) > 100
    assert [item["operationId"] for item in writes if "409" not in item["responses"]] == []
