"""Runs claimed with all they need or not at all, ended once, and tried again by policy."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import IntegrityError, transaction

from apps.bench.text import Message
from apps.campaigns import services
from apps.campaigns.models import Campaign, Event, Reservation, Run, Trial
from apps.testbeds.models import Link, Node
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW, states, take

REASON = Message("The server on %(node)s refused.", {"node": "pnu01"})


def fail(run: Run, *, retryable: bool = True, now=NOW) -> bool:
    return services.fail_run(run=run, reason=REASON, code="refused", retryable=retryable, now=now)


def held() -> set[str]:
    return set(Reservation.objects.filter(released_at=None).values_list("resource", flat=True))


def test_it_takes_the_first_trial_and_reserves_nodes_and_links(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    (run,) = take()
    assert run.trial.position == 0
    assert run.attempt == 1
    assert states(campaign) == ["running", "pending", "pending", "pending"]
    assert held() == {f"node:{pair[0].pk}", f"node:{pair[1].pk}", f"link:{Link.objects.get().pk}"}


def test_it_takes_nothing_more_while_the_nodes_are_held(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    assert len(take()) == 1
    assert take() == []


def test_it_takes_nothing_while_a_node_is_not_ready(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    assert take(pair[0]) == []
    assert len(take(*pair)) == 1


def test_two_campaigns_never_measure_one_wan_link_at_once(cast: SimpleNamespace) -> None:
    net = make.wan(cast.team, pairs=2)
    first = make.launched(cast, net.left[0], net.right[0], "first")
    second = make.launched(cast, net.left[1], net.right[1], "second")
    (run,) = take()
    assert run.trial.campaign == first
    services.pause_campaign(campaign=first, user=cast.oscar)
    services.succeed_run(run=run, now=NOW)
    (other,) = take()
    assert other.trial.campaign == second


def test_trials_that_share_nothing_run_at_the_same_time(cast: SimpleNamespace) -> None:
    a, b, c, d = make.nodes(cast.team, "a", "b", "c", "d")
    make.link(a, b, "ab")
    make.link(c, d, "cd")
    make.launched(cast, a, b)
    make.launched(cast, c, d)
    assert len(take()) == 2


def test_older_campaigns_come_first_then_experiments_in_their_order(cast: SimpleNamespace, pair: list[Node]) -> None:
    young = make.campaign(cast, name="young")
    make.experiment(young, *pair)
    old = make.campaign(cast, name="old")
    make.experiment(old, *pair, name="late", tool="ping", fixed={}, factors=[], repetitions=1, position=7)
    make.experiment(old, *pair, name="early", tool="ping", fixed={}, factors=[], repetitions=1, position=2)
    services.launch_campaign(campaign=old, user=cast.oscar, now=NOW)
    services.launch_campaign(campaign=young, user=cast.oscar, now=NOW + timedelta(seconds=1))
    order = []
    for _turn in range(6):
        (run,) = take()
        order.append(run.trial.experiment.name)
        services.succeed_run(run=run, now=NOW)
    assert order == ["early", "late", "windows", "windows", "windows", "windows"]


def test_lanes_over_one_link_take_turns_in_the_order_of_the_trials(cast: SimpleNamespace) -> None:
    net = make.wan(cast.team, pairs=2)
    left = make.cluster(cast.team, "left", *net.left)
    campaign = make.launched(cast, left, net.right[0], order="randomised", seed=4)
    taken = []
    for _turn in range(8):
        (run,) = take()
        taken.append(run.trial.position)
        services.succeed_run(run=run, now=NOW)
    assert taken == list(range(8))
    lanes = Trial.objects.filter(campaign=campaign).order_by("position").values_list("lane", flat=True)
    assert list(lanes[:4]) != sorted(lanes[:4])


def test_it_takes_no_more_than_the_limit(cast: SimpleNamespace) -> None:
    nodes = make.nodes(cast.team, *"abcdef")
    for client, server in zip(nodes[::2], nodes[1::2], strict=True):
        make.launched(cast, client, server)
    assert len(take(limit=2)) == 2
    assert len(take(limit=2)) == 1


def test_a_success_ends_run_and_trial_and_gives_everything_back(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    (run,) = take()
    assert services.succeed_run(run=run, now=NOW)
    run.refresh_from_db()
    trial = Trial.objects.get(pk=run.trial_id)
    assert (run.state, run.ended_at) == ("succeeded", NOW)
    assert (trial.state, trial.finished_at, trial.reason) == ("succeeded", NOW, None)
    assert held() == set()
    assert states(campaign)[1:] == ["pending"] * 3


def test_a_run_ends_once_whatever_comes_later(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    (run,) = take()
    assert services.succeed_run(run=run, now=NOW)
    assert not services.succeed_run(run=run, now=NOW)
    assert not fail(run)
    assert not services.cancel_run(run=run, now=NOW)
    assert Run.objects.get().state == "succeeded"


def test_a_failure_is_tried_again_after_the_wait_and_keeps_every_attempt(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    make.launched(cast, *pair, factors=[], repetitions=1, retry_wait_s=5)
    (run,) = take()
    assert fail(run)
    trial = Trial.objects.get()
    assert (trial.state, trial.not_before) == ("pending", NOW + timedelta(seconds=5))
    assert trial.reason["message"] == REASON.as_json()
    assert take(now=NOW + timedelta(seconds=4)) == []
    (again,) = take(now=NOW + timedelta(seconds=5))
    assert again.attempt == 2
    services.succeed_run(run=again, now=NOW)
    trial.refresh_from_db()
    assert (trial.state, trial.reason, trial.attempts) == ("succeeded", None, 2)
    assert list(trial.runs.values_list("attempt", "state")) == [(1, "failed"), (2, "succeeded")]


def test_others_of_the_lane_go_on_while_one_waits_for_its_retry(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    fail(take()[0])
    (next_run,) = take()
    assert next_run.trial.position == 1


def test_a_trial_fails_for_good_after_its_last_attempt(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair, factors=[], repetitions=1, max_attempts=2, retry_wait_s=0)
    fail(take()[0])
    fail(take()[0])
    trial = Trial.objects.get()
    assert (trial.state, trial.attempts) == ("failed", 2)
    assert trial.reason["code"] == "refused"
    assert trial.runs.count() == 2
    assert take() == []


def test_what_cannot_get_better_fails_at_once(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair, factors=[], repetitions=1)
    fail(take()[0], retryable=False)
    assert Trial.objects.get().state == "failed"


def test_each_failure_is_in_the_log_with_its_reason(
    cast: SimpleNamespace, pair: list[Node], django_capture_on_commit_callbacks
) -> None:
    make.launched(cast, *pair, factors=[], repetitions=1, max_attempts=2, retry_wait_s=0)
    fail(take()[0])
    fail(take()[0])
    last, first = Event.objects.filter(trial__isnull=False)
    assert (first.level, last.level) == ("warning", "error")
    assert first.message["params"]["why"] == REASON.as_json()
    assert last.message["params"]["attempt"] == 2


def test_a_campaign_finishes_with_its_last_trial(
    cast: SimpleNamespace, pair: list[Node], django_capture_on_commit_callbacks
) -> None:
    campaign = make.launched(cast, *pair, repetitions=1)
    for expected in ("running", "finished"):
        (run,) = take()
        with django_capture_on_commit_callbacks(execute=True):
            services.succeed_run(run=run, now=NOW)
        campaign.refresh_from_db()
        assert campaign.state == expected
    assert campaign.finished_at == NOW
    assert campaign.events.first().message["params"] == {"measured": 2, "failed": 0}


def test_a_campaign_whose_end_was_missed_is_finished_later(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair, factors=[], repetitions=1)
    services.succeed_run(run=take()[0], now=NOW)
    services.finish_campaigns(now=NOW)
    campaign.refresh_from_db()
    assert campaign.state == "finished"
    assert not services.finish_campaign(campaign_id=campaign.pk, now=NOW)


def test_a_campaign_with_trials_left_or_gone_is_not_finished(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    services.finish_campaigns(now=NOW)
    assert not services.finish_campaign(campaign_id=campaign.pk, now=NOW)
    assert not services.finish_campaign(campaign_id=0, now=NOW)
    campaign.refresh_from_db()
    assert campaign.state == "running"


def test_the_database_refuses_a_second_holder(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    (run,) = take()
    with pytest.raises(IntegrityError, match="one_holder_at_a_time"), transaction.atomic():
        Reservation.objects.create(resource=f"node:{pair[0].pk}", run=run)
    services.succeed_run(run=run, now=NOW)
    Reservation.objects.create(resource=f"node:{pair[0].pk}", run=run)


def test_a_resource_taken_a_moment_ago_leaves_the_trial_pending(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = make.launched(cast, *pair)
    (run,) = take()
    lanes = list(campaign.experiments.get().lanes.all())
    for lane in lanes:
        lane.next_trial = Trial.objects.filter(state="pending").earliest("position").pk
    monkeypatch.setattr("apps.campaigns.queries.startable_lanes", lambda *, now, ready_nodes, needing: lanes)
    assert take() == []
    assert Run.objects.get() == run
    assert states(campaign) == ["running", "pending", "pending", "pending"]


def test_a_trial_claimed_a_moment_ago_is_left_alone(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = make.launched(cast, *pair)
    (run,) = take()
    lanes = list(campaign.experiments.get().lanes.all())
    for lane in lanes:
        lane.next_trial = run.trial_id
    monkeypatch.setattr("apps.campaigns.queries.startable_lanes", lambda *, now, ready_nodes, needing: lanes)
    assert take() == []
    assert Run.objects.count() == 1


def test_a_look_for_what_needs_some_resources_leaves_all_else(cast: SimpleNamespace) -> None:
    a, b, c, d = make.nodes(cast.team, "a", "b", "c", "d")
    make.launched(cast, a, b)
    other = make.launched(cast, c, d)
    (run,) = take(needing=[f"node:{d.pk}", "link:1"])
    assert run.trial.campaign == other
    assert take(needing=["link:1"]) == []
    assert len(take()) == 1


def test_claims_take_few_queries_however_many_lanes_wait(
    cast: SimpleNamespace, django_assert_max_num_queries
) -> None:
    nodes = make.nodes(cast.team, *(f"n{i}" for i in range(21)))
    hub = nodes.pop()
    make.launched(cast, make.cluster(cast.team, "all", *nodes), hub)
    with django_assert_max_num_queries(9):
        assert len(take()) == 1
    with django_assert_max_num_queries(4):
        assert take() == []


def test_nothing_is_taken_of_a_campaign_that_does_not_run(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    Campaign.objects.update(state="paused")
    assert take() == []
    services.resume_campaign(campaign=campaign, user=cast.oscar, now=NOW)
    assert len(take()) == 1
