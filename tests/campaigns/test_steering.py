"""Campaigns paused, resumed, cancelled, withdrawn, and run again where they failed."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from apps.bench.text import Message
from apps.campaigns import errors, services
from apps.campaigns.models import Campaign, Reservation, Trial
from apps.core import queue
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW, states, take


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Return the messages to workers that are sent from now on."""
    messages: list[tuple[object, ...]] = []
    monkeypatch.setattr(queue, "send", lambda *message: messages.append(message))
    return messages


def fail_one(retryable: bool = False) -> None:
    services.fail_run(run=take()[0], reason=Message("No route."), code="no-route", retryable=retryable, now=NOW)


def test_a_paused_campaign_starts_nothing_but_ends_what_it_began(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    (run,) = take()
    assert services.pause_campaign(campaign=campaign, user=cast.oscar).state == "paused"
    services.succeed_run(run=run, now=NOW)
    assert take() == []
    assert states(campaign) == ["succeeded", "pending", "pending", "pending"]


def test_a_resumed_campaign_goes_on(cast: SimpleNamespace, pair: list[Node], sent: list) -> None:
    campaign = make.launched(cast, *pair)
    services.pause_campaign(campaign=campaign, user=cast.oscar)
    sent.clear()
    assert services.resume_campaign(campaign=campaign, user=cast.oscar, now=NOW).state == "running"
    assert sent == [(queue.SCHEDULE,)]
    assert len(take()) == 1


def test_a_paused_series_misses_its_dates_and_goes_on_with_the_next(cast: SimpleNamespace, pair: list[Node]) -> None:
    series = make.campaign(cast, cron="0 * * * *")
    make.experiment(series, *pair)
    services.launch_campaign(campaign=series, user=cast.oscar, now=NOW)
    services.pause_campaign(campaign=series, user=cast.oscar)
    later = NOW + timedelta(hours=3, minutes=20)
    assert services.launch_due(now=later) == []
    resumed = services.resume_campaign(campaign=series, user=cast.oscar, now=later)
    assert (resumed.state, resumed.next_at) == ("scheduled", NOW + timedelta(hours=4))


def test_a_single_start_missed_while_paused_is_made_up_for(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.campaign(cast, start_at=NOW + timedelta(hours=1))
    make.experiment(campaign, *pair)
    services.launch_campaign(campaign=campaign, user=cast.oscar, now=NOW)
    services.pause_campaign(campaign=campaign, user=cast.oscar)
    services.resume_campaign(campaign=campaign, user=cast.oscar, now=NOW + timedelta(hours=2))
    assert services.launch_due(now=NOW + timedelta(hours=2)) == [campaign]


def test_a_cancelled_campaign_starts_nothing_and_has_its_runs_stopped(
    cast: SimpleNamespace, pair: list[Node], sent: list
) -> None:
    campaign = make.launched(cast, *pair)
    (run,) = take()
    sent.clear()
    cancelled = services.cancel_campaign(campaign=campaign, user=cast.oscar, now=NOW)
    assert (cancelled.state, cancelled.finished_at) == ("cancelled", NOW)
    assert sent == [(queue.JOB_CHANGED, run.pk)]
    assert states(campaign) == ["running", "cancelled", "cancelled", "cancelled"]
    assert services.cancel_run(run=run, now=NOW)
    assert set(states(campaign)) == {"cancelled"}
    assert not Reservation.objects.filter(released_at=None).exists()


def test_a_cancelled_series_has_no_further_dates(cast: SimpleNamespace, pair: list[Node]) -> None:
    series = make.campaign(cast, cron="0 * * * *")
    make.experiment(series, *pair)
    services.launch_campaign(campaign=series, user=cast.oscar, now=NOW)
    assert services.cancel_campaign(campaign=series, user=cast.oscar, now=NOW).next_at is None
    assert services.launch_due(now=NOW + timedelta(days=1)) == []


def test_a_withdrawn_campaign_can_be_changed_again(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.campaign(cast, start_at=NOW + timedelta(hours=1))
    experiment = make.experiment(campaign, *pair)
    services.launch_campaign(campaign=campaign, user=cast.oscar, now=NOW)
    assert services.withdraw_campaign(campaign=campaign, user=cast.oscar).state == "draft"
    services.update_experiment(experiment=experiment, user=cast.oscar, repetitions=7)
    assert services.launch_due(now=NOW + timedelta(days=1)) == []


def test_only_failed_trials_are_run_again(cast: SimpleNamespace, pair: list[Node], sent: list) -> None:
    campaign = make.launched(cast, *pair, repetitions=1)
    fail_one()
    services.succeed_run(run=take()[0], now=NOW)
    services.finish_campaigns(now=NOW)
    sent.clear()
    assert services.rerun_failed(campaign=campaign, user=cast.oscar) == 1
    campaign.refresh_from_db()
    assert (campaign.state, campaign.finished_at) == ("running", None)
    assert states(campaign) == ["pending", "succeeded"]
    assert sent == [(queue.SCHEDULE,)]
    (again,) = take()
    assert (again.attempt, again.trial.position) == (2, 0)
    services.succeed_run(run=again, now=NOW)
    services.finish_campaigns(now=NOW)
    assert states(campaign) == ["succeeded", "succeeded"]
    assert campaign.trials.first().runs.count() == 2


def test_trials_run_again_get_as_many_attempts_as_at_first(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair, factors=[], repetitions=1, max_attempts=2, retry_wait_s=0)
    fail_one(retryable=True)
    fail_one(retryable=True)
    assert states(campaign) == ["failed"]
    services.rerun_failed(campaign=campaign, user=cast.oscar)
    fail_one(retryable=True)
    assert states(campaign) == ["pending"]
    fail_one(retryable=True)
    assert states(campaign) == ["failed"]
    assert Trial.objects.get().attempts == 4


def test_a_paused_campaign_stays_paused_when_failures_are_put_back(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    fail_one()
    services.pause_campaign(campaign=campaign, user=cast.oscar)
    services.rerun_failed(campaign=campaign, user=cast.oscar)
    campaign.refresh_from_db()
    assert campaign.state == "paused"


def test_without_failures_there_is_nothing_to_run_again(cast: SimpleNamespace, pair: list[Node]) -> None:
    with pytest.raises(errors.WrongState, match="nothing to run again"):
        services.rerun_failed(campaign=make.launched(cast, *pair), user=cast.oscar)


def pause(campaign: Campaign, user) -> None:
    services.pause_campaign(campaign=campaign, user=user)


def resume(campaign: Campaign, user) -> None:
    services.resume_campaign(campaign=campaign, user=user, now=NOW)


def cancel(campaign: Campaign, user) -> None:
    services.cancel_campaign(campaign=campaign, user=user, now=NOW)


def withdraw(campaign: Campaign, user) -> None:
    services.withdraw_campaign(campaign=campaign, user=user)


def rerun(campaign: Campaign, user) -> None:
    services.rerun_failed(campaign=campaign, user=user)


@pytest.mark.parametrize(
    ("action", "state"),
    [
        (pause, "draft"),
        (pause, "finished"),
        (resume, "running"),
        (resume, "cancelled"),
        (cancel, "draft"),
        (cancel, "finished"),
        (withdraw, "running"),
        (rerun, "draft"),
        (rerun, "cancelled"),
    ],
)
def test_an_action_that_the_state_does_not_allow_is_refused(
    cast: SimpleNamespace, action: Callable, state: str
) -> None:
    campaign = make.campaign(cast)
    Campaign.objects.update(state=state)
    with pytest.raises(errors.WrongState) as caught:
        action(campaign, cast.oscar)
    assert caught.value.message_dict["state"][0].startswith("Only")
    campaign.refresh_from_db()
    assert campaign.state == state


@pytest.mark.parametrize("action", [pause, resume, cancel, withdraw, rerun])
def test_viewers_and_strangers_steer_nothing(cast: SimpleNamespace, pair: list[Node], action: Callable) -> None:
    campaign = make.launched(cast, *pair)
    with pytest.raises(PermissionDenied):
        action(campaign, cast.bob)
    with pytest.raises(Http404):
        action(campaign, cast.charlie)


def test_who_did_it_is_in_the_log(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    pause(campaign, cast.oscar)
    resume(campaign, cast.alice)
    cancel(campaign, cast.oscar)
    assert [event.message["params"].get("user") for event in campaign.events.all()[:3]] == ["oscar", "alice", "oscar"]
