"""Commands that were to run at one time: overlap, skew, and what is said of them."""

import pytest

from apps.bench.outputs import concurrency
from apps.bench.toolkit import Output


def run(start, end):
    return Output("client", "measure", "node", (), b"", b"", 0, started_at=start, ended_at=end)


def names(overlap):
    return {flag.name: flag.severity for flag in concurrency.flags_of(overlap)}


def test_the_overlap_is_when_all_ran():
    overlap = concurrency.overlap_of([run(10.0, 20.0), run(10.5, 19.0), run(10.2, 21.0)])
    assert (overlap.start, overlap.end) == (10.5, 19.0)
    assert overlap.skew_s == pytest.approx(0.5)
    assert overlap.duration_s == pytest.approx(8.5)
    assert overlap.share == pytest.approx(8.5 / 11)


def test_commands_one_after_the_other_have_none():
    overlap = concurrency.overlap_of([run(10.0, 12.0), run(13.0, 15.0)])
    assert (overlap.duration_s, overlap.share) == (0.0, 0.0)
    assert names(overlap)["low-overlap"] == "invalid"


def test_one_command_overlaps_with_itself():
    overlap = concurrency.overlap_of([run(10.0, 12.0)])
    assert (overlap.share, overlap.skew_s) == (1.0, 0.0)
    assert names(overlap) == {}


def test_commands_that_took_no_time_are_together():
    assert concurrency.overlap_of([run(10.0, 10.0), run(10.0, 10.0)]).share == 1.0


@pytest.mark.parametrize("outputs", [[], [run(None, 10.0)], [run(10.0, 12.0), run(10.0, None)]])
def test_without_all_times_there_is_no_overlap(outputs):
    assert concurrency.overlap_of(outputs) is None
    assert names(None) == {}


@pytest.mark.parametrize(("late", "expected"), [(0.5, {}), (0.51, {"low-overlap": "invalid"})])
def test_under_95_per_cent_is_invalid(late, expected):
    overlap = concurrency.Overlap(start=late, end=10.0, skew_s=0.0, share=(10.0 - late) / 10.0)
    assert names(overlap) == expected


@pytest.mark.parametrize(("skew", "expected"), [(0.05, {}), (0.051, {"late-start": "warning"})])
def test_more_than_50_ms_between_the_starts_is_told(skew, expected):
    assert names(concurrency.Overlap(start=skew, end=100.0, skew_s=skew, share=1.0)) == expected
