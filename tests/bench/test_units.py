"""Quantities: what people type is read exactly, what is shown keeps its unit, and errors say what to write."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench import units

LARGEST = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("0", "size", 0),
        ("1448", "size", 1448),
        ("64KiB", "size", 65536),
        ("64 kiB", "size", 65536),
        ("64K", "size", 65536),
        ("64k", "size", 65536),
        ("1m", "size", 2**20),
        ("2G", "size", 2**31),
        ("64 KB", "size", 64_000),
        ("64 kB", "size", 64_000),
        ("1.2M", "size", 1_258_291),
        ("0.5 MiB", "size", 524_288),
        ("1e3 B", "size", 1000),
        ("12 bytes", "size", 12),
        ("12 바이트", "size", 12),
        ("６４ＫｉＢ", "size", 65536),
        ("64㎅", "size", 64_000),
        ("100M", "rate", 100_000_000),
        ("100 Mbit/s", "rate", 100_000_000),
        ("100mbps", "rate", 100_000_000),
        ("100 Mb/s", "rate", 100_000_000),
        ("1 Gibit/s", "rate", 2**30),
        ("12.5 MB/s", "rate", 100_000_000),
        ("1 MiB/s", "rate", 8 * 2**20),
        ("1.5 Gbit/s", "rate", 1_500_000_000),
        ("115 MB/s", "byte-rate", 115_000_000),
        ("115M", "byte-rate", 115_000_000),
        ("1 Gbit/s", "byte-rate", 125_000_000),
        ("10", "duration", 10.0),
        ("4.8ms", "duration", 0.0048),
        ("4.8 ㎳", "duration", 0.0048),
        ("250 us", "duration", 0.00025),
        ("250 µs", "duration", 0.00025),
        ("250 μs", "duration", 0.00025),
        ("5 min", "duration", 300.0),
        ("2H", "duration", 7200.0),
        ("1 h 30 min", "duration", 5400.0),
        ("1시간 30분", "duration", 5400.0),
        ("10초", "duration", 10.0),
        ("−3", "integer", -3),
        ("1e3", "integer", 1000),
        (".5", "float", 0.5),
        ("Yes", "boolean", True),
        ("켬", "boolean", True),
        ("off", "boolean", False),
        ("아니요", "boolean", False),
        ("  대전 → 부산 ", "text", "대전 → 부산"),
        ("cubic ", "choice", "cubic"),
    ],
)
def test_it_reads_quantities_as_people_write_them(text, kind, value):
    read = units.parse_quantity(text, kind)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "kind", "complaint"),
    [
        ("", "size", "Nothing was entered"),
        ("   ", "integer", "Nothing was entered"),
        ("KiB", "size", "“KiB” is not a size: write a number and a unit, for example 64 KiB"),
        ("fast", "rate", "“fast” is not a rate"),
        ("fast", "byte-rate", "for example 100 MB/s"),
        ("soon", "duration", "for example 10 s or 4.8 ms"),
        ("few", "integer", "write for example 4"),
        ("1.5", "integer", "“1.5” is not a whole number"),
        ("nan", "float", "“nan” is not a number"),
        ("inf", "float", "“inf” is not a number"),
        ("maybe", "boolean", "write yes or no"),
        ("64 KiB/s", "size", "“KiB/s” is not a unit of size"),
        ("10 MiB", "rate", "“MiB” is not a unit of rate"),
        ("10 s", "byte-rate", "“s” is not a unit of rate"),
        ("10 MiB", "duration", "“MiB” is not a unit of time"),
        ("4K", "integer", "leave out “K”"),
        ("5 %", "float", "“5 %” is not a number"),
        ("5 pct", "float", "leave out “pct”"),
        ("64Kb", "size", "for bytes write a capital B, for example 64KB"),
        ("64kib", "size", "for bytes write a capital B, for example 64kiB"),
        ("5m", "duration", "may be minutes or milliseconds: write min or ms"),
        ("1 h 5 m", "duration", "may be minutes or milliseconds"),
        ("30 min 1 h", "duration", "is not a duration"),
        ("4,8 ms", "duration", "write the decimal point as “.”"),
        ("1,000", "integer", "thousands without a separator"),
        ("-5 KiB", "size", "less than zero: leave out the minus sign"),
        ("-1", "rate", "less than zero"),
        ("-1 s", "duration", "less than zero"),
        ("1.5 B", "size", "has a fraction of the smallest unit, B"),
        ("0.5", "rate", "has a fraction of the smallest unit, bit/s"),
        ("0.0001 KiB", "size", "has a fraction of the smallest unit, B"),
        ("9e9 GiB", "size", "is too large to be stored: check its unit"),
        ("1e999", "integer", "is too large to be stored"),
        ("1e999", "float", "is too large to be stored"),
        ("1e999 h", "duration", "is too large to be stored"),
        ("1e9999999", "integer", "is not a whole number"),
        ("1" * 101, "integer", "is not a whole number"),
        ("a\0b", "text", "control character"),
        ("a\nb", "choice", "control character"),
        ("\ud800", "text", "control character"),
        ("x" * 1001, "text", "at most 1000 characters"),
    ],
)
def test_it_says_what_was_wrong_and_what_to_write(text, kind, complaint):
    with pytest.raises(units.UnitError) as refusal:
        units.parse_quantity(text, kind)
    assert complaint in str(refusal.value)
    assert str(refusal.value) == str(refusal.value.message)
    assert len(str(refusal.value)) < 300


def test_it_refuses_a_kind_that_does_not_exist():
    with pytest.raises(ValueError, match="'speed' is not a kind"):
        units.parse_quantity("1", "speed")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "B", "0 B"),
        (512, "B", "512 B"),
        (1448, "B", "1448 B"),
        (9000, "B", "9000 B"),
        (1460.25, "B", "1460 B"),
        (65536, "B", "64 KiB"),
        (65535, "B", "64.00 KiB"),
        (1_258_291, "B", "1.200 MiB"),
        (1_572_864, "B", "1.5 MiB"),
        (2**20 - 1, "B", "1.000 MiB"),
        (2**70, "B", "1048576 PiB"),
        (1_000_000_000, "bit/s", "1 Gbit/s"),
        (1_500_000_000, "bit/s", "1.5 Gbit/s"),
        (983e6, "bit/s", "983.0 Mbit/s"),
        (982_970_123, "bit/s", "983.0 Mbit/s"),
        (999.96e6, "bit/s", "1.000 Gbit/s"),
        (0, "bit/s", "0 bit/s"),
        (0.0, "bit/s", "0 bit/s"),
        (0.5, "bit/s", "0.5000 bit/s"),
        (118.2e6, "B/s", "118.2 MB/s"),
        (-983e6, "bit/s", "-983.0 Mbit/s"),
        (0.0048, "s", "4.80 ms"),
        (0.00099999, "s", "1.00 ms"),
        (0.9996, "s", "1.00 s"),
        (1.25, "s", "1.25 s"),
        (2.5e-7, "s", "250 ns"),
        (1e-12, "s", "0.00100 ns"),
        (1e-14, "s", "1.00e-05 ns"),
        (0.0, "s", "0 s"),
        (10.0, "s", "10 s"),
        (59.97, "s", "1 min"),
        (61.4, "s", "1 min 1 s"),
        (5400.0, "s", "1 h 30 min"),
        (90_061.0, "s", "1 d 1 h 1 min 1 s"),
        (0.32689, "1", "0.3269"),
        (32.7, "%", "32.7 %"),
        (0.9998, "fraction", "99.98 %"),
        (1.4, "fraction", "140 %"),
        (0.0, "fraction", "0 %"),
        (7, "count", "7"),
        (3.5, "", "3.5"),
        (9 * 10**18, "count", "9000000000000000000"),
        (12, "hops", "12 hops"),
        (math.inf, "bit/s", "inf bit/s"),
        (math.nan, "1", "nan"),
    ],
)
def test_it_shows_quantities_readably(value, unit, text):
    assert units.format_quantity(value, unit) == text


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (65536, "size", "64KiB"),
        (65535, "size", "65535B"),
        (0, "size", "0B"),
        (10**9, "rate", "1Gbit/s"),
        (983_500_000, "rate", "983500kbit/s"),
        (125_000_000, "byte-rate", "125MB/s"),
        (0.0048, "duration", "4.8ms"),
        (10.0, "duration", "10s"),
        (0.0, "duration", "0s"),
        (2.5e-07, "duration", "0.00000025s"),
        (4, "integer", "4"),
        (0.1, "float", "0.1"),
        (True, "boolean", "yes"),
        (False, "boolean", "no"),
        ("cubic", "choice", "cubic"),
    ],
)
def test_canonical_texts_are_short_and_plain(value, kind, text):
    assert units.canonical_text(value, kind) == text


VALUES = st.one_of(
    st.tuples(st.sampled_from(["size", "rate", "byte-rate"]), st.integers(0, LARGEST)),
    st.tuples(st.sampled_from(["size", "rate", "byte-rate"]), st.integers(0, 2**23).map(lambda n: n * 2**20)),
    st.tuples(st.sampled_from(["size", "rate", "byte-rate"]), st.integers(0, 9**9).map(lambda n: n * 10**9)),
    st.tuples(st.just("duration"), st.floats(0, allow_infinity=False)),
    st.tuples(st.just("duration"), st.floats(0, 1e5)),
    st.tuples(st.just("integer"), st.integers(-LARGEST, LARGEST)),
    st.tuples(st.just("float"), st.floats(allow_nan=False, allow_infinity=False)),
    st.tuples(st.just("boolean"), st.booleans()),
)


@given(VALUES)
def test_a_canonical_text_reads_back_to_the_same_value(kind_and_value):
    kind, value = kind_and_value
    text = units.canonical_text(value, kind)
    assert units.parse_quantity(text, kind) == value


@given(
    st.sampled_from(["size", "rate", "byte-rate"]),
    st.one_of(st.integers(0, 2**60), st.floats(1e5, 1e17)),
)
def test_a_shown_size_or_rate_reads_back_within_its_last_digit(kind, value):
    shown = units.format_quantity(value, units.BASE_UNITS[kind])
    assert float(units.exact_value(shown, kind)) == pytest.approx(value, rel=5.1e-4, abs=1e-30)


@given(st.floats(1e-9, 1e9))
def test_a_shown_duration_reads_back_within_its_last_digit(value):
    shown = units.format_quantity(value, "s")
    assert units.parse_quantity(shown, "duration") == pytest.approx(value, rel=0.01)


@given(st.text(max_size=30), st.sampled_from(units.KINDS))
def test_any_text_is_either_read_or_refused_with_a_message(text, kind):
    try:
        value = units.parse_quantity(text, kind)
    except units.UnitError as refusal:
        assert str(refusal)
    else:
        assert units.parse_quantity(units.canonical_text(value, kind), kind) == value


@given(st.floats(), st.sampled_from(["B", "bit/s", "B/s", "s", "%", "fraction", "hops"]))
def test_a_shown_quantity_never_loses_its_unit(value, unit):
    last_word = units.format_quantity(value, unit).split()[-1]
    endings = {"s": ("s", "min", "h", "d"), "B": ("B",), "fraction": ("%",)}.get(unit, (unit,))
    assert last_word.endswith(endings)


def test_it_knows_whether_a_unit_was_written():
    assert units.has_unit("64 KiB")
    assert not units.has_unit("64")
    assert units.is_unit("KiB")
    assert units.is_unit("MIN")
    assert not units.is_unit("and")
