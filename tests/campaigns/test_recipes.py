"""Drafts made of templates: RFC 6349 and other procedures, for chosen nodes."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from apps.campaigns import services
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.campaigns.recipes import RECIPES
from apps.testbeds.models import Link, Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, address, browser
from tests.campaigns.factories import NOW, take
from tests.testbeds import factories as inventory

PATHS = ["rfc6349", "udp-load", "window-sweep"]


def draft(cast: SimpleNamespace, recipe: str, values: dict[str, Any] | None = None, **more: Any) -> Campaign:
    players = more.pop("players")
    given = {"team": cast.team, "user": cast.oscar, "now": NOW, "values": values or {}, **more}
    return services.create_from_recipe(recipe=recipe, players=make.players(**players), **given)


def between(pair: list[Node]) -> dict[str, Node]:
    return {"client": pair[0], "server": pair[1]}


def refusal(cast: SimpleNamespace, recipe: str, values: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    with pytest.raises(ValidationError) as refused:
        draft(cast, recipe, values, **more)
    assert not Experiment.objects.exists()
    return refused.value.message_dict


def launch(cast: SimpleNamespace, campaign: Campaign) -> Campaign:
    return services.launch_campaign(campaign=campaign, user=cast.oscar, now=NOW)


@pytest.mark.parametrize("recipe", PATHS)
def test_a_draft_can_be_launched_as_it_is(cast: SimpleNamespace, pair: list[Node], recipe: str) -> None:
    campaign = launch(cast, draft(cast, recipe, players=between(pair)))
    assert campaign.state == "running"
    assert Trial.objects.exists()


def test_rfc_6349_goes_from_the_mtu_to_tcp(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = launch(cast, draft(cast, "rfc6349", players=between(pair)))
    measured = {"path_mtu": [9000.0], "rtt_min": [0.005, 0.0048], "goodput": [9.0e8, 9.5e8]}
    order = []
    for _stage in range(6):
        while runs := take():
            for run in runs:
                services.succeed_run(run=run, now=NOW)
        found = {name for name in Trial.objects.values_list("experiment__name", flat=True) if name not in order}
        order += sorted(found)
        for experiment in campaign.experiments.all():
            services.start_stage(
                experiment_id=experiment.pk,
                measured=lambda earlier, metric: {lane.pk: measured[metric] for lane in earlier.lanes.all()},
                now=NOW,
            )
    assert order == [
        "Path MTU", "Baseline RTT", "Bottleneck forward", "Bottleneck reverse", "TCP windows forward",
        "TCP windows reverse",
    ]  # fmt: skip
    udp = Trial.objects.filter(experiment__name="Bottleneck reverse")
    assert {trial.parameters["length"] for trial in udp} == {8952}
    assert {trial.parameters["direction"] for trial in udp} == {"reverse"}
    assert max(trial.parameters["rate"] for trial in udp) == 10**9
    tcp = Trial.objects.filter(experiment__name="TCP windows forward")
    # 950 Mbit/s x 4.8 ms / 8 = 570,000 B.
    assert sorted({trial.parameters["window"] for trial in tcp}) == [142_500, 285_000, 570_000, 1_140_000]


def test_the_capacity_is_that_of_the_links_unless_it_is_given(cast: SimpleNamespace, pair: list[Node]) -> None:
    rates = draft(cast, "udp-load", {"loads": "2"}, players=between(pair)).experiments.get().factors
    assert rates == [{"name": "rate", "expression": "500Mbit/s, 1Gbit/s"}]
    given = {"loads": "2", "capacity": "457 Mbit/s"}
    rates = draft(cast, "udp-load", given, players=between(pair)).experiments.get().factors
    assert rates == [{"name": "rate", "expression": "228500kbit/s, 457Mbit/s"}]


def test_a_path_that_nobody_described_needs_a_capacity(cast: SimpleNamespace, pair: list[Node]) -> None:
    Link.objects.all().delete()
    for recipe in PATHS:
        assert "write it here" in refusal(cast, recipe, players=between(pair))["values.capacity"][0]
    draft(cast, "rfc6349", {"capacity": "1 Gbit/s"}, players=between(pair))


def test_a_load_over_the_limit_is_refused_before_there_is_a_draft(cast: SimpleNamespace, pair: list[Node]) -> None:
    wrong = refusal(cast, "udp-load", {"highest": "1.5"}, players=between(pair))
    assert "WAN" in wrong["Loss against load.limits"][0]
    assert not Campaign.objects.exists()
    Link.objects.update(udp_share_limit=1.5)
    draft(cast, "udp-load", {"highest": "1.5"}, players=between(pair))


def test_storage_goes_from_one_client_to_all(cast: SimpleNamespace) -> None:
    nodes = make.nodes(cast.team, *(f"n{number}" for number in range(6)))
    group = inventory.cluster(cast.team, "group", *nodes)
    file_system = inventory.file_system(cast.team, "gpfs", group)
    campaign = draft(
        cast, "storage-clients", {"records": "64KiB, 1MiB"}, players={"client": group}, file_system=file_system
    )
    experiment = campaign.experiments.get()
    assert experiment.file_system == file_system
    assert experiment.factors[1] == {"name": "clients", "expression": "1, 2, 4, 6"}
    launch(cast, campaign)
    assert Trial.objects.count() == 2 * 4 * 3


def test_storage_needs_a_file_system(cast: SimpleNamespace, pair: list[Node]) -> None:
    assert "file_system" in refusal(cast, "storage-clients", players={"client": pair[0]})


def test_what_is_wrong_is_named(cast: SimpleNamespace, pair: list[Node]) -> None:
    assert "recipe" in refusal(cast, "rfc1925", players=between(pair))
    assert "parts.server" in refusal(cast, "rfc6349", players={"client": pair[0]})
    assert "parts.router" in refusal(cast, "rfc6349", players={**between(pair), "router": pair[0]})
    assert "values.speed" in refusal(cast, "rfc6349", {"speed": "1"}, players=between(pair))
    assert "values.duration" in refusal(cast, "rfc6349", {"duration": "soon"}, players=between(pair))
    assert "parts.client" in refusal(
        cast, "rfc6349", players={**between(pair), "client": make.cluster(cast.team, "x")}
    )


def test_only_operators_make_drafts(cast: SimpleNamespace, pair: list[Node]) -> None:
    with pytest.raises(PermissionDenied):
        draft(cast, "rfc6349", players=between(pair), user=cast.bob)


def test_it_is_done_in_the_browser(cast: SimpleNamespace, pair: list[Node]) -> None:
    oscar = browser(cast.oscar)
    assert "RFC 6349" in oscar.get(address("campaign_create")).content.decode()
    url = f"/campaigns/templates/rfc6349/?team={cast.team.slug}"
    assert "part_client" in oscar.get(url).content.decode()
    sent = {"name": "Mine", "part_client": [f"node:{pair[0].pk}"], "part_server": [f"node:{pair[1].pk}"],
            "value_duration": "2 s"}  # fmt: skip
    wrong = oscar.post(url, sent | {"value_duration": "soon", "part_server": []})
    assert wrong.status_code == 422
    assert {"part_server"} <= set(wrong.context["form"].errors)
    wrong = oscar.post(url, sent | {"value_duration": "soon"})
    assert "value_duration" in wrong.context["form"].errors
    Link.objects.update(udp_limit_bps=1)
    assert "whose owner allows" in oscar.post(url, sent).content.decode()
    Link.objects.update(udp_limit_bps=None)
    answer = oscar.post(url, sent, follow=True)
    assert "The draft is ready" in answer.content.decode()
    assert Campaign.objects.get().name == "Mine"
    assert oscar.get("/campaigns/templates/none/").status_code == 404


def test_the_browser_keeps_others_out(cast: SimpleNamespace) -> None:
    url = f"/campaigns/templates/rfc6349/?team={cast.team.slug}"
    assert browser(None).get(url).status_code == 302
    assert browser(cast.bob).get(url).status_code == 403
    assert browser(cast.bob).get("/campaigns/templates/rfc6349/").status_code == 403
    assert browser(cast.charlie).get(url).status_code == 404


def test_it_is_done_over_rest(cast: SimpleNamespace, pair: list[Node]) -> None:
    api = Api(cast.oscar)
    assert [item["slug"] for item in api("get", "/campaign-templates/").json()] == list(RECIPES)
    shown = api("get", "/campaign-templates/rfc6349/").json()
    assert [part["name"] for part in shown["parts"]] == ["client", "server"]
    body = {
        "players": [{"role": "client", "node": pair[0].pk}, {"role": "server", "node": pair[1].pk}],
        "values": {"duration": "2 s"},
    }
    made = api("post", "/campaign-templates/rfc6349/draft/", body)
    assert (made.status_code, made.json()["state"]) == (201, "draft")
    assert Experiment.objects.filter(campaign=made.json()["id"]).count() == 6
    wrong = api("post", "/campaign-templates/rfc6349/draft/", body | {"values": {"duration": "soon"}})
    assert "values.duration" in wrong.json()["fields"]
    assert api("post", "/campaign-templates/none/draft/", body).status_code == 404


def test_rest_keeps_others_out(cast: SimpleNamespace, pair: list[Node]) -> None:
    body = {
        "team": cast.team.slug,
        "players": [{"role": "client", "node": pair[0].pk}, {"role": "server", "node": pair[1].pk}],
    }
    path = "/campaign-templates/rfc6349/draft/"
    assert Api(None)("post", path, body).status_code == 401
    assert Api(cast.bob)("post", path, body).status_code == 403
    assert Api(cast.charlie)("post", path, body).status_code == 400
    assert Api(cast.oscar, scope="read")("post", path, body).status_code == 403
    assert not Campaign.objects.exists()
