"""A figure lies within its interval, wherever both stand side by side, however ugly what was measured is."""

import dataclasses
import importlib
import pkgutil
import random

import pytest

import apps.bench
from apps.bench import comparison, statistics
from apps.bench.comparison import Statistic
from apps.bench.rules import layers, workloads
from apps.bench.rules.workloads import Workload
from apps.bench.statistics import Evenness, Mean
from apps.bench.statistics.bounds import ENDS, NAMES, Within
from tests.bench.rules.storing import CLIENTS, GIB, MB, NFS, Storing
from tests.rotation import part_of

# One stuck run of six, two modes, zeros, and what rounding and far outliers make of it.
UGLY = [
    [4.0, 90.0, 93.0, 91.0, 91.5, 90.5],
    [20.0, 900.0, 930.0, 910.0, 915.0, 905.0],
    [1.0, 100.0, 101.0],
    [1.0, 1000.0],
    [20.0, 20.1, 20.2, 80.0, 80.1, 80.2, 79.9],
    [20.0, 80.0, 80.1],
    [0.0, 0.0, 50.0],
    [0.0, 0.0, 0.0],
    [0.1] * 7,
    [1e-30, 1.0, 1e30],
    [5.0],
]
# The value of an advice is no mean: what its interval is of, the tests of findings say.
NOT_MEANS = {"FindingDraft"}


def _drawn(seed):
    draw = random.Random(seed)
    n = draw.choice((2, 3, 4, 6, 8, 12, 20))
    values = [100 * draw.lognormvariate(0, draw.choice((0.01, 0.1, 0.5, 2.0))) for _value in range(n)]
    if draw.random() < 0.5:
        values[0] /= draw.choice((2, 10, 1000))
    return values


def _classes():
    """Return the frozen classes of the domain that have a figure and an interval of it."""
    found = {}
    for module in pkgutil.walk_packages(apps.bench.__path__, "apps.bench."):
        for item in vars(importlib.import_module(module.name)).values():
            if isinstance(item, type) and dataclasses.is_dataclass(item) and item.__module__ == module.name:
                names = {field.name for field in dataclasses.fields(item)}
                has_ends = "interval" in names or any({*ends} <= names for ends in ENDS)
                if has_ends and names & {*NAMES} and item.__name__ not in NOT_MEANS:
                    found[item.__name__] = item
    return found


def test_every_class_of_a_figure_and_its_interval_refuses_one_that_leaves_it_out():
    classes = _classes()
    assert {"Summary", "Fit", "Level", "Observation", "Centre", "Beneath"} <= classes.keys()
    assert [name for name, item in classes.items() if not issubclass(item, Within)] == []
    with pytest.raises(ValueError, match="not within its interval"):
        comparison.Centre(19.7, 39.3, 114.0)


@pytest.mark.parametrize("kind", list(Mean))
@pytest.mark.parametrize("values", [*UGLY, *map(_drawn, part_of(range(150), parts=8))])
def test_a_mean_lies_within_the_interval_of_its_own_kind(values, kind):
    summary = statistics.summarise(values, kind)
    assert summary.interval is None or summary.ci_low <= summary.mean <= summary.ci_high
    for evenness in Evenness:
        mean, interval = statistics.mean_interval(values, kind, evenness)
        assert interval is None or interval.low <= mean <= interval.high
        centre = comparison.centre_of(values, Statistic.MEAN, kind, evenness)
        assert centre.low is None or centre.low <= centre.value <= centre.high


def test_a_harmonic_mean_of_times_that_may_be_zero_has_no_confidence():
    summary = statistics.summarise([4.0, 90.0, 93.0, 91.0, 91.5, 90.5], Mean.HARMONIC)
    assert summary.mean == pytest.approx(19.68, abs=0.01)
    assert (summary.ci_low, summary.ci_high, summary.confidence) == (4.0, 93.0, None)
    assert "95" not in str(summary.interval.message)


@pytest.mark.parametrize("values", UGLY[:6])
def test_no_file_system_serves_more_than_its_mean(values):
    make = Storing()
    make.point(
        "file-system",
        {"write": [value * MB for value in values]},
        tool="iozone",
        file_system="NFS_PGFS01",
        roles={"client": CLIENTS[:1]},
        file_size=64 * GIB,
        record_size=1048576,
        threads=1,
    )
    make.tcp("KGFS01", "PGFS01", [985, 986, 985], direction="forward", streams=1, window=0)
    evidence = make.evidence(NFS)
    mean = statistics.summarise(values, Mean.HARMONIC).mean * MB
    (verdict,) = (item for item in layers.judge_all(evidence) if item.question.metric == "write")
    low, high = verdict.level.interval
    assert low <= verdict.level.value <= high
    (fit,) = workloads.fit(evidence, Workload("write", 64 * GIB, nodes=1, total=1e12, wanted=1.5 * mean))
    assert fit.low <= fit.rate <= fit.high
    assert fit.serves is not True
