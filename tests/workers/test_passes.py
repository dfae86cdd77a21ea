"""Passes of `schedule` that run at once leave no lane that could start and that nobody would wake."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection

from apps.campaigns import queries
from apps.campaigns.models import Reservation, Run
from tests import factories
from tests.campaigns import factories as make
from tests.workers import factories as workers
from workers import carry_out

pytestmark = pytest.mark.django_db(transaction=True)
LANES, PASSES = 12, 2


@pytest.fixture
def cast(transactional_db: None) -> SimpleNamespace:
    """Return the named cast, in a database that other connections see."""
    return factories.cast()


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Have each pass choose its first lanes before another has claimed one; return how many looked how often."""
    barrier, looks, choose = threading.Barrier(PASSES), threading.local(), queries.startable_lanes
    counts: list[int] = []

    def startable_lanes(**asked: Any) -> list[queries.Startable]:
        chosen = choose(**asked)
        if not getattr(looks, "begun", False):
            looks.begun = True
            counts.append(len(chosen))
            barrier.wait(30)
        return chosen

    monkeypatch.setattr(queries, "startable_lanes", startable_lanes)
    monkeypatch.setattr(carry_out, "BATCH", 5)
    return counts


def pass_at_once() -> list[int]:
    """Have passes run in threads, each with its own connection; return how many trials each started."""
    started: list[int] = []

    def one() -> None:
        try:
            started.append(carry_out.schedule())
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _number in range(PASSES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return started


def test_two_passes_at_once_start_every_lane(cast: SimpleNamespace, together: list[int]) -> None:
    nodes = make.nodes(cast.team, *(f"n{number}" for number in range(2 * LANES)))
    workers.enrol(*nodes)
    for client, server in zip(nodes[::2], nodes[1::2], strict=True):
        make.launched(cast, client, server, factors=[], repetitions=1)
    started = pass_at_once()
    # Both chose of all of them, so each lost claims to the other.
    assert together == [LANES] * PASSES
    assert sum(started) == LANES == Run.objects.filter(state="running").count()


def test_a_lane_that_waited_for_one_whose_claim_was_lost_is_started(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lane a-b is chosen, and lost, for another process takes a: b-c, which was passed over for it, can start."""
    a, b, c = make.nodes(cast.team, "a", "b", "c")
    workers.enrol(a, b, c)
    for client, server in ((a, b), (b, c)):
        make.launched(cast, client, server, factors=[], repetitions=1)
    other = _elsewhere(cast)
    choose, taken = queries.startable_lanes, []

    def startable_lanes(**asked: Any) -> list[queries.Startable]:
        chosen = choose(**asked)
        if not taken:
            taken.append(Reservation.objects.create(resource=f"node:{a.pk}", run=other, taken_at=make.NOW))
        return chosen

    monkeypatch.setattr(queries, "startable_lanes", startable_lanes)
    assert carry_out.schedule() == 1
    assert Run.objects.get(state="running").trial.lane.resources[0] == f"node:{b.pk}"


def _elsewhere(cast: SimpleNamespace) -> Run:
    """Return a run of other nodes, which holds what a test says."""
    e, f = make.nodes(cast.team, "e", "f")
    make.launched(cast, e, f, factors=[], repetitions=1)
    return make.take(e, f)[0]
