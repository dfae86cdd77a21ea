"""Whether a rate had settled."""

import pytest

from apps.bench import tools
from apps.bench.toolkit import SampleSeries
from apps.bench.validity import steadiness
from tests.bench.validity.making import reading, told

METRICS = tools.get("fio").metrics


def series(values, metric="rate", stream="sum", start=1):
    times = tuple(float(start + index) for index in range(len(values)))
    return SampleSeries(metric, stream, "B/s", times, tuple(map(float, values)))


def flags(*found):
    return steadiness.flags(reading("rate", series=found), METRICS)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([100, 100, 100, 100, 105, 105], {}),
        ([100, 100, 100, 100, 105, 106], {"not-steady": "warning"}),
        ([100, 100, 100, 100, 95, 95], {}),
        ([100, 100, 100, 100, 94, 95], {"not-steady": "warning"}),
        ([1, 1, 100, 100, 100], {}),
    ],
)
def test_more_than_5_per_cent_between_the_thirds_is_told(values, expected):
    assert told(flags(series(values))) == expected


def test_the_change_has_a_sign():
    (flag,) = flags(series([100] * 4 + [110] * 2))
    assert "+10" in str(flag.message)
    assert flag.metrics == ("rate",)


def test_omitted_time_does_not_count():
    assert flags(series([1, 1, 1, 100, 100, 100, 100, 100, 100], start=-2)) == []


def test_several_rates_make_one_flag():
    found = flags(series([1, 1, 1, 1, 2, 2]), series([1, 1, 1, 1, 3, 3], metric="read"))
    assert [flag.metrics for flag in found] == [("rate", "read")]


@pytest.mark.parametrize("other", [{"metric": "read_latency"}, {"stream": "3"}])
def test_single_streams_and_what_is_no_rate_are_not_judged(other):
    assert flags(series([1, 1, 1, 1, 9, 9], **other)) == []


def test_standing_still_is_told_once():
    assert told(flags(series([1, 0, 1, 1, 1, 0]), series([0, 1, 1], metric="read"))) == {"stalled": "warning"}
    assert "2 of 6" in str(flags(series([1, 0, 1, 1, 1, 0]))[0].message)
