"""What a series shows: slow waves and trends are told as no change, or stand beside what is told as one."""

import math
import random
from collections.abc import Callable

import pytest

from apps.bench.statistics import course_of
from apps.bench.statistics.changes import TREND, rivals

Draw = Callable[[random.Random, int], list[float]]


def following(phi: float) -> Draw:
    """Return a drawer of series without a change in which each value has a share `phi` of the one before."""

    def drawn(source: random.Random, n: int) -> list[float]:
        state, values = source.gauss(0, 2 / math.sqrt(1 - phi**2)), []
        for _place in range(n):
            values.append(100 + state)
            state = phi * state + source.gauss(0, 2)
        return values

    return drawn


def season(source: random.Random, n: int) -> list[float]:
    return [100 + 5 * math.sin(2 * math.pi * place / 30) + source.gauss(0, 1) for place in range(n)]


def trend(source: random.Random, n: int) -> list[float]:
    return [100 + 0.5 * place + source.gauss(0, 2) for place in range(n)]


@pytest.mark.parametrize(
    ("draw", "n", "most", "most_alone"),
    [
        # Before what else would tell a series was asked, these were 0.46, 0.23, 0.58, 0.85, 0.52, 0.84 and 0.92.
        (trend, 20, 0.30, 0.06),
        (following(0.9), 20, 0.25, 0.10),
        (following(0.9), 52, 0.14, 0.08),
        (following(0.9), 150, 0.06, 0.06),
        (season, 20, 0.25, 0.06),
        (season, 52, 0.03, 0.03),
        (season, 150, 0.03, 0.03),
    ],
)
def test_waves_and_trends_are_seldom_changes_and_hardly_ever_without_a_word(
    draw: Draw, n: int, most: float, most_alone: float
) -> None:
    source, rounds = random.Random(n), 200 if n < 100 else 60
    courses = [course_of(draw(source, n)).changes for _round in range(rounds)]
    assert sum(map(bool, courses)) / rounds <= most
    assert sum(any(not change.rival for change in changes) for changes in courses) / rounds <= most_alone


def test_what_follows_too_closely_is_said_to() -> None:
    source = random.Random(3)
    courses = [course_of(following(0.9)(source, 150)) for _round in range(20)]
    assert sum(course.is_alike and course.correlation >= 0.6 for course in courses) >= 15


def test_a_step_stands_alone_and_says_how_alike_its_neighbours_are() -> None:
    source = random.Random(4)
    values = [source.gauss(100 if place < 26 else 85, 3) for place in range(52)]
    course = course_of(values)
    (change,) = course.changes
    assert (change.rival, course.trend, course.is_unclear) == ("", None, False)
    assert change.correlation == course.correlation <= 0.3
    assert abs(change.place - 26) <= 1


def test_a_step_along_a_line_is_one_change_of_its_own_size() -> None:
    source = random.Random(5)
    courses = []
    for _round in range(20):
        values = [100 + 0.3 * place + (12 if place >= 26 else 0) + source.gauss(0, 2) for place in range(52)]
        courses += [course_of(values).changes]
    single = [changes[0] for changes in courses if len(changes) == 1]
    assert len(single) >= 17
    for change in single:
        assert abs(change.place - 26) <= 2
        assert change.after - change.before == pytest.approx(12, abs=4)


def test_a_line_with_a_step_is_that_of_the_least_squares() -> None:
    values = [2.0 * place + (30 if place >= 9 else 0) for place in range(20)]
    line = rivals.stepped_of(values)
    assert line is not None
    assert (line.place, line.step, line.slope) == (9, pytest.approx(30), pytest.approx(2))
    assert line.at(0, is_stepped=False) == pytest.approx(0, abs=1e-9)
    assert rivals.stepped_of([1.0, 2.0, 3.0]) is None


def test_of_few_values_a_trend_beside_a_change_is_named() -> None:
    source = random.Random(6)
    courses = [course_of(trend(source, 20)).changes for _round in range(150)]
    named = [change.rival for changes in courses for change in changes]
    assert named.count(TREND) >= 0.6 * len(named) > 0
