"""What a cache may have served tells nothing of the disks beneath a file system."""

import dataclasses

import pytest

from apps.bench.rules import pace
from apps.bench.rules.layers import disks_beneath
from tests.bench.rules.storing import MB, Storing


def disk(metric, *rates):
    return Storing().io("local", **{metric: list(rates)}).points[-1]


@pytest.fixture
def point():
    return disk("read", 3000 * MB, 2900 * MB, 115 * MB)


def flagged(point, *trials):
    flags = {"cached-read": frozenset(trials)}
    return dataclasses.replace(point, flagged=flags, warnings=frozenset(flags))


def test_trials_that_a_cache_may_have_served_are_left_out(point):
    trials = [*point.metrics["read"]]
    assert pace.uncached(point, "read") is point
    left = pace.uncached(flagged(point, *trials[:2]), "read")
    assert left is not None
    assert left.values("read") == [115 * MB]
    assert pace.uncached(flagged(point, *trials), "read") is None


def test_disks_of_which_all_figures_are_a_caches_are_not_known(point, monkeypatch):
    cached = flagged(point, *point.metrics["read"])
    for points, names in (([point], ["local"]), ([cached], [])):
        monkeypatch.setattr(disks_beneath, "of_layer", lambda *_words, own=points: own)
        assert list(disks_beneath._points_of(None, "read")) == names
