"""Whether a rate was measured for long enough."""

import pytest

from apps.bench import tools
from apps.bench.validity import duration
from tests.bench.validity.making import output, reading, told

FIO, PING = tools.get("fio").metrics, tools.get("ping").metrics


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.0, {"too-short": "invalid"}), (0.0999, {"too-short": "invalid"}), (0.1, {"short": "warning"}),
     (0.999, {"short": "warning"}), (1.0, {}), (60.0, {})],
)  # fmt: skip
def test_the_time_that_the_tool_tells_counts(seconds, expected):
    found = duration.flags(reading("read", measured_s={"read": seconds}), 60.0, FIO)
    assert told(found) == expected
    assert all(flag.metrics == ("read",) for flag in found)


def test_each_metric_has_its_own_time():
    found = duration.flags(reading("read", "write", measured_s={"read": 0.01, "write": 0.5}), None, FIO)
    assert {flag.name: flag.metrics for flag in found} == {"too-short": ("read",), "short": ("write",)}


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.01, {"short": "warning"}), (0.99, {"short": "warning"}), (1.0, {})]
)
def test_else_the_time_of_the_commands_does(seconds, expected):
    assert told(duration.flags(reading("rate"), seconds, FIO)) == expected


def test_what_is_no_rate_may_be_short():
    assert duration.flags(reading("rtt_min", "loss"), 0.01, PING) == []
    assert duration.flags(reading("read_latency"), 0.01, FIO) == []


def test_unknown_times_are_not_judged():
    assert duration.flags(reading("rate"), None, FIO) == []


def test_the_longest_command_counts():
    outputs = [output(started_at=1.0, ended_at=2.0), output(started_at=1.0, ended_at=4.0), output(started_at=1.0)]
    assert duration.longest_run_s(outputs) == 3.0
    assert duration.longest_run_s([output()]) is None
