"""The routes that runs saw: the same, or changed, and where."""

from types import SimpleNamespace

from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign
from apps.results import routes
from apps.results.models import Result
from tests import factories, rewriting
from tests.pages import flat

HERE = [["10.0.0.1"], ["10.0.1.1"], ["10.0.2.1"]]
THERE = [["10.0.0.1"], ["10.9.9.9"], ["10.0.2.1"]]


def see(campaign: Campaign, *seen: object, own: bool = False) -> None:
    """Have the runs of a campaign see routes, in their order, by a look before each or by the tool itself."""
    for result, route in zip(Result.objects.order_by("pk"), seen, strict=True):
        observed = {"route": route} if own else {"context": {"before": {"route": route}}}
        rewriting.update(Result.objects.filter(pk=result.pk), observed=observed)


def page_of(client: Client, campaign: Campaign, user: object) -> str:
    client.force_login(user)
    return client.get(reverse("results:experiment", args=[campaign.experiments.get().pk])).content.decode()


def test_one_route_is_told_in_a_line(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    see(measured, HERE, HERE, [["10.0.0.1"], [], ["10.0.2.1"]], HERE)
    page = page_of(client, measured, cast.bob)
    assert "The same in all 4 runs: 10.0.0.1 → 10.0.1.1 → 10.0.2.1" in flat(page)


def test_a_change_is_told_with_the_trial_that_saw_it(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    see(measured, HERE, THERE, THERE, HERE, own=True)
    (history,) = routes.histories_of(measured.experiments.get())
    trials = list(Result.objects.order_by("pk").values_list("trial_id", flat=True))
    assert [way.trials for way in history.ways] == [(trials[0], trials[3]), (trials[1], trials[2])]
    assert [trial for trial, _change in history.changes] == [trials[1], trials[3]]
    assert "The route changed at hop 2: 10.0.1.1 became 10.9.9.9." in page_of(client, measured, cast.bob)


def test_runs_that_saw_no_route_have_no_section(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    assert "routes-heading" not in page_of(client, measured, cast.bob)
    see(measured, None, "x", [], [[1]])
    assert routes.histories_of(measured.experiments.get()) == []


def test_rest_tells_ways_and_changes(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    see(measured, HERE, HERE, HERE, THERE)
    path = f"/api/v1/experiments/{measured.experiments.get().pk}/routes/"
    (history,) = client.get(path, **factories.bearer(cast.bob)).json()
    assert history["nodes"] == "kisti01 → pnu01"
    assert [len(way["trials"]) for way in history["ways"]] == [3, 1]
    assert history["changes"][0]["change"].startswith("The route changed at hop 2")
    assert client.get(path).status_code == 401
    assert client.get(path, **factories.bearer(cast.charlie)).status_code == 404


def test_it_takes_a_fixed_number_of_queries(measured: Campaign, django_assert_max_num_queries) -> None:
    see(measured, HERE, THERE, HERE, THERE)
    with django_assert_max_num_queries(4):
        routes.histories_of(measured.experiments.get())
