"""REST of tools: each role's rights, errors by field, and definitions tried."""

import pytest

from apps.toolbox import queries
from tests import factories
from tests.bench.custom import definitions

ROOT = "/api/v1/team-tools/"


def call(client, person, method, address, data=None, **token):
    headers = factories.bearer(person, **token) if person else {}
    return getattr(client, method)(address, "" if data is None else data, content_type="application/json", **headers)


def test_the_stranger_the_wrong_team_the_viewer_and_the_operator(client, cast, tool, definition):
    one = f"{ROOT}site-digest/"
    body = {"definition": {**definition, "name": "B"}}
    assert client.get(one).status_code == 401
    for address in (one, f"{one}versions/", f"{one}file/"):
        assert call(client, cast.charlie, "get", address).status_code == 404
        assert call(client, cast.bob, "get", address).status_code == 200
    assert call(client, cast.charlie, "get", ROOT).json()["count"] == 0
    for person, code in ((cast.charlie, 404), (cast.bob, 403), (cast.oscar, 403)):
        assert call(client, person, "post", f"{one}versions/", body).status_code == code
        assert call(client, person, "post", f"{one}archive/").status_code == code
        assert call(client, person, "post", f"{one}restore/").status_code == code
    new = {"slug": "other", "definition": definition}
    assert call(client, cast.oscar, "post", ROOT, new).status_code == 403
    assert call(client, cast.alice, "post", ROOT, new, scope="read").status_code == 403
    assert call(client, cast.alice, "post", f"{one}versions/", body, scope="read").status_code == 403
    assert call(client, cast.alice, "post", ROOT, {**new, "team": "strangers"}).status_code == 400


def test_a_manager_defines_changes_and_archives(client, cast, definition):
    made = call(client, cast.alice, "post", ROOT, {"slug": "site-digest", "definition": definition})
    assert made.status_code == 201
    assert made.json()["latest"] == 1
    one = f"{ROOT}site-digest/"
    next_one = call(
        client, cast.alice, "post", f"{one}versions/",
        {"definition": {**definition, "name": "B"}, "note": "b", "based_on": 1},
    )  # fmt: skip
    assert next_one.json()["slug"] == "site-digest.v2"
    assert [item["number"] for item in call(client, cast.bob, "get", f"{one}versions/").json()] == [2, 1]
    late = call(client, cast.alice, "post", f"{one}versions/", {"definition": definition, "based_on": 1})
    assert late.status_code == 409
    assert "Someone made version 2" in late.json()["detail"]
    assert call(client, cast.alice, "post", f"{one}archive/").json()["archived_at"]
    assert call(client, cast.alice, "post", f"{one}restore/").json()["archived_at"] is None


def test_mistakes_are_named_by_field(client, cast):
    wrong = definitions.minimal(program="", metrics=[{"name": "x", "where": "("}])
    answer = call(client, cast.alice, "post", ROOT, {"slug": "X", "definition": wrong})
    assert answer.status_code == 400
    assert set(answer.json()["fields"]) == {"slug", "definition.program", "definition.metrics.0.where"}
    for odd in (None, 1, [], "x", {"metrics": {"a": 1}}):
        assert call(client, cast.alice, "post", ROOT, {"slug": "x", "definition": odd}).status_code == 400


def test_a_tool_is_exported_and_imported(client, cast, tool):
    text = call(client, cast.bob, "get", f"{ROOT}site-digest/file/?version=1").content.decode()
    other = text.replace("slug: site-digest", "slug: digest-two")
    made = call(client, cast.charlie, "post", f"{ROOT}import/", {"file": other})
    assert made.json()["slug"] == "digest-two"
    assert queries.get_tool("digest-two.v1").definition == queries.get_tool("site-digest.v1").definition
    assert call(client, cast.bob, "get", f"{ROOT}site-digest/file/?version=9").status_code == 400
    assert call(client, cast.bob, "get", f"{ROOT}site-digest/file/?version=x").status_code == 400
    assert call(client, cast.alice, "post", f"{ROOT}import/", {"file": "{"}).status_code == 400


def test_a_definition_is_tried_on_an_output(client, cast):
    body = {"definition": definitions.minimal(), "output": "rate: 7\n"}
    done = call(client, cast.alice, "post", f"{ROOT}try/", body).json()
    assert done["samples"] == [{"metric": "rate", "value": 7e6}]
    assert done["commands"] == [{"role": "node", "argv": ["site"]}]
    missing = call(client, cast.alice, "post", f"{ROOT}try/", {**body, "output": "none"}).json()
    assert "not in the output" in missing["reason"]
    assert call(client, cast.alice, "post", f"{ROOT}try/", {"definition": {}}).status_code == 400
    wrong = call(client, cast.alice, "post", f"{ROOT}try/", {**body, "parameters": {"nosuch": "1"}})
    assert wrong.json()["fields"]["nosuch"]


def test_campaigns_see_the_teams_tools_beside_the_services(client, cast, tool):
    slugs = [item["slug"] for item in call(client, cast.bob, "get", "/api/v1/tools/").json()]
    assert {"ping", "site-digest.v1"} <= set(slugs)
    assert call(client, cast.bob, "get", "/api/v1/tools/site-digest.v1/").json()["metrics"][0]["unit"] == "B/s"
    assert "site-digest.v1" not in [
        item["slug"] for item in call(client, cast.charlie, "get", "/api/v1/tools/").json()
    ]
    assert call(client, cast.charlie, "get", "/api/v1/tools/site-digest.v1/").status_code == 404


@pytest.mark.parametrize("tools", [1, 6])
def test_the_list_costs_the_same_for_many(client, cast, definition, tools, django_assert_max_num_queries):
    for number in range(tools):
        call(client, cast.alice, "post", ROOT, {"slug": f"tool-{number}", "definition": definition})
    headers = factories.bearer(cast.bob)
    with django_assert_max_num_queries(5):
        assert client.get(ROOT, **headers).json()["count"] == tools
