"""Workers and the timetable give signs of life while their main loops come round, and only then."""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from celery.schedules import schedule as celery_schedule
from celery.worker import state

from apps.core import broker, clock
from apps.core import signs as given
from tests.hanging import held
from workers import children, signs
from workers.celery import app


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the file that a process of this test touches; signs come quickly, and none is left."""
    client = broker.client(timeout_s=1)
    client.delete(given._KEY)
    monkeypatch.setenv(signs.FILE, str(tmp_path / "sign"))
    monkeypatch.setattr(signs, "EVERY_S", 0.05)
    monkeypatch.setattr(signs, "_PATIENCE_S", 1.0)
    yield tmp_path / "sign"
    client.delete(given._KEY)


def is_touched_again(file: Path, within_s: float = 20, come_round: Callable[[], object] = lambda: None) -> bool:
    """Remove the file and return whether it comes back, while a loop comes round (on a busy machine, slowly)."""
    file.unlink(missing_ok=True)
    return wait_for(lambda: (come_round(), file.exists())[1], within_s)


def wait_for(condition: Callable[[], object], within_s: float = 20) -> bool:
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def silent(file: Path) -> bool:
    """Return whether the file is no longer touched, once the patience is over."""
    return wait_for(lambda: not is_touched_again(file, within_s=0.5))


def test_a_loop_that_comes_round_gives_signs_and_one_that_does_not_gives_none(file: Path) -> None:
    life = signs.Life("worker@here")
    life.start()
    try:
        assert is_touched_again(file, come_round=life.beat)
        (sign,) = given.given()
        assert (sign.part, sign.turn_at, sign.is_silent) == ("worker", None, False)
        life.note_turn()
        assert wait_for(lambda: (life.beat(), given.given()[0].turn_at is not None)[1])
        assert silent(file)
        assert is_touched_again(file, come_round=life.beat)
    finally:
        life.stop()
    assert wait_for(lambda: given.given() == [])


def test_a_loop_that_waits_for_the_broker_lives(file: Path, settings: Any, request: pytest.FixtureRequest) -> None:
    life = signs.Life("worker@here")
    settings.REDIS_URL, there = "unix:///nowhere/redis.sock", settings.REDIS_URL
    given._client.cache_clear()
    request.addfinalizer(given._client.cache_clear)
    life.start()
    try:
        time.sleep(2 * signs._PATIENCE_S)
        assert is_touched_again(file)
        # Once the broker is back it has its whole patience again, and then has come to a halt.
        settings.REDIS_URL = there
        given._client.cache_clear()
        assert silent(file)
    finally:
        life.stop()


def test_a_worker_that_takes_nothing_although_something_waits_is_stuck(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = broker.client(timeout_s=1)
    client.delete("tests.waiting")
    backlog = signs._Backlog(["tests.waiting"], children.Children(list, after_s=30, most_bytes=1 << 40))
    under_way = Request()
    assert not backlog.is_stuck()
    client.rpush("tests.waiting", "message")
    try:
        # Not yet, however slowly this goes on.
        monkeypatch.setattr(signs, "_PATIENCE_S", 600.0)
        assert not backlog.is_stuck()
        monkeypatch.setattr(signs, "_PATIENCE_S", 1.0)
        assert wait_for(backlog.is_stuck)
        # It took one.
        state.all_total_count[0] += 1
        assert not backlog.is_stuck()
        time.sleep(1.2)
        state.active_requests.add(under_way)
        # The only one it has processes for: others wait, and that is no halt.
        assert not backlog.is_stuck()
    finally:
        state.active_requests.discard(under_way)
        state.all_total_count[0] -= 1
        client.delete("tests.waiting")


def test_a_worker_whose_children_hang_and_cannot_be_killed_is_stuck(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = broker.client(timeout_s=1)
    client.rpush("tests.waiting", "message")
    monkeypatch.setattr(children, "_LATER_THAN_SUPERVISOR_S", 0.0)
    # As the kernel lets none end that waits for a disk which is gone.
    monkeypatch.setattr(children, "_kill", lambda _pid, _found: None)
    with subprocess.Popen(["sleep", "600"]) as child, held([child.pid]):
        offspring = children.Children(lambda: [child], after_s=0.2, most_bytes=1 << 40)
        backlog, under_way = signs._Backlog(["tests.waiting"], offspring), Request()
        state.active_requests.add(under_way)
        try:
            assert not backlog.is_stuck()
            assert wait_for(lambda: is_stuck_at_next_look(offspring, backlog))
            assert (offspring.hung_s() or 0) > 0.2
        finally:
            state.active_requests.discard(under_way)
            client.delete("tests.waiting")
            child.kill()


def is_stuck_at_next_look(offspring: children.Children, backlog: signs._Backlog) -> bool:
    offspring.watch()
    return backlog.is_stuck()


class Request:
    """A request under way."""


def test_the_timetable_comes_round_every_few_seconds_though_nothing_is_due(file: Path) -> None:
    timetable = signs.Timetable(app=app, lazy=True)
    timetable.schedule = {}
    try:
        assert timetable.tick() <= signs._LONGEST_SLEEP_S
        assert is_touched_again(file, come_round=timetable.tick)
        assert [sign.part for sign in given.given()] == [given.TIMETABLE]
    finally:
        timetable.close()
    assert wait_for(lambda: given.given() == [])


def test_without_a_supervisor_there_is_no_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(signs.FILE)
    life = signs.Life("worker@here")
    life.start()
    try:
        assert wait_for(lambda: (life.beat(), given.given())[1])
    finally:
        life.stop()
    assert not file.exists()


class Wall:
    """A wall clock that can be set."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s

    def now(self) -> datetime:
        return datetime.fromtimestamp(self(), UTC)


def test_a_clock_that_is_set_back_does_not_stop_the_timetable(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wall = Wall()
    monkeypatch.setattr(app, "now", wall.now)
    timetable = signs.Timetable(app=app, lazy=True)
    timetable._clock = clock.WallClock(wall)
    timetable.schedule = {
        "tick": signs.Timetable.Entry("tick", "tests.tick", schedule=celery_schedule(0.2, app=app), app=app),
        "tend": signs.Timetable.Entry("tend", "tests.tend", schedule=celery_schedule(0.3, app=app), app=app),
    }
    sent: list[str] = []
    monkeypatch.setattr(timetable, "send_task", lambda name, *_args, **_options: sent.append(name))

    def both_are_sent() -> bool:
        timetable.tick()
        return set(sent) == {"tests.tick", "tests.tend"}

    try:
        assert wait_for(both_are_sent)
        for step_s in (-3600.0, -3600.0, 7200.0, -100.0):
            wall.ahead_s += step_s
            sent.clear()
            assert wait_for(both_are_sent, within_s=10), step_s
        assert "set back by" in caplog.text
        assert is_touched_again(file, come_round=timetable.tick)
    finally:
        timetable.close()


def test_a_timetable_that_comes_round_and_sends_nothing_gives_no_sign(file: Path) -> None:
    timetable = signs.Timetable(app=app, lazy=True)
    timetable.schedule = {"never": signs.Timetable.Entry("never", "tests.never", schedule=celery_schedule(3600))}
    ended = threading.Event()

    def come_round() -> None:
        while not ended.wait(0.05):
            timetable.tick()

    thread = threading.Thread(target=come_round)
    thread.start()
    try:
        assert silent(file)
        # The supervisor starts it again: see tests/launch/test_halts.py.
        timetable._sent = time.monotonic() + 60
        assert is_touched_again(file)
    finally:
        ended.set()
        thread.join()
        timetable.close()
