"""Results over REST."""

from types import SimpleNamespace

from django.test import Client

from apps.campaigns.models import Campaign
from tests import factories


def test_results_come_with_their_samples(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    headers = factories.bearer(cast.bob)
    answer = client.get("/api/v1/results/", {"campaign": measured.pk}, **headers).json()
    assert answer["count"] == 4
    assert "goodput" in {sample["metric"] for sample in answer["results"][0]["samples"]}


def test_the_table_says_metric_unit_and_groups(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    path = f"/api/v1/experiments/{measured.experiments.get().pk}/results/"
    answer = client.get(path, **factories.bearer(cast.bob)).json()
    assert (answer["metric"], answer["unit"], answer["x"]) == ("goodput", "bit/s", "window")
    assert [group["x"] for group in answer["groups"]] == [65536, 1048576]
    assert all(group["n"] == 2 and len(group["trials"]) == 2 for group in answer["groups"])


def test_the_table_by_nodes_names_them(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    experiment = measured.experiments.get()
    experiment.factors = []
    experiment.save()
    answer = client.get(f"/api/v1/experiments/{experiment.pk}/results/", **factories.bearer(cast.bob)).json()
    assert [group["x"] for group in answer["groups"]] == ["kisti01 → pnu01"]


def test_strangers_and_other_teams_get_nothing(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    experiment = measured.experiments.get().pk
    result = measured.experiments.get().results.first().pk
    paths = [
        f"/api/v1/results/{result}/",
        f"/api/v1/experiments/{experiment}/results/",
        f"/api/v1/experiments/{experiment}/samples.csv",
        f"/api/v1/experiments/{experiment}/samples.json",
    ]
    for path in paths:
        assert client.get(path).status_code == 401, path
        assert client.get(path, **factories.bearer(cast.charlie)).status_code == 404, path
        assert client.get(path, **factories.bearer(cast.bob)).status_code == 200, path
    assert client.get("/api/v1/results/", **factories.bearer(cast.charlie)).json()["count"] == 0


def test_results_cannot_be_written(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    assert client.post("/api/v1/results/", {}, **factories.bearer(cast.alice)).status_code == 405
