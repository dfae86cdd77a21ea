"""Why campaigns and trials wait: each reason, who may read what of it, and that it is asked for in few queries."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import translation

from apps.accounts.models import User
from apps.agents import queries as agents
from apps.agents.models import LOST_AFTER, Agent, Listener
from apps.agents.obstacles import obstacles_of
from apps.bench.text import Message
from apps.campaigns import services, waits
from apps.campaigns.models import Campaign, Trial
from apps.campaigns.waits import WaitReason, Waits
from apps.testbeds.models import Node
from tests import factories, outages
from tests.campaigns import factories as make
from tests.campaigns.conftest import LATER
from tests.campaigns.factories import NOW, take
from tests.workers import factories as workers


@pytest.fixture(autouse=True)
def _somebody_listens(db: None) -> None:
    Listener.objects.create(pk=1, listening_since=NOW - timedelta(hours=1), heard_until=LATER + timedelta(days=1))


def of(campaign: Campaign, user: User, now: Any = LATER) -> Waits:
    """Return what the campaign waits for, as a person reads it."""
    campaign.refresh_from_db()
    return waits.waits_of([campaign], user, now)[campaign.pk]


def of_trials(campaign: Campaign, user: User, now: Any = LATER) -> list[WaitReason | None]:
    """Return why each trial of the campaign waits, in their order."""
    trials = list(Trial.objects.filter(campaign=campaign).order_by("experiment", "position"))
    found = waits.waits_of_trials(trials, user, now)
    return [found.get(trial.pk) for trial in trials]


def lose(node: Node, last_heard: Any = NOW - timedelta(minutes=4)) -> None:
    Agent.objects.filter(node=node).update(last_seen_at=last_heard)


def test_a_lost_agent_is_named_with_since_when_and_when_it_was_heard(
    campaign: Campaign, cast: SimpleNamespace, nodes: list[Node]
) -> None:
    lose(nodes[1])
    found = of(campaign, cast.bob)
    (why,) = found.reasons
    assert (why.code, why.trials, found.is_idle, found.is_stuck) == ("agent-lost", 4, True, True)
    assert not found.has_known_end
    # Lost before the launch, it is waited for since the launch.
    assert why.since == campaign.launched_at == NOW
    assert [(item.kind, item.pk, item.name, item.heard_at) for item in why.subjects] == [
        ("node", nodes[1].pk, "pnu01", NOW - timedelta(minutes=4))
    ]
    assert why.text == ("waiting for the agent on pnu01 since 2026-03-02 10:00 UTC (last heard 2026-03-02 09:56 UTC)")
    assert [each.code for each in of_trials(campaign, cast.bob) if each] == ["agent-lost"] * 4
    with translation.override("ko"):
        assert "pnu01" in why.text
        assert "waiting" not in why.text
    # It comes back.
    lose(nodes[1], LATER)
    assert [each.code for each in of(campaign, cast.bob).reasons] == ["due"]


def test_an_agent_lost_in_the_middle_is_waited_for_since_then(
    campaign: Campaign, cast: SimpleNamespace, nodes: list[Node]
) -> None:
    heard = NOW + timedelta(minutes=2)
    lose(nodes[0], heard)
    lose(nodes[1], heard + timedelta(minutes=1))
    (why,) = of(campaign, cast.bob).reasons
    assert why.since == heard + LOST_AFTER
    assert why.text.startswith("waiting for the agent on kisti01, pnu01 since ")
    assert "last heard" not in why.text


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"retired_at": NOW}, "agent-retired"),
        ({"last_seen_at": None}, "agent-never-seen"),
        (None, "no-agent"),
    ],
)
def test_each_state_of_an_agent_has_its_reason(
    campaign: Campaign, cast: SimpleNamespace, nodes: list[Node], change: dict[str, Any] | None, code: str
) -> None:
    own = Agent.objects.filter(node=nodes[0])
    own.update(**change) if change else own.delete()
    (why,) = of(campaign, cast.bob).reasons
    assert why.code == code
    assert "kisti01" in why.text
    assert not why.is_bounded


def test_a_node_has_an_obstacle_exactly_if_no_trial_is_started_on_it(cast: SimpleNamespace) -> None:
    states: list[dict[str, Any]] = [
        {"last_seen_at": NOW},
        {"last_seen_at": NOW - LOST_AFTER},
        {"last_seen_at": NOW - LOST_AFTER - timedelta(milliseconds=1)},
        {"last_seen_at": None},
        {"last_seen_at": NOW, "retired_at": NOW},
        {"last_seen_at": NOW, "set_aside_at": NOW},
    ]
    places = make.nodes(cast.team, *(f"n{number}" for number in range(len(states) + 1)))
    workers.enrol(*places[:-1])
    for place, state in zip(places, states, strict=False):
        Agent.objects.filter(node=place).update(**state)
    ready = agents.ready_nodes(NOW)
    kept = obstacles_of(nodes=[place.pk for place in places], now=NOW)
    assert ready.isdisjoint(kept)
    assert ready | kept.keys() == {place.pk for place in places}


def test_a_node_in_trouble_is_waited_for(campaign: Campaign, cast: SimpleNamespace, nodes: list[Node]) -> None:
    Agent.objects.filter(node=nodes[0]).update(set_aside_at=NOW)
    (why,) = of(campaign, cast.bob).reasons
    assert (why.code, [subject.name for subject in why.subjects]) == ("node-trouble", ["kisti01"])
    assert not why.is_bounded
    assert "its page tells what is wrong" in why.text


def test_what_is_kept_back_for_a_lost_measurement_is_waited_for_until_a_known_time(
    campaign: Campaign, cast: SimpleNamespace
) -> None:
    (run,) = take()
    until = LATER + timedelta(minutes=2)
    services.release_run(run=run, now=NOW, fenced_until=until)
    Trial.objects.filter(pk=run.trial_id).update(state=Trial.State.PENDING, not_before=None)
    (why,) = of(campaign, cast.bob).reasons
    assert (why.code, why.until, why.is_bounded) == ("fenced", until, True)
    assert "a lost measurement may still use" in why.text


def test_what_another_campaign_holds_is_named_to_those_who_see_it(
    campaign: Campaign, cast: SimpleNamespace, nodes: list[Node]
) -> None:
    other = make.launched(cast, *nodes, name="The other")
    (run,) = take()
    assert run.trial.campaign_id == campaign.pk
    (why,) = of(other, cast.bob).reasons
    assert (why.code, why.campaign, why.trials) == ("reserved", campaign.pk, 4)
    assert {(item.kind, item.name) for item in why.subjects} == {
        ("node", "kisti01"), ("node", "pnu01"), ("link", "WAN"),
    }  # fmt: skip
    assert "in use by the campaign “Window sweep”" in why.text
    # Whoever may see the waiting one only.
    friend = factories.user("friend")
    factories.team("guests", viewer=friend)
    (hidden,) = of(other, friend).reasons
    assert (hidden.code, hidden.campaign) == ("reserved-other-team", None)
    assert "Window sweep" not in hidden.text
    assert "another team's measurement" in hidden.text
    Campaign.objects.filter(pk=campaign.pk).update(visibility=Campaign.Visibility.PRIVATE)
    (private,) = of(other, cast.bob).reasons
    assert (private.code, private.campaign) == ("reserved-private", None)
    assert "Window sweep" not in private.text


def test_own_trials_take_their_turns_which_is_no_reason_for_the_campaign(
    campaign: Campaign, cast: SimpleNamespace
) -> None:
    take()
    found = of(campaign, cast.bob)
    assert (found.reasons, found.is_idle, found.has_known_end) == ((), False, True)
    queue = of_trials(campaign, cast.bob)
    assert queue[0] is None
    assert [(each.code, each.values["ahead"]) for each in queue[1:] if each] == [
        ("queue", 1), ("queue", 2), ("queue", 3),
    ]  # fmt: skip


def test_a_link_in_use_by_another_lane_of_the_campaign_is_named(cast: SimpleNamespace) -> None:
    grid = make.wan(cast.team, pairs=2)
    workers.enrol(*grid.left, *grid.right)
    Agent.objects.update(last_seen_at=LATER)
    draft = make.campaign(cast)
    for number in range(2):
        make.experiment(draft, grid.left[number], grid.right[number], name=f"pair {number}")
    running = services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)
    (run,) = take()
    other = of_trials(running, cast.bob)[4]
    assert other is not None
    assert (other.code, other.values["trial"]) == ("in-use", run.trial_id)
    assert [item.name for item in other.subjects] == ["KREONET"]
    assert of(running, cast.bob).reasons == ()


def test_what_failed_waits_to_be_tried_again(campaign: Campaign, cast: SimpleNamespace) -> None:
    (run,) = take()
    from_failure = timedelta(seconds=1)
    services.fail_run(run=run, reason=Message("It broke."), code="x", retryable=True, now=LATER - from_failure)
    first = of_trials(campaign, cast.bob)[0]
    assert first is not None
    assert (first.code, first.since, first.until) == (
        "retry", LATER - from_failure, LATER - from_failure + timedelta(seconds=5),
    )  # fmt: skip
    # The others may go on meanwhile.
    assert [each.code for each in of(campaign, cast.bob).reasons] == ["due"]
    Trial.objects.filter(state="pending").exclude(pk=run.trial_id).update(state="cancelled")
    (why,) = of(campaign, cast.bob).reasons
    assert (why.code, why.until, why.is_bounded) == ("retry", first.until, True)


def test_a_paused_campaign_says_since_when_and_by_whom(campaign: Campaign, cast: SimpleNamespace) -> None:
    services.pause_campaign(campaign=campaign, user=cast.oscar)
    services.resume_campaign(campaign=campaign, user=cast.oscar, now=NOW)
    services.pause_campaign(campaign=campaign, user=cast.alice)
    found = of(campaign, cast.bob)
    (why,) = found.reasons
    assert (why.code, why.values["user"]) == ("paused", "alice")
    assert why.since == campaign.events.latest("pk").at
    assert why.text.startswith("paused by alice since ")
    assert not found.has_known_end
    assert {each.code for each in of_trials(campaign, cast.bob) if each} == {"paused"}


def test_a_scheduled_campaign_waits_for_its_date(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast, start_at=NOW + timedelta(days=1))
    make.experiment(draft, *pair)
    assert of(draft, cast.bob) == Waits()
    services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)
    (why,) = of(draft, cast.bob).reasons
    assert (why.code, why.until) == ("scheduled", NOW + timedelta(days=1))
    assert why.text == "waiting for its start until 2026-03-03 10:00 UTC"


def test_a_stage_that_is_about_to_open_waits_for_the_earlier_one(
    campaign: Campaign, cast: SimpleNamespace, nodes: list[Node]
) -> None:
    draft = make.campaign(cast)
    first = make.experiment(draft, *nodes, name="first")
    make.experiment(draft, *nodes, name="second", after=first)
    running = services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)
    assert [each.code for each in of(running, cast.bob).reasons] == ["due"]
    Trial.objects.filter(campaign=running).update(state="succeeded")
    (why,) = of(running, cast.bob).reasons
    assert (why.code, why.text) == ("stage", "waiting for the experiment “first” to end")


@pytest.mark.parametrize("state", ["finished", "cancelled"])
def test_what_has_ended_waits_for_nothing(campaign: Campaign, cast: SimpleNamespace, state: str) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state=state)
    assert of(campaign, cast.bob) == Waits()
    assert not any(of_trials(campaign, cast.bob))


def test_what_has_no_known_end_stands_first(cast: SimpleNamespace) -> None:
    grid = make.wan(cast.team, pairs=3)
    workers.enrol(*grid.left, *grid.right)
    Agent.objects.update(last_seen_at=LATER)
    draft = make.campaign(cast)
    for number in range(3):
        make.experiment(draft, grid.left[number], grid.right[number], name=f"pair {number}", repetitions=number + 1)
    running = services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)
    Agent.objects.filter(node=grid.left[1]).delete()
    lose(grid.right[2])
    assert [(each.code, each.trials) for each in of(running, cast.bob).reasons] == [
        ("agent-lost", 6), ("no-agent", 4),
    ]  # fmt: skip
    take(grid.left[0], grid.right[0])
    found = of(running, cast.bob)
    # Something goes on, though most cannot; how long all will take nobody knows.
    assert (found.is_idle, found.is_stuck, found.has_known_end) == (False, False, False)


def test_a_broker_that_takes_no_work_is_waited_for(campaign: Campaign, cast: SimpleNamespace) -> None:
    assert [each.code for each in of(campaign, cast.bob).reasons] == ["due"]
    with outages.refusing_broker():
        found = of(campaign, cast.bob)
        (why,) = found.reasons
        assert (why.code, why.trials, found.is_stuck, found.has_known_end) == ("broker", 4, True, False)
        assert why.text.startswith(
            "waiting for the message broker, which takes no work (command not allowed when used memory > 'maxmemory')"
        )
        assert why.since is not None
        assert [each.code for each in of_trials(campaign, cast.bob) if each] == ["broker"] * 4
        with translation.override("ko"):
            assert "waiting" not in why.text
    assert [each.code for each in of(campaign, cast.bob).reasons] == ["due"]


def test_every_reason_has_a_sentence_that_needs_only_what_it_is_given() -> None:
    for code, kind in waits.REASONS.items():
        given = {"user": "u", "holder": "h", "trial": 1, "ahead": 2, "words": "w"}
        assert WaitReason(code, kind.text, values=given).text
