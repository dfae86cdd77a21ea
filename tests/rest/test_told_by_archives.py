"""What only an archive says was measured is told so beside its figures, over REST and on pages, and cited."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.archive.search.entries import index_due
from apps.campaigns.models import Campaign
from tests.factories import bearer, signed_in
from tests.rest import schema, world
from tests.rest.examples import examples

pytestmark = pytest.mark.django_db
Json = dict[str, Any]
TOLD = "told_by_archive"
WORDS = "measured, as an archive says"
# What figures are called.
FIGURES = {"value", "mean", "median", "figures", "samples", "predicted_gain", "realised", "best", "rate"}
# Components that have such a field, and no figure of a campaign beside which it could be told; or why not.
WITHOUT = {
    "FacetValue": "no figure",
    "Place": "its set has it",
}


def _silent(described: Json, within: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the components of an answer that have figures and, as whatever they stand in, do not tell of archives."""
    name = described.get("$ref", "").rpartition("/")[2]
    if name and name in within:
        return
    within, described = (*within, name), schema.resolved(described)
    fields = described.get("properties", {})
    if TOLD in fields:
        return
    if FIGURES & fields.keys():
        yield name or within[-1]
    parts = [*fields.values(), described.get("items"), described.get("additionalProperties")]
    for part in parts:
        if isinstance(part, dict):
            yield from _silent(part, within)


def _read() -> Iterator[tuple[str, Json]]:
    """Yield (path, operation) of all that is read."""
    for path, method, operation in schema.operations(schema.document()):
        if method == "get":
            yield path, operation


def test_every_answer_with_figures_has_a_field_for_it() -> None:
    silent: dict[str, set[str]] = {}
    for path, operation in _read():
        for content in operation["responses"].get("200", {}).get("content", {}).values():
            for name in _silent(content["schema"]):
                silent.setdefault(name, set()).add(path)
    assert {name: paths for name, paths in silent.items() if name not in WITHOUT} == {}
    assert WITHOUT.keys() <= silent.keys()


def _values(answer: Any) -> Iterator[bool]:
    if isinstance(answer, dict):
        yield from ([answer[TOLD]] if TOLD in answer else [])
    for part in answer.values() if isinstance(answer, dict) else answer if isinstance(answer, list) else ():
        yield from _values(part)


@pytest.fixture
def found(team: Any) -> Any:
    """Return the team's things, of which the search knows."""
    index_due(now=timezone.now())
    return team


def _said(team: Any) -> dict[str, set[bool]]:
    """Return {path: what the answers there tell of archives}, of each address that can be read."""
    told, places, said = examples(team), world.addresses(team), {}
    for path, operation in _read():
        example = told.get(f"GET {path.removeprefix(schema.ROOT[:-1])}", {})
        address, first = path, path.removeprefix(schema.ROOT).partition("/")[0]
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "path":
                name = parameter["name"]
                known = example.get("path", {}).get(name) or places[f"{first}.{name}"][0]
                address = address.replace(f"{{{name}}}", str(known))
        answer = Client().get(address, example.get("query", {}), **bearer(team.cast.alice))
        if answer.headers.get("Content-Type", "").startswith("application/json"):
            body = b"".join(answer.streaming_content) if answer.streaming else answer.content
            said[path] = set(_values(json.loads(body)))
    return {path: values for path, values in said.items() if values}


def told(value: bool) -> None:
    """Have all that was measured be what an archive says, or what is known here."""
    message = {"msgid": "Brought in.", "params": {}}
    Campaign.objects.update(brought_in={"message": message, "agrees": False} if value else {})


def test_it_is_true_of_what_only_an_archive_says_and_of_nothing_else(found: Any) -> None:
    team = found
    assert {path for path, values in _said(team).items() if values != {False}} == set()
    told(True)
    said = _said(team)
    measured = Campaign.objects.filter(origin="measured")
    assert {campaign.is_told for campaign in measured} == {True}
    assert {path for path, values in said.items() if True not in values} == set()
    assert len(said) > 12
    # Only what was measured is: not what was read from a publication, or came in as outputs.
    assert {item.is_told for item in Campaign.objects.exclude(origin="measured")} <= {False}


def test_rows_and_queries_say_the_same(team: Any) -> None:
    for message in ({}, {"message": {}, "agrees": True}, {"message": {}, "agrees": False}):
        for origin in Campaign.Origin.values:
            Campaign.objects.filter(pk=team.measured.pk).update(origin=origin, brought_in=message)
            [row] = Campaign.objects.filter(pk=team.measured.pk).annotate(told=Campaign.told())
            assert row.told is row.is_told
            assert row.is_told is (origin == "measured" and message.get("agrees") is False)


def test_pages_with_its_figures_say_so(found: Any) -> None:
    team = found
    campaign, experiment = team.measured, team.windows
    trial, finding = experiment.trials.first(), campaign.findings.first()
    pages = {
        "list": "/campaigns/",
        "experiment": f"/results/experiments/{experiment.pk}/",
        "trial": f"/results/trials/{trial.pk}/",
        "landing": f"/c/{campaign.permanent_id}/",
        "search": "/archive/",
        "matrix": "/matrix/",
        "history": f"/history/{team.lane.pk}/",
        "comparison": f"/compare/?set=campaign:{campaign.pk}",
        "findings": "/findings/",
        "finding": f"/findings/{finding.pk}/",
        "panel": f"/findings/campaigns/{campaign.pk}/",
    }
    reader = signed_in(team.cast.alice)
    before = {name: reader.get(address) for name, address in pages.items()}
    assert {name: answer.status_code for name, answer in before.items() if answer.status_code != 200} == {}
    assert [name for name, answer in before.items() if WORDS in answer.content.decode()] == []
    told(True)
    assert [name for name, address in pages.items() if WORDS not in reader.get(address).content.decode()] == []


def test_it_is_cited_as_that(team: Any) -> None:
    address = f"/api/v1/permanent-ids/{team.measured.permanent_id}/"
    reader = bearer(team.cast.alice)
    assert "archive" not in Client().get(address, **reader).json()["citation"]["plain"]
    told(True)
    citation = Client().get(address, **reader).json()["citation"]
    assert "measured as an archive says" in citation["plain"]
    assert "measured as an archive says" in citation["bibtex"]
