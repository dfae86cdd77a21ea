"""Whether as many measured at one time as were to, and whether the clocks can tell."""

import pytest

from apps.bench.validity import concurrency
from tests.bench.validity.making import output, reading, told


@pytest.mark.parametrize(("asked", "expected"), [(0, {}), (2, {}), (3, {"fewer-clients": "invalid"})])
def test_missing_clients_make_it_invalid(asked, expected):
    found = reading("write", clients=[{"node": "one"}, {"node": "two"}])
    assert told(concurrency.count_flags(found, {"clients": asked})) == expected


@pytest.mark.parametrize(("asked", "expected"), [(1, {}), (4, {}), (5, {"fewer-threads": "invalid"})])
def test_missing_threads_make_it_invalid(asked, expected):
    assert told(concurrency.count_flags(reading("write", threads=4), {"threads": asked})) == expected


def test_what_is_not_told_is_not_judged():
    assert concurrency.count_flags(reading("write"), {"clients": 4, "threads": 4}) == []


@pytest.mark.parametrize(
    ("error", "expected"),
    [(0.05, {}), (0.0501, {"clock-unsure": "warning"}), (0.25, {"clock-unsure": "warning"}),
     (0.2501, {"clock-unsure": "invalid"})],
)  # fmt: skip
def test_clocks_that_cannot_tell_the_overlap_make_it_invalid(error, expected):
    found = reading("write", overlap=1.0, together_s=10.0)
    outputs = [output(clock_error_s=0.001), output(node="two", clock_error_s=error)]
    assert told(concurrency.clock_flags(found, outputs)) == expected


def test_an_overlap_of_unknown_length_is_doubted_only():
    outputs = [output(clock_error_s=5.0)]
    assert told(concurrency.clock_flags(reading("write", overlap=1.0), outputs)) == {"clock-unsure": "warning"}


def test_a_single_client_needs_no_clock():
    assert concurrency.clock_flags(reading("write"), [output(clock_error_s=5.0)]) == []


@pytest.mark.parametrize(("offset", "expected"), [(1.0, {}), (-1.0, {}), (1.01, {"clock-off": "info"}), (None, {})])
def test_a_clock_that_is_far_off_is_told(offset, expected):
    assert told(concurrency.clock_flags(reading("write"), [output(clock_offset_s=offset)])) == expected


def test_the_clock_that_is_furthest_off_is_named():
    outputs = [output(clock_offset_s=2.0), output(node="two", clock_offset_s=-30.0)]
    (flag,) = concurrency.clock_flags(reading("write"), outputs)
    assert "two" in str(flag.message)
    assert "-30.0" in str(flag.message)
