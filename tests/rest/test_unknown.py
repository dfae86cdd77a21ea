"""What an operation does not take is refused by name, and the nearest name is told: at every operation there is."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from apps.core.rest import Strict
from tests import factories
from tests.rest import schema, world
from tests.rest.examples import examples

pytestmark = pytest.mark.django_db
# They describe the interface, and are no part of what they describe.
DESCRIPTIONS = {"schema", "api-docs"}
# Whoever quotes the name must not read it as a form.
NO_FIELD = "nosuch_field %s %(x)d {0} 5 %"


@pytest.fixture
def alice(cast: factories.Cast) -> dict[str, str]:
    return factories.bearer(cast.alice)


def test_every_view_of_the_interface_is_strict() -> None:
    views = {name: view for name, view in _views(get_resolver().url_patterns, "") if name not in DESCRIPTIONS}
    assert len(views) > 100
    assert [name for name, view in views.items() if not issubclass(view, Strict)] == []


def _views(patterns: Any, front: str) -> Iterator[tuple[str, type]]:
    for pattern in patterns:
        path = front + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _views(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern) and path.startswith("api/v1/"):
            yield str(pattern.name), pattern.callback.cls


def test_every_operation_refuses_an_unknown_parameter_and_an_unknown_field(team: Any) -> None:
    told, places, wrong, bodies = examples(team), world.addresses(team), [], 0
    for path, method, operation in schema.operations(schema.document()):
        address, headers = path, world.header(team, path)
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "path":
                first = path.removeprefix(schema.ROOT).partition("/")[0]
                value = places[f"{first}.{parameter['name']}"][0]
                address = address.replace(f"{{{parameter['name']}}}", str(value))
        media = next(iter(operation.get("requestBody", {}).get("content", {"application/json": {}})))
        example = told.get(f"{method.upper()} {path.removeprefix('/api/v1')}", {}).get("body", {})
        asked = f"{address}?nosuch_parameter=1"
        wrong += _unless_refused(
            _send(method, asked, example, media, headers), "nosuch_parameter", f"{method} {asked}"
        )
        if method in ("post", "put", "patch") and media != "multipart/form-data":
            bodies += 1
            with_typo = [{**item, NO_FIELD: 1} for item in example] if isinstance(example, list) else {
                **example, NO_FIELD: 1,
            }  # fmt: skip
            field = f"0.{NO_FIELD}" if isinstance(example, list) else NO_FIELD
            wrong += _unless_refused(_send(method, address, with_typo, media, headers), field, f"{method} {address}")
    assert wrong == []
    assert bodies > 80


def _send(method: str, address: str, body: Any, media: str, headers: dict[str, str]) -> Any:
    data: Any = "" if method in ("get", "delete") else {} if media.startswith("multipart") else json.dumps(body)
    if media.startswith("multipart"):
        return getattr(Client(), method)(address, data, **headers)
    return getattr(Client(), method)(address, data, content_type="application/json", **headers)


def _unless_refused(answer: Any, field: str, said: str) -> list[str]:
    if answer.status_code == 400 and field in answer.json()["fields"]:
        return []
    return [f"{said}: {answer.status_code}"]


def test_every_body_of_the_schema_is_closed() -> None:
    found = schema.document()["components"]["schemas"]
    requests = {name: item for name, item in found.items() if name.endswith("Request")}
    assert len(requests) > 60
    assert [name for name, item in requests.items() if item.get("additionalProperties") is not False] == []


@pytest.mark.parametrize(
    ("sent", "field", "near"),
    [
        ({"name": "x", "start_att": "2030-01-01T00:00:00Z"}, "start_att", "start_at"),
        ({"name": "x", "corn": "0 2 * * 1"}, "corn", "cron"),
        ({"nmae": "x"}, "nmae", "name"),
    ],
)
def test_a_slip_of_the_pen_makes_no_campaign_that_starts_now(cast, client, alice, sent, field, near) -> None:
    answer = client.post("/api/v1/campaigns/", sent, "application/json", **alice)
    assert answer.status_code == 400
    assert f"Did you mean “{near}”?" in answer.json()["fields"][field][0]
    assert client.get("/api/v1/campaigns/", **alice).json()["count"] == 0


def test_names_within_others_are_looked_at_too(pair, client, alice) -> None:
    roles = [{"role": "client", "noode": pair[0].pk}]
    sent = {
        "campaign": 1,
        "name": "x",
        "tool": "ping",
        "roles": roles,
        "factors": [{"name": "count", "expresion": "1"}],
    }
    fields = client.post("/api/v1/experiments/", sent, "application/json", **alice).json()["fields"]
    assert "Did you mean “node”?" in fields["roles.0.noode"][0]
    assert "Did you mean “expression”?" in fields["factors.0.expresion"][0]


@pytest.mark.parametrize(
    ("query", "name", "text"),
    [
        ("stat=running", "stat", "Did you mean “state”?"),
        ("state=draft&state=running", "state", "once"),
        ("ordering=nmae", "ordering", "Did you mean “name”?"),
        ("ordering=-password", "ordering", "There are:"),
        ("page_size=0", "page_size", "1 to 1000"),
        ("page_size=5000", "page_size", "1 to 1000"),
        ("page_size=ten", "page_size", "1 to 1000"),
        ("search=%00", "search", "Null"),
    ],
)
def test_a_list_is_not_shown_as_if_it_were_filtered(cast, client, alice, query, name, text) -> None:
    answer = client.get(f"/api/v1/campaigns/?{query}", **alice)
    assert answer.status_code == 400
    assert text in answer.json()["fields"][name][0]


@pytest.mark.parametrize(
    ("address", "name"), [("setting-grants/?in_force=yess", "in_force"), ("tools/?search=x", "search")]
)
def test_values_that_would_be_taken_for_no_filter_are_refused(cast, client, alice, address, name) -> None:
    answer = client.get(f"/api/v1/{address}", **alice)
    assert answer.status_code == 400 and name in answer.json()["fields"]


def test_what_was_fetched_can_be_sent_back(team, client, alice) -> None:
    """Fields that are only read may say what they said, and those that move by themselves anything."""
    for kind, identity in (("campaigns", team.draft.pk), ("nodes", team.spare.pk), ("experiments", team.drafted.pk),
                           ("file-systems", team.file_system.pk), ("report-schedules", team.schedule.pk),
                           ("saved-views", team.view.pk)):  # fmt: skip
        address = f"/api/v1/{kind}/{identity}/"
        fetched = client.get(address, **alice).json()
        for method in ("put", "patch"):
            answer = getattr(client, method)(address, fetched | {"created_at": 0}, "application/json", **alice)
            assert answer.status_code == 200, (address, answer.content)
            assert answer.json()["id"] == identity


def test_documents_refuse_unknown_names(team, client, alice) -> None:
    """A recipe, an inventory, a tool, and names that stand for others."""
    recipe = examples(team)["POST /campaigns/run/"]["body"]
    wrong = {
        "campaigns/run/": (
            recipe | {"recipe": recipe["recipe"].replace("repetitions:", "repetitons:")},
            "recipe.experiments.0.repetitons",
        ),
        "campaigns/run/?": (recipe | {"nodes": {"kisit01": "pnu01"}}, "nodes.kisit01"),
        "inventory/": ({"inventory": "sites: [{nmae: x}]"}, "inventory"),
        "team-tools/": (
            {"slug": "y", "definition": examples(team)["POST /team-tools/"]["body"]["definition"] | {"sumary": "x"}},
            "sumary",
        ),
        f"campaign-archives/{team.ready.pk}/agree/": ({"nodes": {"kisit01": "x"}}, "nodes.kisit01"),
        f"imports/{team.table.pk}/columns/": (
            {"tool": "ping", "columns": {"rate": {"as": "metric", "unti": "s"}}}, "columns.rate.unti",
        ),
    }  # fmt: skip
    for address, (body, field) in wrong.items():
        answer = client.post(f"/api/v1/{address}", body, "application/json", **alice)
        assert answer.status_code == 400, (address, answer.content)
        assert any(field in name for name in answer.json()["fields"]), (address, answer.content)


def test_with_a_json_body_nothing_stands_in_the_address(cast, client, alice) -> None:
    answer = client.post(
        "/api/v1/inventory/?dry_run=true", {"inventory": "sites: [{name: x}]"}, "application/json", **alice
    )
    assert answer.status_code == 400 and "dry_run" in answer.json()["fields"]
    assert client.get("/api/v1/sites/", **alice).json()["count"] == 0


def test_what_takes_no_body_takes_an_empty_form_and_no_other(team, client, alice) -> None:
    address = f"/api/v1/campaigns/{team.draft.pk}/launch/"
    answer = client.post(address, {"start_att": "2030-01-01"}, **alice)
    assert answer.status_code == 400 and "start_att" in answer.json()["fields"]
    assert client.post(address, **alice).status_code == 200
