"""Reasons to wait are found in few queries however many wait, and viewers are told when nodes come and go."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.agents.models import Agent, Listener
from apps.campaigns import live, waits
from apps.campaigns.models import Campaign, Lane, Trial
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.conftest import LATER
from tests.campaigns.factories import NOW, take
from workers import tasks


def hear(node: Node, at: Any) -> None:
    Agent.objects.filter(node=node).update(last_seen_at=at)
    Listener.objects.update_or_create(
        pk=1, defaults={"listening_since": NOW - timedelta(days=1), "heard_until": LATER}
    )


def many(campaign: Campaign, count: int) -> None:
    """Add so many trials, on a hundred lanes like the one there is."""
    lane, trial = Lane.objects.filter(experiment__campaign=campaign).first(), campaign.trials.first()
    lanes = Lane.objects.bulk_create(
        Lane(experiment=lane.experiment, roles=lane.roles, resources=lane.resources) for _number in range(100)
    )
    values: dict[str, Any] = {"campaign": campaign, "experiment": trial.experiment, "parameters": trial.parameters}
    Trial.objects.bulk_create(
        (
            Trial(lane=lanes[number % 100], position=100 + number, point=0, repetition=1, **values)
            for number in range(count)
        ),
        batch_size=2000,
    )


def test_ten_thousand_trials_take_as_many_queries_as_four(
    campaign: Campaign, cast: SimpleNamespace, nodes: list[Node], django_assert_max_num_queries: Callable[..., Any]
) -> None:
    other = make.launched(cast, *nodes, name="Other")
    take()
    for count in (0, 10_000):
        many(other, count)
        trials = list(Trial.objects.filter(campaign=other).select_related("lane")[:1000])
        with django_assert_max_num_queries(12):
            found = waits.waits_of([campaign, other], cast.bob, LATER)
        assert [each.code for each in found[other.pk].reasons] == ["reserved"]
        assert found[other.pk].reasons[0].trials == 4 + count
        with django_assert_max_num_queries(15):
            reasons = waits.waits_of_trials(trials, cast.bob, LATER)
        assert {each.code for each in reasons.values()} == {"reserved"}
        assert len(reasons) == len(trials)


def test_viewers_are_told_when_an_agent_is_lost_and_when_it_returns(
    campaign: Campaign, cast: SimpleNamespace, nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[int, str]] = []
    monkeypatch.setattr("apps.campaigns.live.publish", lambda pk, kind, **ids: heard.append((pk, kind)))
    idle = make.launched(cast, *make.nodes(cast.team, "far", "away"), name="Elsewhere")
    waits.tell_waits(now=LATER)
    heard.clear()
    assert waits.tell_waits(now=LATER) == []
    hear(nodes[1], NOW)
    assert waits.tell_waits(now=LATER) == [campaign.pk]
    assert waits.tell_waits(now=LATER) == []
    hear(nodes[1], LATER)
    assert waits.tell_waits(now=LATER) == [campaign.pk]
    assert heard == [(campaign.pk, "waits")] * 2
    # Of one that has ended nobody is told.
    Campaign.objects.exclude(pk=idle.pk).update(state="finished")
    hear(nodes[1], NOW)
    assert waits.tell_waits(now=LATER) == []


def test_what_was_told_last_is_kept_for_all_workers(db: None) -> None:
    live.swap("test", {"a", "b"})
    assert live.swap("test", {"c"}) == {"a", "b"}
    assert live.swap("test", set()) == {"c"}
    assert live.swap("test", set()) == set()


def test_the_timetable_looks_for_nodes_that_come_and_go(
    campaign: Campaign, nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[int, str]] = []
    monkeypatch.setattr("apps.campaigns.live.publish", lambda pk, kind, **ids: heard.append((pk, kind)))
    Agent.objects.update(last_seen_at=timezone.now())
    waits.tell_waits(now=timezone.now())
    hear(nodes[1], NOW)
    heard.clear()
    tasks.tick()
    assert (campaign.pk, "waits") in heard
