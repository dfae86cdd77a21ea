"""The page of a permanent id: who reads it, what strangers do not, what to cite, and the same measured again."""

import csv
from types import SimpleNamespace

import pytest
import yaml
from django.test import Client

from apps.archive.landing import citation, redaction
from apps.campaigns.models import Campaign
from apps.testbeds.models import Node
from tests import factories as people
from tests.campaigns import factories as make

V = Campaign.Visibility


@pytest.fixture
def public(measured: Campaign) -> Campaign:
    """Return a measured campaign that everybody may read, without names."""
    address = Node.objects.get(name="pnu01").addresses.get().address
    measured.goal = f"From kisti01 to {address} over 192.0.2.7 and 2001:db8::7, gw.example.ac.kr, at 10:15."
    measured.visibility, measured.licence = V.PUBLIC, "CC-BY-4.0"
    measured.save()
    return measured


def at(campaign: Campaign, rest: str = "") -> str:
    return f"/c/{campaign.permanent_id}/{rest}"


def test_a_stranger_reads_a_public_campaign_without_names_and_addresses(client: Client, public: Campaign) -> None:
    seen = client.get(at(public)).content.decode()
    seen += client.get(at(public, "recipe.yaml")).content.decode()
    seen += client.get(at(public, "experiments/0/samples.csv")).getvalue().decode()
    seen += client.get(f"/api/v1/permanent-ids/{public.permanent_id}/").content.decode()
    assert "node 1" in seen and "CC-BY-4.0" in seen
    addresses = [address.address for node in Node.objects.all() for address in node.addresses.all()]
    for secret in ("kisti01", "pnu01", "WAN", "192.0.2.7", "2001:db8", "gw.example", *addresses):
        assert secret not in seen
    assert "at 10:15" in seen


def test_a_strangers_file_counts_nothing_but_its_own_experiment(client: Client, public: Campaign) -> None:
    rows = list(csv.DictReader(client.get(at(public, "experiments/0/samples.csv")).getvalue().decode().splitlines()))
    trials = public.experiments.get(position=0).trials.order_by("pk").values_list("pk", flat=True)
    assert {int(row["trial"]) for row in rows} <= set(range(len(trials)))
    assert {row["run"] for row in rows} == {"1"}


