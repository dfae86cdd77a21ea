"""Points: the product of the axes, less what is excluded; counted without expansion, keyed for good."""

import itertools
import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench import sweep
from tests.bench.sweeping import PARAMETERS

KIB = 1024


def expand(factors, **options):
    return sweep.expand_points(sweep.SweepSpec(factors=factors, **options), PARAMETERS)


def count(factors, **options):
    return sweep.count_trials(sweep.SweepSpec(factors=factors, **options), PARAMETERS)


def refusals(factors, **options):
    """Return the errors of a sweep, which expanding and counting must agree on."""
    spec = sweep.SweepSpec(factors=factors, **options)
    with pytest.raises(sweep.SweepError) as of_points:
        sweep.expand_points(spec, PARAMETERS)
    with pytest.raises(sweep.SweepError) as of_count:
        sweep.count_trials(spec, PARAMETERS)
    assert of_points.value.errors == of_count.value.errors
    return {field: str(message) for field, message in of_points.value.errors.items()}


def test_the_first_factor_varies_slowest():
    assert expand({"window": "64K, 128K", "streams": "1..3"}) == [
        {"window": 64 * KIB, "streams": 1},
        {"window": 64 * KIB, "streams": 2},
        {"window": 64 * KIB, "streams": 3},
        {"window": 128 * KIB, "streams": 1},
        {"window": 128 * KIB, "streams": 2},
        {"window": 128 * KIB, "streams": 3},
    ]


def test_a_sweep_without_factors_is_one_point():
    assert expand({}) == [{}]
    assert count({}, repetitions=3, warmups=1).trials == 4


def test_zipped_factors_vary_together_in_the_place_of_the_first():
    points = expand({"level": "7, 8", "window": "1M, 2M", "streams": "4, 2"}, zips=[["window", "streams"]])
    assert [tuple(point.values()) for point in points] == [
        (7, 2**20, 4),
        (7, 2**21, 2),
        (8, 2**20, 4),
        (8, 2**21, 2),
    ]


def test_a_zip_keeps_values_that_come_again_beside_others():
    size = count({"window": "1M, 1M, 2M, 1M", "streams": "1, 2, 2, 1"}, zips=[["streams", "window"]])
    assert size.points == 3
    assert size.repeated == {"streams, window": 1}


def test_it_tells_how_many_values_came_again():
    size = count({"window": "64K, 64KiB, 65536, 1M", "streams": "1, 2"})
    assert (size.points, dict(size.repeated), dict(size.values)) == (4, {"window": 2}, {"window": 2, "streams": 2})


