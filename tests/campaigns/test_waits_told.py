"""Where one reads why something waits: pages, lists, the interface, drawings; and what is not claimed meanwhile."""

import re
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.agents.models import Agent
from apps.campaigns import queries, services, waits
from apps.campaigns.models import Campaign, Trial
from apps.testbeds import topology
from apps.testbeds.models import Node
from tests import factories
from tests.agents import factories as agent_factories
from tests.campaigns import factories as make
from tests.campaigns.browsing import address, browser
from tests.campaigns.factories import take
from tests.workers import factories as workers

REASON = "waiting for the agent on pnu01 since "


@pytest.fixture
def nodes(pair: list[Node]) -> list[Node]:
    """Return two nodes whose agents called just now."""
    workers.enrol(*pair)
    return pair


@pytest.fixture
def stuck(cast: SimpleNamespace, nodes: list[Node]) -> Campaign:
    """Return a running campaign, the agent on one of whose nodes is lost."""
    campaign = make.launched(cast, *nodes)
    lose(nodes[1])
    return campaign


def lose(node: Node) -> None:
    agent_factories.listening()
    Agent.objects.filter(node=node).update(last_seen_at=timezone.now() - timedelta(minutes=4))


def text_of(client: Client, url: str) -> str:
    return re.sub(r"\s+", " ", client.get(url).content.decode())


def rest(cast: SimpleNamespace, client: Client, path: str) -> Any:
    return client.get(f"/api/v1/{path}", **factories.bearer(cast.bob)).json()


def test_pages_say_it(stuck: Campaign, cast: SimpleNamespace) -> None:
    viewer, trial = browser(cast.bob), stuck.trials.first()
    for url in (
        address("campaign_detail", stuck.pk),
        address("campaign_status", stuck.pk),
        reverse("campaigns:campaign_list"),
        address("results:trial_list", stuck.pk),
        reverse("results:trial", args=[trial.pk]),
    ):
        page = text_of(viewer, url)
        assert REASON in page, url
        assert browser(cast.charlie).get(url).status_code in (200, 404)
        assert REASON not in text_of(browser(cast.charlie), url)
    status = text_of(viewer, address("campaign_status", stuck.pk))
    assert '<span class="badge state state-waiting">waiting</span>' in status
    assert "no estimate while it waits" in status
    assert " left" not in status
    assert "data-waits" in status


def test_rest_says_it(stuck: Campaign, cast: SimpleNamespace, nodes: list[Node], client: Client) -> None:
    one = rest(cast, client, f"campaigns/{stuck.pk}/")["waiting"]
    assert (one["reason"], one["trials"], one["is_idle"], one["also"]) == ("agent-lost", 4, True, [])
    assert [(item["kind"], item["id"], item["name"]) for item in one["for"]] == [("node", nodes[1].pk, "pnu01")]
    assert one["for"][0]["last_heard"] is not None
    assert one["since"] is not None
    assert one["until"] is None
    assert one["text"].startswith(REASON)
    assert rest(cast, client, "campaigns/")["results"][0]["waiting"] == one
    trials = rest(cast, client, f"trials/?campaign={stuck.pk}")["results"]
    assert [item["waiting"]["reason"] for item in trials] == ["agent-lost"] * 4
    assert rest(cast, client, f"trials/{trials[0]['id']}/")["waiting"] == trials[0]["waiting"]
    Agent.objects.update(last_seen_at=timezone.now())
    take()
    assert rest(cast, client, f"campaigns/{stuck.pk}/")["waiting"] is None
    trials = rest(cast, client, f"trials/?campaign={stuck.pk}")["results"]
    assert [item["waiting"] and item["waiting"]["reason"] for item in trials] == [None, "queue", "queue", "queue"]


def test_there_is_an_estimate_only_while_nothing_is_waited_for(
    cast: SimpleNamespace, nodes: list[Node], stuck: Campaign
) -> None:
    viewer = browser(cast.bob)
    Agent.objects.update(last_seen_at=timezone.now())
    (run,) = take(now=timezone.now())
    assert run.trial.campaign_id == stuck.pk
    assert " left" in text_of(viewer, address("campaign_status", stuck.pk))
    services.pause_campaign(campaign=stuck, user=cast.oscar)
    paused = text_of(viewer, address("campaign_status", stuck.pk))
    assert " left" not in paused
    assert "paused by oscar since " in paused
    # What another holds ends nobody knows when.
    other = make.launched(cast, *nodes, name="Other")
    assert " left" not in text_of(viewer, address("campaign_status", other.pk))


