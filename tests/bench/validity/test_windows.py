"""Whether the window that a point is named after was the one in use."""

import pytest

from apps.bench.text import Message
from apps.bench.toolkit import Flag, Reading, SampleValue
from apps.bench.validity import windows
from tests.bench.validity.making import reading, told


def flags(asked, granted, **others):
    return told(windows.flags(reading("goodput", granted=granted, **others), {"window": asked}))


@pytest.mark.parametrize(
    ("granted", "expected"),
    [
        (65535, {"window-not-granted": "invalid"}),
        (65536, {"window-capped": "warning"}),
        (131071, {"window-capped": "warning"}),
        (131072, {}),
        (262144, {}),
    ],
)
def test_less_than_was_asked_for_is_invalid_and_less_than_it_needs_doubted(granted, expected):
    assert flags(65536, {"send_buffer": granted, "receive_buffer": 10**6}) == expected
    assert flags(65536, {"receive_buffer": granted}) == expected


def test_the_tools_own_figure_counts():
    found = Reading(samples=(SampleValue("window_granted", 1000.0),))
    assert told(windows.flags(found, {"window": 2000})) == {"window-not-granted": "invalid"}


def test_what_the_tool_has_said_is_not_repeated():
    said = Flag("window-capped", "warning", Message("capped"))
    assert flags(65536, {"send_buffer": 100_000}, flags=[said]) == {}


@pytest.mark.parametrize("params", [{}, {"window": 0}, {"window": None}, {"window": True}, {"window": "64K"}])
def test_no_window_is_nothing_to_judge(params):
    assert windows.flags(reading("goodput", granted={"send_buffer": 1}), params) == []


def test_unknown_buffers_are_nothing_to_judge():
    assert flags(65536, {}) == {}
    assert flags(65536, {"send_buffer": None, "receive_buffer": True}) == {}
