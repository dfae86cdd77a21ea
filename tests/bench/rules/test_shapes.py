"""Trends and ratios, printed or computed, are one thing to the rules."""

import math
import random

import pytest

from apps.bench.rules import shapes
from apps.bench.rules.base import BELOW, MODE, Evidence, FileSystemFacts, Point, Ratio, Trend

GPFS = FileSystemFacts("gpfs", "gpfs", 262144, ("s1",))


def points(
    factor, rates, *, metric="write", tool="iozone", file_system="gpfs", statistic="sample", roles=None, **fixed
):
    """Return points of {value of the factor: rates}; trial ids follow from the place."""
    return [
        Point(
            {factor: value, **fixed},
            {metric: {100 * place + n: rate for n, rate in enumerate(values)}},
            tool=tool,
            roles=roles or {"client": ("c1", "c2", "c3", "c4")},
            file_system=file_system,
            statistic=statistic,
        )
        for place, (value, values) in enumerate(rates.items())
    ]


def evidence(*groups, **more):
    return Evidence(tuple(point for group in groups for point in group), file_systems={"gpfs": GPFS}, **more)


@pytest.mark.parametrize(
    ("rates", "shape", "knee"),
    [
        ({1: [100], 2: [101], 4: [99], 8: [100]}, "flat", None),
        ({1: [100] * 3, 2: [200] * 3, 3: [300] * 3, 4: [300] * 3}, "saturates", 3),
        ({1: [118], 2: [236], 3: [240], 4: [238]}, "saturates", 2),
        ({1: [13], 3: [39], 6: [78], 9: [101]}, "rises", None),
        ({1: [28], 2: [24], 3: [20], 4: [17]}, "falls", 1),
        ({1: [50] * 3, 2: [90] * 3, 4: [70] * 3}, "falls", 2),
        ({1: [50], 2: [90]}, "rises", None),
        ({1: [90], 2: [50]}, "falls", 1),
    ],
)  # fmt: skip
def test_a_curve_has_its_shape(rates, shape, knee):
    (trend,) = shapes.trends(evidence(points("clients", rates)), factor="clients")
    assert (trend.shape, trend.knee) == (shape, knee)
    assert trend.file_system == "gpfs"
    assert trend.trials == tuple(
        sorted(100 * place + turn for place, values in enumerate(rates.values()) for turn in range(len(values)))
    )


@pytest.mark.parametrize(
    "rates",
    [
        {1: [100, 20], 2: [200, 30], 4: [300, 300]},
        {1: [98, 110, 90], 2: [104, 88, 112], 4: [92, 113, 112]},
        {1: [0], 2: [0], 4: [0]},
        {1: [100], 2: [60], 4: [94]},
        {4: [100, 101]},
    ],
    ids=["scattered", "chance", "zero", "irregular", "one value"],
)
def test_a_curve_that_its_repetitions_do_not_bear_out_has_none(rates):
    assert shapes.trends(evidence(points("clients", rates)), factor="clients") == []


def test_the_knee_of_noisy_curves_is_found_within_one_step():
    generator, xs, right = random.Random(7), [1, 2, 3, 4, 6, 8, 12, 16], 0
    for _curve in range(60):
        at = generator.choice(xs[1:6])
        rates = {x: [min(x, at) * generator.uniform(0.98, 1.02) for _n in range(3)] for x in xs}
        (trend,) = shapes.trends(evidence(points("clients", rates)), factor="clients")
        right += trend.shape == "saturates" and abs(xs.index(trend.knee) - xs.index(at)) <= 1
    assert right >= 57


def test_a_printed_trend_stands_beside_the_computed_ones_under_the_shared_name():
    printed_trend = Trend("fio", "write", "block_size", "flat", best=115e6)
    trends = shapes.trends(
        evidence(points("record_size", {2**18: [100], 2**20: [100]}), trends=(printed_trend,)), factor="record_size"
    )
    assert [trend.tool for trend in trends] == ["fio", "iozone"]
    assert shapes.trends(evidence(trends=(printed_trend,)), factor="clients") == []
    assert shapes.trends(evidence(trends=(printed_trend,)), factor="record_size", metric="read") == []


def test_records_have_one_name_whatever_the_tool():
    measurements = points("block_size", {2**18: [10], 2**20: [40]}, tool="fio")
    assert shapes.trends(evidence(measurements), factor="record_size")[0].shape == "rises"
    measurements = points("transfer_size", {2**18: [10], 2**20: [40]}, tool="ior", block_size=2**24)
    (trend,) = shapes.trends(evidence(measurements), factor="record_size")
    assert trend.fixed["block_size"] == 2**24


def test_points_that_differ_in_more_than_the_factor_are_not_mixed():
    measurements = (
        points("clients", {1: [10], 2: [20]}, threads=1),
        points("clients", {4: [400], 8: [800]}, threads=2),
    )
    assert [sorted(curve.cells) for curve in shapes.curves(evidence(*measurements), factor="clients")] == [
        [1, 2],
        [4, 8],
    ]


def test_clients_are_counted_where_no_parameter_says_how_many():
    measurements = [
        points("record_size", {2**20: [rate]}, roles={"client": ("c1", "c2", "c3")[:count]})[0]
        for count, rate in ((1, 10), (2, 20), (3, 30))
    ]
    (curve,) = shapes.curves(evidence(measurements), factor="clients")
    assert curve.means == {1: 10, 2: 20, 3: 30}
    others = points("record_size", {2**20: [99]}, roles={"client": ("d1", "d2", "d3", "d4")})
    (curve,) = shapes.curves(evidence(measurements, others), factor="clients")
    assert 4 not in curve.means


