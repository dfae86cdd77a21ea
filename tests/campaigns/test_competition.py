"""Several processes that claim, end and launch at once: the database lets one of them win."""

import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest

from apps.campaigns import services
from apps.campaigns.models import Campaign, Reservation, Run, Trial
from tests import factories
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW, take
from tests.competing import WORKERS, at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cast(transactional_db: None) -> SimpleNamespace:
    """Return the named cast, in a database that other connections see."""
    return factories.cast()


def test_two_lanes_over_one_link_are_never_both_taken(cast: SimpleNamespace) -> None:
    net = make.wan(cast.team, pairs=4)
    for left, right in zip(net.left, net.right, strict=True):
        make.launched(cast, left, right, factors=[], repetitions=1)
    for _round in range(4):
        taken = [run for runs in at_once(take) for run in runs]
        assert len(taken) == 1
        assert Reservation.objects.filter(resource=f"link:{net.wan.pk}", released_at=None).count() == 1
        services.succeed_run(run=taken[0], now=NOW)
    assert Run.objects.count() == 4
    assert not Campaign.objects.exclude(state="finished").exists()


def test_many_free_lanes_are_shared_out_without_a_trial_lost_or_taken_twice(cast: SimpleNamespace) -> None:
    nodes = make.nodes(cast.team, *(f"n{i}" for i in range(40)))
    for client, server in zip(nodes[::2], nodes[1::2], strict=True):
        make.launched(cast, client, server, factors=[], repetitions=2)
    given = at_once(take)
    runs = [run.pk for taken in given for run in taken]
    assert len(runs) == len(set(runs)) == 20
    assert Trial.objects.filter(state="running").count() == 20
    assert Reservation.objects.filter(released_at=None).count() == 40


def test_a_run_that_several_workers_end_ends_once(cast: SimpleNamespace) -> None:
    pair = make.nodes(cast.team, "a", "b")
    make.launched(cast, *pair, factors=[], repetitions=1)
    (run,) = take()
    given = at_once(lambda: services.succeed_run(run=Run.objects.get(pk=run.pk), now=NOW))
    assert sorted(given) == [False, False, False, True]
    campaign = Campaign.objects.get()
    assert campaign.state == "finished"
    assert campaign.events.filter(message__msgid__startswith="Finished").count() == 1


def test_of_the_last_two_trials_that_end_at_once_one_finishes_the_campaign(cast: SimpleNamespace) -> None:
    nodes = make.nodes(cast.team, *(f"n{i}" for i in range(8)))
    left = make.cluster(cast.team, "left", *nodes[:4])
    for number in range(3):
        Campaign.objects.all().delete()
        draft = make.campaign(cast, name=f"round {number}")
        for client, server in zip(left.nodes.all(), nodes[4:], strict=True):
            make.experiment(draft, client, server, factors=[], repetitions=1)
        services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)
        runs = take()
        assert len(runs) == WORKERS
        waiting = iter(runs)
        lock = threading.Lock()

        def end_one(waiting=waiting, lock=lock) -> bool:
            with lock:
                run = next(waiting)
            return services.succeed_run(run=run, now=NOW)

        assert at_once(end_one) == [True] * WORKERS
        draft.refresh_from_db()
        assert draft.state == "finished"


def test_a_date_fires_once_however_many_look(cast: SimpleNamespace) -> None:
    pair = make.nodes(cast.team, "a", "b")
    series = make.campaign(cast, cron="0 * * * *")
    make.experiment(series, *pair)
    services.launch_campaign(campaign=series, user=cast.oscar, now=NOW)
    given = at_once(lambda: services.launch_due(now=NOW + timedelta(hours=1)))
    assert sum(len(launched) for launched in given) == 1
    assert series.occurrences.count() == 1


def test_a_draft_is_launched_once_however_often_the_button_is_pressed(cast: SimpleNamespace) -> None:
    pair = make.nodes(cast.team, "a", "b")
    draft = make.campaign(cast)
    make.experiment(draft, *pair)
    given = at_once(lambda: services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW))
    assert len([outcome for outcome in given if isinstance(outcome, Campaign)]) == 1
    assert Trial.objects.count() == 4
