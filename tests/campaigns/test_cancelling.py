"""Campaigns cancelled while many trials wait: those are marked by a worker, bit by bit."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from apps.campaigns import services
from apps.campaigns.models import Campaign
from apps.campaigns.services import completion
from apps.core import queue
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW, states
from workers import tasks


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the tasks that were asked for."""
    tasks: list[str] = []
    monkeypatch.setattr(queue, "send", lambda task, *_args: tasks.append(task))
    return tasks


def cancelled(cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch) -> Campaign:
    monkeypatch.setattr(completion, "BATCH", 3)
    campaign = make.launched(cast, *pair, repetitions=4)
    return services.cancel_campaign(campaign=campaign, user=cast.oscar, now=NOW)


def mark_all(sent: list[str]) -> None:
    """Have a worker mark trials as long as it asks to come back."""
    sent.append(queue.CANCEL_LEFTOVERS)
    while sent:
        sent.clear()
        tasks.cancel_leftovers()


def test_the_first_are_marked_at_once_and_the_rest_by_a_worker(
    cast: SimpleNamespace, pair: list[Node], sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = cancelled(cast, pair, monkeypatch)
    assert states(campaign).count("pending") == 5
    assert sent[-1] == queue.CANCEL_LEFTOVERS
    assert not make.take()
    mark_all(sent)
    assert set(states(campaign)) == {"cancelled"}


def test_a_worker_marks_a_batch_of_each_and_comes_back(
    cast: SimpleNamespace, pair: list[Node], sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = [cancelled(cast, pair, monkeypatch) for _number in range(2)]
    sent.clear()
    tasks.cancel_leftovers()
    assert [states(campaign).count("pending") for campaign in both] == [2, 2]
    assert sent == [queue.CANCEL_LEFTOVERS]
    tasks.cancel_leftovers()
    assert {state for campaign in both for state in states(campaign)} == {"cancelled"}
    assert sent == [queue.CANCEL_LEFTOVERS]


def test_a_lost_message_is_made_good(
    cast: SimpleNamespace, pair: list[Node], sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled(cast, pair, monkeypatch)
    sent.clear()
    services.resume_cancelling(now=NOW)
    assert not sent
    services.resume_cancelling(now=NOW + timedelta(minutes=1))
    assert sent == [queue.CANCEL_LEFTOVERS]
    mark_all(sent)
    services.resume_cancelling(now=NOW + timedelta(minutes=1))
    assert not sent


def test_what_was_left_is_marked_however_long_the_service_was_off(
    cast: SimpleNamespace, pair: list[Node], sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = cancelled(cast, pair, monkeypatch)
    sent.clear()
    later = NOW + timedelta(days=30)
    services.resume_cancelling(now=later)
    assert sent == [queue.CANCEL_LEFTOVERS]
    mark_all(sent)
    assert set(states(campaign)) == {"cancelled"}


def test_trials_of_a_campaign_that_goes_on_are_not_touched(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    assert not completion.cancel_pending(campaign_id=campaign.pk, now=NOW)
    services.cancel_leftovers(now=NOW)
    assert set(states(campaign)) == {"pending"}
