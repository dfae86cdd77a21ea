"""Samples that a flag makes invalid: left out, counted, explained, and counted in if somebody asks for it."""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign
from apps.results.models import Result
from tests import rewriting
from tests.pages import flat


def make_invalid(*results: Result, metrics: tuple[str, ...] = ()) -> None:
    flag = {"name": "cached-read", "severity": "invalid", "message": {"msgid": "It was cached.", "params": {}}}
    for result in results:
        rewriting.update(
            Result.objects.filter(pk=result.pk), flags=[flag | ({"metrics": list(metrics)} if metrics else {})]
        )


def panel(client: Client, campaign: Campaign, query: str = "") -> str:
    address = reverse("results:experiment_panel", args=[campaign.experiments.get().pk])
    return client.get(address + query).content.decode()


def table(client: Client, campaign: Campaign, **query: str) -> dict:
    experiment = campaign.experiments.get()
    return client.get(f"/api/v1/experiments/{experiment.pk}/results/", query).json()


@pytest.fixture
def bob(client: Client, cast: SimpleNamespace) -> Client:
    client.force_login(cast.bob)
    return client


def test_the_page_says_how_many_are_left_out_and_why(bob: Client, measured: Campaign) -> None:
    assert "invalid sample" not in panel(bob, measured)
    make_invalid(Result.objects.first())
    page = panel(bob, measured)
    assert "1 invalid sample is left out." in page
    assert "<code>cached-read</code>× 1" in flat(page)
    assert "Include invalid samples" in page


def test_the_page_counts_them_in_if_asked(bob: Client, measured: Campaign) -> None:
    make_invalid(*Result.objects.all()[:2])
    page = panel(bob, measured, "?invalid=yes")
    assert "2 invalid samples are counted here." in page
    assert "are left out" not in page
    assert "invalid=yes" in page


def test_a_page_of_invalid_samples_only_says_so(bob: Client, measured: Campaign) -> None:
    make_invalid(*Result.objects.all())
    page = panel(bob, measured)
    assert "All samples of this metric are invalid" in page
    assert "No samples of this metric yet" not in page


def test_rest_counts_and_explains_them(bob: Client, measured: Campaign) -> None:
    make_invalid(Result.objects.first())
    body = table(bob, measured)
    assert (body["invalid"], body["left_out"], body["reasons"]) == (1, 1, {"cached-read": 1})
    assert sum(group["n"] for group in body["groups"]) == 3
    body = table(bob, measured, invalid="yes")
    assert (body["invalid"], body["left_out"]) == (1, 0)
    assert sum(group["n"] for group in body["groups"]) == 4


def test_the_trials_page_names_the_metrics_that_a_flag_bears_on(bob: Client, measured: Campaign) -> None:
    result = Result.objects.first()
    make_invalid(result, metrics=("goodput",))
    page = bob.get(reverse("results:trial", args=[result.trial_id])).content.decode()
    assert "It was cached." in page
    assert "(Goodput)" in page


def test_another_team_is_told_nothing(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.charlie)
    experiment = measured.experiments.get()
    assert client.get(f"/api/v1/experiments/{experiment.pk}/results/?invalid=yes").status_code == 404
    address = reverse("results:experiment_panel", args=[experiment.pk])
    assert client.get(f"{address}?invalid=yes").status_code == 404
