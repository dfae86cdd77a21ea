"""The agent's idea of the server's clock."""

import threading
import time
from typing import Any

import pytest

from workers import common_start
from workers.agent import clock, orders, steady
from workers.agent.gate import Gate
from workers.agent.refusals import CannotStart


def exchange(own_clock: clock.Clock, offset: float, there: float, back: float) -> None:
    """Have a clock take in an exchange with a server whose clock is `offset` ahead."""
    sent = time.time()
    arrived = sent + there + offset
    own_clock.add(sent, arrived, arrived + 0.01, sent + there + 0.01 + back)


def test_the_exchange_of_the_least_round_trip_is_believed() -> None:
    own_clock = clock.Clock()
    assert own_clock.best() is None
    assert own_clock.as_json() is None
    exchange(own_clock, 5.0, 0.030, 0.010)
    exchange(own_clock, 5.0, 0.001, 0.001)
    exchange(own_clock, 5.0, 0.010, 0.030)
    best = own_clock.best()
    assert best.offset_s == pytest.approx(5.0, abs=1e-6)
    assert best.error_s == pytest.approx(0.001, abs=1e-6)
    assert set(own_clock.as_json()) == {"offset_s", "error_s"}


def test_the_error_covers_a_path_that_is_slower_one_way() -> None:
    own_clock = clock.Clock()
    exchange(own_clock, -3.0, 0.040, 0.0)
    best = own_clock.best()
    assert abs(best.offset_s - -3.0) <= best.error_s + 1e-6


def test_a_server_whose_clock_was_set_is_believed_at_once() -> None:
    own_clock = clock.Clock()
    exchange(own_clock, 5.0, 0.001, 0.001)
    exchange(own_clock, 7.0, 0.020, 0.020)
    assert own_clock.best().offset_s == pytest.approx(7.0, abs=1e-6)


def test_a_clock_that_is_set_changes_no_time_and_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    own_clock = clock.Clock()
    exchange(own_clock, 5.0, 0.001, 0.001)
    before = steady.now()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 3600)
    assert 0 <= steady.now() - before < 60
    assert own_clock.best().offset_s == pytest.approx(5.0, abs=1e-3)
    assert own_clock.as_json()["set_s"] == pytest.approx(3600, abs=1)
    assert own_clock.was_set() == pytest.approx(3600, abs=1)
    assert own_clock.was_set() == 0
    monkeypatch.setattr(time, "time", real)
    assert own_clock.was_set() == pytest.approx(-3600, abs=1)


def test_waiting_ends_at_the_instant_of_the_servers_clock() -> None:
    own_clock = clock.Clock()
    exchange(own_clock, 100.0, 0.0001, 0.0001)
    began = time.time()
    assert own_clock.wait_until(began + 100.2, threading.Event())
    assert 0.199 < time.time() - began < 5
    assert own_clock.wait_until(began, threading.Event()), "an instant that is past does not wait"
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    assert not own_clock.wait_until(began + 100 + clock.FURTHEST_START_S - 1, stop)


def test_whoever_waits_for_an_instant_follows_the_servers_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "LOOK_EVERY_S", 0.05)
    own_clock = clock.Clock()
    exchange(own_clock, 0.0, 0.0001, 0.0001)
    start, began = time.time() + 60, time.monotonic()
    threading.Timer(0.2, lambda: exchange(own_clock, 60.0, 0.0001, 0.0001)).start()
    assert own_clock.wait_until(start, threading.Event())
    assert time.monotonic() - began < 5
    # Set right again, or planned so far ahead from the beginning.
    threading.Timer(0.2, lambda: exchange(own_clock, -7200.0, 0.0001, 0.0001)).start()
    for ahead_s in (70, 7200):
        with pytest.raises(CannotStart) as refused:
            own_clock.wait_until(time.time() + 60 + ahead_s, threading.Event())
        assert refused.value.fault == "server-clock-set"
    assert time.monotonic() - began < 10


def test_no_program_is_held_for_a_clock_that_is_set_as_it_begins() -> None:
    gate = Gate(steady.now() + 7200)
    began = time.monotonic()
    gate.hold()
    assert time.monotonic() - began < 5


@pytest.mark.django_db
def test_what_servers_plan_is_no_start_that_agents_refuse(settings: Any) -> None:
    settings.START_LEAD_S = 86400.0
    start = common_start.common_start(nodes=[])
    assert 2 * (start.timestamp() - time.time()) <= clock.FURTHEST_START_S
    own_clock = clock.Clock()
    exchange(own_clock, 100.0, 0.0001, 0.0001)
    answer = {"jobs": [{"start_at": time.time() + at} for at in (101, 5000, -9)] + [{"start_at": None}, 3, {}]}
    starts = orders.starts_in(answer)
    assert list(map(own_clock.is_usual_start, starts)) == [True, False, False]