def test_its_team_and_everybody_who_may_see_it_whole_read_the_names(
    client: Client, public: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    assert "kisti01" in client.get(at(public, "recipe.yaml")).content.decode()
    client.logout()
    Campaign.objects.update(redacted=False)
    assert "kisti01" in client.get(at(public, "recipe.yaml")).content.decode()


def test_what_is_not_public_asks_to_sign_in_and_is_not_there_for_strangers(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    for address in (at(measured), "/c/0000-0000-0000/"):
        answer = client.get(address)
        assert answer.status_code == 302
        assert "/login/" in answer.headers["Location"]
    assert client.get(at(measured, "recipe.yaml")).status_code == 404
    client.force_login(cast.charlie)
    for rest in ("", "recipe.yaml", "experiments/0/samples.csv", "run/"):
        assert client.get(at(measured, rest)).status_code == 404
    client.force_login(cast.bob)
    assert client.get(at(measured)).status_code == 200
    assert client.get(at(measured, "experiments/7/samples.csv")).status_code == 404


def test_an_id_is_found_however_it_is_written(client: Client, public: Campaign) -> None:
    written = public.permanent_id.replace("-", "").upper()
    assert client.get(f"/c/{written}/").headers["Location"] == at(public)
    assert client.get("/c/not-an-id/").status_code == 404
    assert client.get("/api/v1/permanent-ids/not-an-id/").status_code == 404


def test_the_page_asks_the_database_a_bounded_number_of_times(
    client: Client, public: Campaign, cast: SimpleNamespace, django_assert_max_num_queries
) -> None:
    client.force_login(cast.oscar)
    # Written for the first time: what is kept is looked for twice, and its rows are asked for changes.
    with django_assert_max_num_queries(41):
        assert client.get(at(public)).status_code == 200


def test_a_citation_keeps_names_that_latex_would_read_otherwise(public: Campaign) -> None:
    public.name = r"50 % of {all} & \more_"
    cited = citation.cite(public, redaction.Names(), "https://fathom.example/c/x/")
    assert cited.plain.startswith("oscar, grid (2026). 50 % of {all} & ")
    assert cited.plain.endswith("Licence: CC-BY-4.0.")
    assert r"title = {{50 \% of \{all\} \& \textbackslash{}more\_}}" in cited.bibtex
    assert cited.bibtex.startswith(f"@misc{{fathom-{public.permanent_id},")


def test_words_that_only_begin_like_a_name_are_kept(public: Campaign) -> None:
    names = redaction.names_for(public, whole=False)
    assert names.text("kisti01 kisti012 PNU01, WANDERING 1.2.3 v3.16 300.1.1.1") == (
        "node 1 kisti012 node 2, WANDERING 1.2.3 v3.16 300.1.1.1"
    )


def test_the_same_is_measured_again_on_other_nodes_and_the_two_compared(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    make.nodes(cast.team, "kisti02", "kisti03")
    client.force_login(cast.oscar)
    assert client.get(at(measured, "run/")).status_code == 200
    wish = {"name": "Again", "nodes.0": "kisti02", "nodes.1": "pnu01", "launch": "on"}
    answer = client.post(at(measured, "run/"), wish)
    again = Campaign.objects.get(name="Again")
    assert answer.headers["Location"] == f"/campaigns/{again.pk}/"
    assert (again.state, again.cloned_from) == (Campaign.State.RUNNING, measured)
    played = {part.role: part.node.name for part in again.experiments.get().roles.all()}
    assert played == {"client": "kisti02", "server": "pnu01"}
    assert again.trials.count() == measured.trials.count()
    page = client.get(answer.headers["Location"]).content.decode()
    link = f"/compare/?set=campaign%3A{measured.pk}&amp;set=campaign%3A{again.pk}"
    assert link in page
    assert client.get(link.replace("&amp;", "&")).status_code == 200


def test_a_form_without_nodes_is_refused_and_starts_nothing(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.oscar)
    assert client.post(at(measured, "run/"), {"name": "Again"}).status_code == 422
    assert Campaign.objects.count() == 1
    client.force_login(cast.bob)
    assert client.post(at(measured, "run/"), {"name": "Again"}).status_code == 403


def test_a_recipe_is_run_over_rest_by_another_team_on_its_own_nodes(
    client: Client, public: Campaign, cast: SimpleNamespace
) -> None:
    make.nodes(cast.other_team, "left", "right", site="Elsewhere")
    headers = people.bearer(cast.charlie)
    recipe = client.get(f"/api/v1/permanent-ids/{public.permanent_id}/").json()["recipe"]
    wish = {"recipe": recipe, "nodes": {"node 1": "left"}, "launch": False}
    refused = client.post("/api/v1/campaigns/run/", wish, content_type="application/json", **headers)
    assert refused.status_code == 400
    assert list(refused.json()["fields"]) == ["nodes.node 2"]
    wish["nodes"]["node 2"] = "right"
    answer = client.post("/api/v1/campaigns/run/", wish, content_type="application/json", **headers)
    assert answer.status_code == 201
    assert answer.json()["cloned_from"] is None
    again = Campaign.objects.get(pk=answer.json()["id"])
    assert (again.team, again.state) == (cast.other_team, Campaign.State.DRAFT)
    original = public.experiments.get()
    copy = again.experiments.get()
    for name in ("tool", "fixed", "factors", "repetitions", "order", "retry_wait_s", "context"):
        assert getattr(copy, name) == getattr(original, name)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [", "recipe"),
        ("version: 1", "recipe"),
        ("fathom-campaign: 1\nname: x\nexperiments: []", "recipe.experiments"),
        ("a: &a [1]\nb: *a\nfathom-campaign: 1", "recipe"),
        ("fathom-campaign: 1\nname: x\nexperiments: [{name: a, tool: ping}]", "recipe.experiments.0.roles"),
        ("fathom-campaign: 1\nname: x\nexperiments: [{name: a, tool: ping, roles: {client: [{}]}}]", None),
        ("[" * 100_000, "recipe"),
    ],
    ids=["no-yaml", "other-file", "empty", "alias", "no-roles", "no-player", "deep"],
)
def test_what_is_no_recipe_is_refused_by_name(
    client: Client, cast: SimpleNamespace, text: str, place: str | None
) -> None:
    wish = {"recipe": text}
    answer = client.post("/api/v1/campaigns/run/", wish, content_type="application/json", **people.bearer(cast.oscar))
    assert answer.status_code == 400
    assert place is None or place in answer.json()["fields"]
    assert not Campaign.objects.exists()


def test_a_recipe_says_only_what_differs_from_the_usual(client: Client, measured: Campaign, cast) -> None:
    told = client.get(f"/api/v1/campaigns/{measured.pk}/recipe/", **people.bearer(cast.bob)).json()
    recipe = yaml.safe_load(told["recipe"])
    assert recipe["campaign"] == measured.permanent_id
    [experiment] = recipe["experiments"]
    assert experiment["roles"] == {"client": [{"node": "kisti01"}], "server": [{"node": "pnu01"}]}
    assert set(experiment) == {"name", "tool", "roles", "fixed", "factors", "repetitions", "order", "context"}
