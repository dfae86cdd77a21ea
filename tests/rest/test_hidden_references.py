"""Wherever a body refers to what one may not see, it is as what does not exist: no number is given away."""

import copy
import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from apps.reports import services as reports
from tests import factories as people
from tests.campaigns import factories as make
from tests.rest import schema, world
from tests.rest.examples import examples
from tests.rest.test_longest_lists import EACH, IN_FORMS, Json, Place, _bodies, _parts, _put
from tests.rotation import part_of
from tests.testbeds import factories as inventory

pytestmark = pytest.mark.django_db
# These are no references: how many editions there are, and how many nodes.
COUNTS = {("/api/v1/reports/{id}/freeze/", "after"), ("/api/v1/workload/draft/", "nodes")}
# Of nothing and of nobody.
NO_ID, NO_PERMANENT_ID = 999_999_999, "zzzz-zzzz-zzzz"


def hidden(cast: people.Cast) -> dict[str, list[Any]]:
    """Return what another team has, by the names of the fields that refer to such things."""
    theirs = SimpleNamespace(team=cast.other_team, oscar=cast.charlie)
    nodes = [*make.nodes(cast.other_team, "n1", site="There"), *make.nodes(cast.other_team, "n2", site="Yonder")]
    campaign = make.campaign(theirs, name="Hidden")
    experiment = make.experiment(campaign, *nodes)
    cluster = inventory.cluster(cast.other_team, "hidden", *nodes)
    switch = inventory.switch(cast.other_team, "hidden", site=nodes[0].testbed.site)
    files = inventory.file_system(cast.other_team, "hidden", cluster)
    report = reports.begin_report(campaign=campaign, user=cast.charlie, language="en")
    site, node = nodes[0].testbed.site_id, nodes[0].pk
    return {
        "node": [node], "nodes": [node], "a_node": [node], "b_node": [node], "cluster": [cluster.pk],
        "server_cluster": [cluster.pk], "switch": [switch.pk], "a_switch": [switch.pk], "b_switch": [switch.pk],
        "site": [site], "sites": [site], "site_a": [site], "site_b": [site], "testbed": [nodes[0].testbed_id],
        "file_system": [files.pk], "campaign": [campaign.pk, campaign.permanent_id], "after": [experiment.pk],
        "series": [campaign.pk], "report": [report.pk], "baseline": [campaign.permanent_id],
        "also": [campaign.permanent_id], "team": [cast.other_team.slug],
    }  # fmt: skip


def references(found: dict[str, list[Any]]) -> list[tuple[str, str, Place, Any]]:
    """Return (method, path, place, what is hidden) of every place of every body that refers to something."""
    kinds = {"integer": int, "string": str}

    def values(path: str, place: Place) -> list[Any]:
        name = next((step for step in reversed(place) if step != EACH), "")
        return [] if (path, name) in COUNTS else found.get(name, [])

    return [
        (method, path, place, value)
        for method, path, body in _bodies()
        if (method, path) not in IN_FORMS | {("post", "/api/v1/campaign-archives/")}
        for place, part in _parts(body)
        for value in values(path, place)
        if isinstance(value, kinds.get(part.get("type", ""), ()))
    ]


def test_what_one_may_not_see_is_what_does_not_exist(team: Any, cast: people.Cast) -> None:
    told, names, found = examples(team), world.names(team), hidden(cast)
    bodies = {(method, path): body for method, path, body in _bodies()}
    places = world.addresses(team)
    wrong, every = [], references(found)
    assert len({(path, place) for _method, path, place, _value in every}) > 50
    for method, path, place, value in part_of(every):
        example = told.get(f"{method.upper()} {path.removeprefix(schema.ROOT[:-1])}", {})
        address = path
        for parameter, key in _keys(path, example, places):
            address = address.replace(f"{{{parameter}}}", str(key))
        answers = []
        nothing = NO_ID if isinstance(value, int) else NO_PERMANENT_ID
        for named in (value, nothing):
            body: Json = _put(copy.deepcopy(example.get("body", {})), place, named, bodies[method, path], names)
            answer = Client().generic(
                method.upper(), address, json.dumps(body), "application/json", **world.header(team, path)
            )
            answers.append((answer.status_code, answer.content.decode().replace(str(named), "#")))
        if answers[0] != answers[1] or answers[0][0] < 400:
            wrong.append(f"{method} {path} {place}: {answers}")
    assert "\n".join(wrong) == ""


def _keys(path: str, example: Json, places: dict[str, list[Any]]) -> list[tuple[str, Any]]:
    """Return (parameter, value) of each parameter of a path."""
    first = path.removeprefix(schema.ROOT).partition("/")[0]
    parameters = [part.strip("{}") for part in path.split("/") if part.startswith("{")]
    given = example.get("path", {})
    return [(name, given[name] if name in given else places[f"{first}.{name}"][0]) for name in parameters]