def test_exclusions_leave_points_out_and_are_counted_each_by_itself():
    options = {"exclusions": ["streams > 2", "window >= 128K and streams > 1", "streams > 99"], "repetitions": 3}
    factors = {"window": "64K..256K x2", "streams": "1..4", "level": "1..5"}
    size = count(factors, warmups=1, **options)
    points = expand(factors, **options)
    assert {(point["window"] // KIB, point["streams"]) for point in points} == {(64, 1), (64, 2), (128, 1), (256, 1)}
    assert size.candidates == 60
    assert size.points == len(points) == 20
    assert size.excluded_by == (30, 30, 0)
    assert (size.measured, size.warmups, size.trials) == (60, 20, 80)


def test_exclusions_see_fixed_parameters():
    options = {"fixed": {"duration": "1 min", "note": " "}, "exclusions": ["load * duration > 1 GB"]}
    assert expand({"load": "100M, 200M"}, **options) == [{"load": 100_000_000}]


def test_an_exclusion_of_fixed_parameters_alone_takes_all_or_nothing():
    fixed = {"duration": "10 s"}
    assert len(expand({"streams": "1, 2"}, fixed=fixed, exclusions=["duration > 1 min"])) == 2
    errors = refusals({"streams": "1, 2"}, fixed=fixed, exclusions=["duration < 1 min"])
    assert errors == {"exclusions": "The exclusions leave no point at all: loosen or remove one."}


def test_zipped_and_excluded_factors_agree_in_points_and_count():
    factors = {"window": "64K, 128K, 256K", "level": "1..3", "streams": "1, 2, 4"}
    options = {"zips": [["window", "streams"]], "exclusions": ["window * streams > 512K", "level == streams"]}
    assert len(expand(factors, **options)) == count(factors, **options).points == 4


def test_every_wrong_field_is_named_at_once():
    errors = refusals(
        {"window": "64K..", "streams": "0", "wndow": "1M"},
        fixed={"duration": "forever", "streams": "4", "mss": "1448"},
        zips=[["window", "streams"], ["level", "window"]],
        repetitions=0,
        warmups=101,
        order="sorted",
        seed=-1,
    )
    assert errors == {
        "repetitions": "Enter a whole number from 1 to 1000.",
        "warmups": "Enter a whole number from 0 to 100.",
        "seed": "Enter a whole number from 0 to 2147483647.",
        "order": "Choose one of: as-given, randomised.",
        "factors.window": "“64K..” is not a size: write a number and a unit, for example 64 KiB or 1 MiB.",
        "factors.streams": "0 is too small: the minimum is 1.",
        "factors.wndow": "The tool has no parameter “wndow”: choose from " + ", ".join(PARAMETERS) + ".",
        "fixed.duration": "“forever” is not a duration: write a number and a unit, for example 10 s or 4.8 ms.",
        "fixed.streams": "streams is swept as well as fixed: remove it from one of the two.",
        "fixed.mss": "The tool has no parameter “mss”: choose from " + ", ".join(PARAMETERS) + ".",
        "zips.1": "“level” is zipped but not swept: give it values, or unzip it.",
    }


@pytest.mark.parametrize(
    ("zips", "errors"),
    [
        ([["window"]], {"zips.0": "Zip two or more different factors, or none."}),
        ([[]], {"zips.0": "Zip two or more different factors, or none."}),
        ([["window", "window"]], {"zips.0": "Zip two or more different factors, or none."}),
        (
            [["window", "streams"]],
            {
                "zips.0": "Zipped factors need equally many values, but here are window: 2, streams: 3: "
                "make them equal, or unzip them."
            },
        ),
        (
            [["window", "level"], ["level", "streams"]],
            {"zips.1": "level is zipped twice: put it into one group only."},
        ),
    ],
)
def test_it_refuses_zips_that_do_not_fit(zips, errors):
    assert refusals({"window": "1M, 2M", "streams": "1..3", "level": "1, 2"}, zips=zips) == errors


def test_a_fixed_value_out_of_range_is_refused():
    assert refusals({}, fixed={"window": "1 GiB"}) == {"fixed.window": "1GiB is too large: the maximum is 512 MiB."}


def test_it_refuses_more_trials_than_the_cap():
    factors = {"level": "1..1000", "streams": "1..100"}
    assert len(expand(factors)) == sweep.MAX_TRIALS
    assert refusals(factors, repetitions=2) == {
        "trials": "This sweep makes 200000 trials, more than 100000: use fewer values or repetitions."
    }


def test_it_refuses_more_combinations_than_it_could_look_at():
    errors = refusals({"level": "1..5000", "streams": "1..100"}, exclusions=["level != streams"])
    assert errors == {
        "trials": "This sweep has 500000 combinations, more than 200000: sweep fewer values or factors."
    }


def test_it_refuses_more_exclusions_than_it_could_try():
    errors = refusals({"streams": "1..4"}, exclusions=["streams > 3"] * 21)
    assert errors == {"exclusions": "There are too many exclusions: join them by “or” to have at most 20."}


def test_a_condition_that_can_not_be_computed_at_a_point_is_refused_by_its_index():
    errors = refusals({"level": "0..2"}, exclusions=["level > 9", "1 / level > 2"])
    assert list(errors) == ["exclusions.1"]
    assert "where level = 0" in errors["exclusions.1"]


def test_ten_thousand_points_expand_and_are_counted_well_within_a_second():
    factors = {"window": "1KiB..100KiB +1KiB", "streams": "1..100"}
    options = {"exclusions": ["window > 99 KiB and streams > 100", "window * streams > 1 GiB"]}
    start = time.process_time()
    points = expand(factors, **options)
    size = count(factors, **options)
    assert time.process_time() - start < 1
    assert len(points) == size.points == 10_000
    assert len({sweep.point_key(point) for point in points}) == 10_000


def test_a_point_key_is_the_same_whatever_the_order_and_after_json():
    point = {"window": 65536, "duration": 10.0, "reverse": True, "control": "cubic", "share": 0.1}
    key = sweep.point_key(point)
    # Stored keys must stay valid: this one is written down once and for all.
    assert key == "1fc2017a8fa90fe0"
    assert sweep.point_key(dict(reversed(point.items()))) == key
    assert sweep.point_key(json.loads(json.dumps(point))) == key
    assert sweep.point_key(point | {"duration": 10}) == key


@pytest.mark.parametrize(
    "other", [{"level": 2}, {"level": "1"}, {"level": True}, {"levels": 1}, {"level": 1, "share": 0.0}, {}]
)
def test_other_points_have_other_keys(other):
    assert sweep.point_key(other) != sweep.point_key({"level": 1})


def test_factors_are_made_into_a_spec_in_their_order():
    factors = [sweep.Factor("window", "1M"), sweep.Factor("streams", "1, 2")]
    spec = sweep.make_spec(
        factors=factors, fixed={"level": "1"}, repetitions=3, order=sweep.RANDOMISED, seed=5, warmups=1
    )
    assert spec == sweep.SweepSpec(
        factors={"window": "1M", "streams": "1, 2"},
        fixed={"level": "1"},
        repetitions=3,
        warmups=1,
        order="randomised",
        seed=5,
    )


def test_a_parameter_swept_twice_is_refused():
    with pytest.raises(sweep.SweepError, match="streams is swept twice") as refusal:
        sweep.make_spec(factors=[sweep.Factor("streams", "1"), sweep.Factor("streams", "2")])
    assert refusal.value.field == "factors.streams"


NUMBERS = st.lists(st.integers(1, 100), min_size=1, max_size=8, unique=True)


@given(NUMBERS, NUMBERS, st.integers(1, 6))
def test_the_number_of_points_is_the_product_of_the_axes(streams, levels, zipped):
    factors = {
        "streams": ", ".join(map(str, streams)),
        "level": ", ".join(map(str, levels)),
        "share": f"1..{zipped} +1",
        "pause": f"1s..{zipped}s +1s",
    }
    zips = [["pause", "share"]]
    points = expand(factors, zips=zips)
    assert len(points) == count(factors, zips=zips).points == math.prod((len(streams), len(levels), zipped))
    assert all(point["share"] == point["pause"] for point in points)
    assert len({sweep.point_key(point) for point in points}) == len(points)


@given(NUMBERS, NUMBERS, st.integers(0, 10_000))
def test_the_points_left_are_those_that_the_exclusion_does_not_name(streams, levels, limit):
    factors = {"streams": ", ".join(map(str, streams)), "level": ", ".join(map(str, levels)), "pause": "1s, 2s"}
    left = [pair for pair in itertools.product(streams, levels) if pair[0] * pair[1] <= limit]
    options = {"exclusions": [f"streams * level > {limit}"]}
    if left:
        assert [(point["streams"], point["level"]) for point in expand(factors, **options)[::2]] == left
        assert count(factors, **options).points == 2 * len(left)
    else:
        assert list(refusals(factors, **options)) == ["exclusions"]
