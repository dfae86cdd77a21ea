"""Factors: lists and ranges with units become typed values, and wrong ones are refused with a remedy."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench import sweep, units
from tests.bench.sweeping import PARAMETERS

KIB, MIB = 2**10, 2**20


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("window", "64KiB, 128KiB", [64 * KIB, 128 * KIB]),
        ("window", "64KiB..512KiB x2", [64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB]),
        ("window", "64K..1M ×4", [64 * KIB, 256 * KIB, MIB]),
        ("window", "64KiB..16MiB x2, 1.2M, 20MiB", [64 * KIB * 2**n for n in range(9)] + [1258291, 20 * MIB]),
        ("window", "1MiB..100KiB x3", [MIB, 349525, 116508]),
        ("window", "16MiB ~ 1MiB * 4", [16 * MIB, 4 * MIB, MIB]),
        ("window", "64ＫｉＢ…256KiB x2", [64 * KIB, 128 * KIB, 256 * KIB]),
        ("window", "1KiB..8KiB log 4", [1024, 2048, 4096, 8192]),
        ("window", "1MiB..2MiB +512KiB", [MIB, MIB + 512 * KIB, 2 * MIB]),
        ("streams", "1..10 +1", list(range(1, 11))),
        ("streams", "1..10", list(range(1, 11))),
        ("streams", "1..10 +4", [1, 5, 9]),
        ("streams", "10..1 +3", [10, 7, 4, 1]),
        ("streams", "8..1 x2", [8, 4, 2, 1]),
        ("streams", "5..5 x2", [5]),
        ("streams", "1..100 log 8", [1, 2, 4, 7, 14, 27, 52, 100]),
        ("streams", "1..3 /4", [1, 2, 3]),
        ("streams", "4, 2; 1、1\n2,,", [4, 2, 1]),
        ("level", "-2..2 +2", [-2, 0, 2]),
        ("load", "1M..10M /5", [1_000_000, 2_800_000, 4_600_000, 6_400_000, 8_200_000, 10_000_000]),
        ("load", "10Mbit/s..30Mbit/s /2", [10_000_000, 20_000_000, 30_000_000]),
        ("load", "0..1G +500M", [0, 500_000_000, 1_000_000_000]),
        ("disk", "1MB/s..4MB/s x2", [1_000_000, 2_000_000, 4_000_000]),
        ("share", "0.1..1 +0.1", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
        ("share", "1..1000 log 4", [1.0, 10.0, 100.0, 1000.0]),
        ("share", "1e+1..1e+3 x10", [10.0, 100.0, 1000.0]),
        ("pause", "0..10s /4", [0.0, 2.5, 5.0, 7.5, 10.0]),
        ("pause", "1 min..1 h 30 min x3", [60.0, 180.0, 540.0, 1620.0, 4860.0]),
        ("reverse", "yes, no", [True, False]),
        ("control", 'cubic, bbr, ""', ["cubic", "bbr", ""]),
        ("note", '"a, b", c.. d x2\n대전', ["a, b", "c.. d x2", "대전"]),
    ],
)
def test_it_reads_lists_and_ranges(name, text, values):
    read = sweep.parse_factor(PARAMETERS[name], text)
    assert read == values
    assert [type(value) for value in read] == [type(value) for value in values]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("streams", "", "Nothing to sweep: enter values"),
        ("streams", " , ,", "Nothing to sweep"),
        ("note", "", "Nothing to sweep"),
        ("streams", "1, two", "“two” is not a whole number"),
        ("window", "64KiB..256KiB", "say how to go from one end to the other: x2"),
        ("window", "64KiB..256KiB by 2", "say how to go from one end to the other"),
        ("streams", "1..10 by 2", "“10 by 2” is not a whole number"),
        ("window", "64..256KiB x2", "write the unit at both ends"),
        ("window", "64KiB..256 x2", "write the unit at both ends"),
        ("window", "64KiB..1MiB +64", "write the unit of the step"),
        ("window", "64KiB..1MiB x1", "must be greater than 1"),
        ("window", "64KiB..1MiB x0.5", "must be greater than 1"),
        ("window", "64KiB..1MiB x2..5", "is not a number"),
        ("window", "64KiB..1Mb x2", "write a capital B"),
        ("streams", "1..10 +0", "must be greater than zero"),
        ("level", "1..10 +-1", "must be greater than zero"),
        ("streams", "1..10 +0.5", "is not a whole number"),
        ("streams", "1..10 /0", "must be at least 1"),
        ("streams", "1..10 log 1", "must be at least 2"),
        ("level", "0..10 x2", "must begin and end above zero"),
        ("level", "-1..10 log 3", "must begin and end above zero"),
        ("share", "1e-900..1 x10", "must begin and end above zero"),
        ("share", "1..1e900 x10", "too large to be stored"),
        ("level", "1..1000000", "“1..1000000” makes more than 100000 values"),
        ("level", "1..1e18 x1.0000001", "makes more than 100000 values"),
        ("share", "0..1 /100000", "makes more than 100000 values"),
        ("share", "1..2 log 99999999999999999999", "makes more than 100000 values"),
        ("level", "1..60000, 100001..160000", "more than 100000 values"),
        ("level", "1" + "0" * 300 + "..2", "is not a whole number"),
        ("level", "1," * 6000, "at most 10000 characters"),
        ("window", "512, 2048", "512B is too small: the minimum is 1 KiB"),
        ("window", "256MiB..1GiB x2", "1GiB is too large: the maximum is 512 MiB"),
        ("control", "cubic, cubik", '“cubik” is not offered: choose from "", cubic, bbr'),
        ("note", '"open', "close every double quote"),
        ("note", '  "a" b', "Put a comma after each text"),
        ("reverse", "yes..no", "is neither yes nor no"),
    ],
)
def test_it_refuses_what_it_can_not_read_and_names_the_factor(name, text, complaint):
    with pytest.raises(sweep.SweepError) as refusal:
        sweep.parse_factor(PARAMETERS[name], text)
    assert refusal.value.field == f"factors.{name}"
    assert complaint in str(refusal.value.message)
    assert list(refusal.value.errors) == [f"factors.{name}"]


def test_it_drops_values_that_come_again_in_whatever_unit():
    assert sweep.parse_factor(PARAMETERS["window"], "64KiB, 65536, 64K") == [65536]
    assert sweep.parse_factor(PARAMETERS["pause"], "1 min, 60 s, 60000 ms, 2 min") == [60.0, 120.0]


@given(st.integers(1, 2**40), st.integers(1, 2**40), st.sampled_from(["2", "1.5", "10", "3"]))
def test_each_value_of_a_geometric_range_is_the_factor_times_the_last(first, last, factor):
    values = sweep.parse_factor(PARAMETERS["level"], f"{first}..{last} x{factor}")
    low, high = min(first, last), max(first, last)
    assert values[0] == first
    assert all(low <= value <= high for value in values)
    expected = math.floor(math.log(high / low) / math.log(float(factor)) + 1e-9) + 1
    assert len(values) <= expected
    if low > 100:
        assert len(values) == expected
        for earlier, later in itertools.pairwise(values):
            assert max(earlier, later) / min(earlier, later) == pytest.approx(float(factor), rel=0.02)


@given(st.integers(-1000, 1000), st.integers(-1000, 1000), st.integers(1, 300))
def test_a_linear_range_is_pythons_range_with_its_end(first, last, step):
    direction = 1 if last >= first else -1
    expected = list(range(first, last + direction, direction * step))
    assert sweep.parse_factor(PARAMETERS["level"], f"{first}..{last} +{step}") == expected


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.integers(1, 50))
def test_equal_parts_and_logarithmic_ranges_keep_both_ends(first, last, count):
    parts = sweep.parse_factor(PARAMETERS["share"], f"{first!r}..{last!r} /{count}")
    spaced = sweep.parse_factor(PARAMETERS["share"], f"{first!r}..{last!r} log {count + 1}")
    for values in (parts, spaced):
        assert (values[0], values[-1]) == (first, last)
        assert values == sorted(values, reverse=last < first)
        assert len(values) <= count + 1


@given(st.lists(st.integers(1024, 512 * MIB), min_size=1, max_size=20))
def test_a_list_of_canonical_texts_reads_back(sizes):
    text = ", ".join(units.canonical_text(size, "size") for size in sizes)
    assert sweep.parse_factor(PARAMETERS["window"], text) == list(dict.fromkeys(sizes))


@given(st.text(max_size=40), st.sampled_from(list(PARAMETERS)))
def test_any_text_is_read_or_refused_with_a_message(text, name):
    try:
        values = sweep.parse_factor(PARAMETERS[name], text)
    except sweep.SweepError as refusal:
        assert str(refusal.message)
    else:
        assert values
