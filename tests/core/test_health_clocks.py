"""What /health/ says of clocks that were set, and of signs given by another time."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.core import backends, clock, signs
from tests.core.signing import give, nobody_gave_a_sign, parts

__all__ = ["nobody_gave_a_sign"]

pytestmark = pytest.mark.django_db


def test_a_clock_that_was_set_back_is_told_until_it_has_gone_that_way_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = {"s": 0.0}
    monkeypatch.setattr(clock, "wall", clock.WallClock(lambda: time.time() + ahead["s"]))
    assert parts(client)["clock"]["ok"] is True
    ahead["s"] = -3600.0
    part = parts(client)["clock"]
    assert part["ok"] is False
    assert part["what"].startswith("The server's clock was set back by 3600 s: times until ")
    assert parts(client)["clock"]["since"] == part["since"]
    ahead["s"] = 1.0
    assert parts(client)["clock"]["ok"] is True


def test_a_clock_that_was_set_ahead_is_told_for_an_hour_or_until_it_is_put_right(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    shift = {"wall": 0.0, "both": 0.0}
    monkeypatch.setattr(
        clock,
        "wall",
        clock.WallClock(
            lambda: time.time() + shift["wall"] + shift["both"], lambda: time.monotonic() + shift["both"]
        ),
    )
    # A machine that slept, or a clock that is led, was not set.
    for wall_s in (0.0, 59.0):
        shift = {"wall": wall_s, "both": 7200.0}
        assert parts(client)["clock"]["ok"] is True
    shift = {"wall": 86400.0, "both": 7200.0}
    part = parts(client)["clock"]
    assert (part["ok"], part["what"]) == (
        False,
        "The server's clock was set ahead by 86400 s: nothing is removed for good for an hour.",
    )
    # It was so for a moment: nothing to speak of comes twice.
    shift = {"wall": 0.5, "both": 7200.0}
    assert parts(client)["clock"]["ok"] is True
    shift = {"wall": 86400.0, "both": 7200.0}
    assert parts(client)["clock"]["ok"] is False
    shift = {"wall": 0.5, "both": 7261.0}
    assert "set back by 86400 s" in parts(client)["clock"]["what"]
    shift = {"wall": 86400.0, "both": 7261.0}
    assert parts(client)["clock"]["ok"] is False
    shift = {"wall": 86400.0, "both": 7261.0 + 3601.0}
    assert parts(client)["clock"]["ok"] is True


def test_a_clock_that_was_years_ahead_at_the_start_is_told_for_an_hour_once_it_is_right(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    shift = {"wall": 400 * 86400.0, "both": 0.0}
    walls = (lambda: time.time() + shift["wall"] + shift["both"], lambda: time.monotonic() + shift["both"])
    monkeypatch.setattr(clock, "wall", clock.WallClock(*walls))
    assert parts(client)["clock"]["ok"] is True
    shift["wall"] = 0.0
    part = parts(client)["clock"]
    until = datetime.now(UTC) + timedelta(days=400)
    assert part["what"].startswith(f"The server's clock was set back by 34560000 s: times until {until:%Y-%m-%d} ")
    shift["both"] = clock.TOLD_FOR_S + 1
    assert parts(client)["clock"]["ok"] is True


def test_no_part_says_since_a_time_that_is_not_yet(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = timezone.now() + timedelta(days=400)
    monkeypatch.setattr(clock.wall.begun, "_at", ahead.timestamp())
    monkeypatch.setattr(backends, "look", lambda: backends.DatabaseState(ahead, 0, timedelta()))
    monkeypatch.setattr(signs, "broker_started", lambda: ahead.timestamp())
    # A worker of a machine that is no more, and a timetable: a clock that was ahead wrote their signs.
    for name in ("worker@a", "beat@a"):
        give(name, ago_s=-400 * 86400.0)
    for name, part in parts(client).items():
        since = part["since"]
        assert since is None or datetime.fromisoformat(since) <= timezone.now(), name
    assert signs.given() == []


@pytest.mark.parametrize("ago_s", [-3400, 3600])
def test_a_sign_of_before_the_clock_was_set_back_is_none(ago_s: float) -> None:
    give("worker@a", ago_s=ago_s - 60)
    assert signs.given()[0].is_silent