def test_tasks_are_clients_times_threads():
    measurements = points("threads", {1: [13], 3: [39]}, clients=1), points("threads", {3: [78]}, clients=2)
    (curve,) = shapes.curves(evidence(*measurements), factor="tasks")
    assert curve.means == {1: 13, 3: 39, 6: 78}


def test_bounds_and_modes_are_in_no_curve():
    measurements = (
        points("clients", {1: [13], 2: [80]}, statistic=MODE),
        points("clients", {4: [10]}, statistic=BELOW),
    )
    assert shapes.curves(evidence(*measurements), factor="clients") == ()


def test_a_ratio_of_measured_settings_has_its_interval():
    measurements = points(
        "placement", {"other-socket": [100, 101, 99, 100], "same-socket": [240, 241, 239, 240]}, tool="imb"
    )
    (ratio,) = shapes.ratios(evidence(measurements), factor="placement")
    assert ratio.of["placement"] == "same-socket"
    assert 2.3 < ratio.low < 2.4 < ratio.high < 2.5
    assert shapes.is_better(ratio)
    assert not shapes.is_equal(ratio)
    assert shapes.inverse(ratio).high == pytest.approx(1 / ratio.low)


def test_a_printed_ratio_is_found_by_the_one_factor_in_which_its_sides_differ():
    better = Ratio(
        "btio",
        "io_rate",
        {"node_placement": "BAL", "problem": "C"},
        {"node_placement": "UNBAL", "problem": "C"},
        1.0,
        math.inf,
    )
    (ratio,) = shapes.ratios(evidence(ratios=(better,)), factor="node_placement")
    assert shapes.is_better(ratio)
    assert shapes.common(ratio) == {"problem": "C"}
    assert shapes.ratios(evidence(ratios=(better,)), factor="problem") == []


def test_block_sizes_are_compared_between_file_systems_of_one_kind():
    half = FileSystemFacts("half", "gpfs", 524288)
    other = FileSystemFacts("nfs", "nfs", 1048576)
    measurements = [
        *points("problem", {"C": [80, 82, 81]}, metric="io_rate", tool="btio", file_system="half"),
        *points("problem", {"C": [100, 99, 101]}, metric="io_rate", tool="btio", file_system="gpfs"),
        *points("problem", {"C": [300, 300, 300]}, metric="io_rate", tool="btio", file_system="nfs"),
    ]
    facts = {"half": half, "gpfs": FileSystemFacts("gpfs", "gpfs", 1048576), "nfs": other}
    (ratio,) = shapes.ratios(Evidence(tuple(measurements), file_systems=facts), factor="file_system_block")
    assert (ratio.of["file_system_block"], ratio.to["file_system_block"]) == (1048576, 524288)
    assert 1.15 < ratio.low < ratio.high < 1.3
    printed_ratio = Ratio(
        "btio", "io_rate", {"block_size_bytes": 1048576}, {"block_size_bytes": 524288}, 1.0, math.inf
    )
    assert shapes.ratios(Evidence((), ratios=(printed_ratio,)), factor="file_system_block") == [printed_ratio]


@pytest.mark.parametrize(
    ("low", "high", "equal"), [(0.98, 1.03, True), (1.0, 1.0, True), (0.9, 1.4, False), (1, math.inf, False)]
)
def test_alike_is_within_five_per_cent(low, high, equal):
    assert shapes.is_equal(Ratio("imb", "bandwidth", {}, {}, low, high)) is equal


def test_a_ratio_of_which_one_side_does_not_tell_the_factor_is_none():
    lone = Ratio("iozone", "write", {}, {"file_system": "ext3"}, 0.6, 0.7)
    assert shapes.ratios(evidence(ratios=(lone,)), factor="file_system") == []


@pytest.mark.parametrize(("last", "is_level"), [((142.7, 138.7, 131.5), False), ((147, 146, 147), True)])
def test_what_goes_on_falling_is_no_plateau(last, is_level):
    # Of a world in which each client beyond the second takes 3 % from all.
    means = dict(zip((1, 2, 3, 4, 6), (82.9, 146.8, *last), strict=True))
    rates = {count: [mean * 1e6 * share for share in (1, 1.004, 0.997)] for count, mean in means.items()}
    trends = shapes.trends(Evidence(tuple(points("clients", rates))), factor=shapes.CLIENTS)
    assert (shapes.SATURATES in [trend.shape for trend in trends]) == is_level


@pytest.mark.parametrize(("second", "falls"), [(77.0, False), (70.0, True)])
def test_two_places_fall_by_a_tenth_or_not_at_all(second, falls):
    # Of one level with a scatter of 3 % these were drawn: 82.6 and 77.0, 7 % less.
    rates = {1: [81.8e6, 81.4e6, 84.6e6], 2: [second * 1e6 * share for share in (1.002, 0.995, 1.003)]}
    trends = shapes.trends(Evidence(tuple(points("clients", rates))), factor=shapes.CLIENTS)
    assert (shapes.FALLS in [trend.shape for trend in trends]) == falls