def test_an_estimate_gets_shorter_while_a_trial_is_carried_out(cast: SimpleNamespace, nodes: list[Node]) -> None:
    campaign = make.launched(cast, *nodes)
    now = timezone.now()
    whole = queries.time_left_s(campaign, now=now)
    (run,) = take(now=now)
    assert queries.time_left_s(campaign, now=now) == pytest.approx(whole)
    assert queries.time_left_s(campaign, now=now + timedelta(seconds=1)) == pytest.approx(whole - 1)
    # One that takes longer than was expected takes nothing from the others.
    rest_s = whole - run.trial.estimate_s
    assert queries.time_left_s(campaign, now=now + timedelta(hours=1)) == pytest.approx(rest_s)
    Trial.objects.filter(state="pending").update(state="cancelled")
    assert queries.time_left_s(campaign, now=now + timedelta(hours=1)) == 0


def test_drawings_mark_lost_nodes_everywhere_and_others_where_they_are_needed(
    stuck: Campaign, cast: SimpleNamespace, nodes: list[Node]
) -> None:
    viewer = browser(cast.bob)
    for url in (
        address("campaign_detail", stuck.pk),
        address("campaign_drawing", stuck.pk),
        reverse("testbeds:home"),
        reverse("testbeds:site_detail", args=[nodes[1].site.pk]),
    ):
        page = text_of(viewer, url)
        assert page.count("topology-lost") == 1, url
        assert "pnu01: agent lost" in page, url
    assert "agent lost" in text_of(viewer, reverse("testbeds:node_detail", args=[nodes[1].pk]))
    Agent.objects.all().delete()
    assert "no agent" in topology.topology_svg(nodes=nodes, are_needed=True)
    assert "topology-kept" in text_of(viewer, address("campaign_drawing", stuck.pk))
    # An inventory may well be described before there are agents.
    for url in (reverse("testbeds:home"), reverse("testbeds:site_detail", args=[nodes[1].site.pk])):
        assert "topology-kept" not in text_of(viewer, url)


def test_a_node_at_work_whose_agent_is_lost_is_lost(stuck: Campaign, nodes: list[Node]) -> None:
    drawing = topology.topology_svg(nodes=nodes, busy={node.pk for node in nodes})
    assert drawing.count("topology-busy") == 1
    assert drawing.count("topology-lost") == 1


def test_of_like_nodes_it_is_said_how_many_are_lost(cast: SimpleNamespace) -> None:
    switch = make.wan(cast.team, pairs=4)
    workers.enrol(*switch.left, *switch.right)
    lose(switch.left[0])
    lose(switch.left[2])
    assert "2: agent lost" in topology.topology_svg(nodes=[*switch.left, switch.right[0]])


def test_a_cancelled_trial_and_campaign_do_not_promise_figures(
    stuck: Campaign, cast: SimpleNamespace, client: Client
) -> None:
    services.cancel_campaign(campaign=stuck, user=cast.oscar, now=timezone.now())
    viewer = browser(cast.bob)
    trial = text_of(viewer, reverse("results:trial", args=[stuck.trials.first().pk]))
    assert "Not measured: the campaign was cancelled before its turn came." in trial
    assert "waits for" not in trial
    panel = text_of(viewer, reverse("results:experiment_panel", args=[stuck.experiments.get().pk]))
    assert "as trials end" not in panel
    assert "Nothing was measured of this metric." in panel


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "Error 2 connecting to unix socket: /srv/fathom/var/valkey.sock. No such file.",
            "Error 2 connecting No such file.",
        ),
        ("Error 2 connecting to /srv/fathom/var/valkey.sock. No such file.", "Error 2 connecting No such file."),
        ("Error 111 connecting to localhost:6379. Connection refused.", "Error 111 connecting Connection refused."),
        ("Timeout reading from 10.0.0.5:6379", "Timeout reading"),
        (
            "MISCONF Errors writing to the AOF file: No space left",
            "MISCONF Errors writing to the AOF file: No space left",
        ),
    ],
)
def test_where_the_broker_is_to_be_found_is_not_told(said: str, shown: str) -> None:
    assert waits.without_addresses(said) == shown
