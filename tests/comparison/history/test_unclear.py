"""The page of a history says when its medians are not enough to tell a change, and why."""

import random
from types import SimpleNamespace

from django.template.loader import render_to_string

from apps.bench import tools
from apps.bench.statistics import Course, course_of


def page_of(course: Course, count: int) -> str:
    subject = SimpleNamespace(metric=tools.get("iperf3-tcp").metrics[0])
    found = SimpleNamespace(levels=range(count))
    context = {"found": found, "least": 8, "course": course, "changes": course.changes, "subject": subject}
    return " ".join(render_to_string("results/history/_changes.html", context).split())


def test_medians_that_follow_each_other_too_closely_are_said_to() -> None:
    source, state, values = random.Random(2), 0.0, []
    for _week in range(150):
        state = 0.92 * state + source.gauss(0, 0.02)
        values.append(940e6 * (1 + state))
    course = course_of(values)
    assert course.is_alike
    page = page_of(course, len(values))
    assert "the medians follow each other too closely (correlation of neighbours 0." in page
    assert "No change of level" not in page


def test_a_trend_and_a_level_are_said_as_before() -> None:
    source = random.Random(3)
    rising = course_of([900e6 + 2e6 * week + source.gauss(0, 3e6) for week in range(60)])
    assert "a trend, and no change of level" in page_of(rising, 60)
    flat = course_of([900e6 + source.gauss(0, 3e6) for _week in range(60)])
    assert "within what chance does" in page_of(flat, 60)
    assert not (flat.is_unclear or rising.is_unclear)
