"""The agent's idea of the server's clock."""

import threading
import time

import pytest

from workers.agent import clock, steady


def exchange(kept: clock.Clock, offset: float, there: float, back: float) -> None:
    """Have a clock take in an exchange with a server whose clock is `offset` ahead."""
    sent = time.time()
    arrived = sent + there + offset
    kept.add(sent, arrived, arrived + 0.01, sent + there + 0.01 + back)


def test_the_exchange_of_the_least_round_trip_is_believed() -> None:
    kept = clock.Clock()
    assert kept.best() is None
    assert kept.as_json() is None
    exchange(kept, 5.0, 0.030, 0.010)
    exchange(kept, 5.0, 0.001, 0.001)
    exchange(kept, 5.0, 0.010, 0.030)
    best = kept.best()
    assert best.offset_s == pytest.approx(5.0, abs=1e-6)
    assert best.error_s == pytest.approx(0.001, abs=1e-6)
    assert set(kept.as_json()) == {"offset_s", "error_s"}


def test_the_error_covers_a_path_that_is_slower_one_way() -> None:
    kept = clock.Clock()
    exchange(kept, -3.0, 0.040, 0.0)
    best = kept.best()
    assert abs(best.offset_s - -3.0) <= best.error_s + 1e-6


def test_a_server_whose_clock_was_set_is_believed_at_once() -> None:
    kept = clock.Clock()
    exchange(kept, 5.0, 0.001, 0.001)
    exchange(kept, 7.0, 0.020, 0.020)
    assert kept.best().offset_s == pytest.approx(7.0, abs=1e-6)


def test_a_clock_that_is_set_changes_no_time_and_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = clock.Clock()
    exchange(kept, 5.0, 0.001, 0.001)
    before = steady.now()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 3600)
    assert 0 <= steady.now() - before < 60
    assert kept.best().offset_s == pytest.approx(5.0, abs=1e-3)
    assert kept.as_json()["set_s"] == pytest.approx(3600, abs=1)
    assert kept.was_set() == pytest.approx(3600, abs=1)
    assert kept.was_set() == 0
    monkeypatch.setattr(time, "time", real)
    assert kept.was_set() == pytest.approx(-3600, abs=1)


def test_waiting_ends_at_the_instant_of_the_servers_clock() -> None:
    kept = clock.Clock()
    exchange(kept, 100.0, 0.0001, 0.0001)
    began = time.time()
    assert kept.wait_until(began + 100.2, threading.Event())
    assert 0.199 < time.time() - began < 5
    assert kept.wait_until(began, threading.Event()), "an instant that is past does not wait"
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    assert not kept.wait_until(began + 1000, stop)
