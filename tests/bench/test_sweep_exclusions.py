"""Exclusions: conditions with units are understood, checked, and never handed to Python."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench import sweep
from apps.bench.sweep import exclusions
from tests.bench.sweeping import PARAMETERS

POINT = {
    "window": 128 * 1024,
    "streams": 4,
    "duration": 10.0,
    "pause": 0.5,
    "load": 100_000_000,
    "disk": 20_000_000,
    "share": 0.3,
    "reverse": False,
    "control": "cubic",
    "note": "x y",
    "level": 0,
}


def is_excluded(text, **values):
    return exclusions.compile_exclusion(text, PARAMETERS).excludes(POINT | values)


@pytest.mark.parametrize(
    "text",
    [
        "window > 64 KiB",
        "window > 64K and streams >= 4",
        "window>=131072",
        "window ≥ 128KiB",
        "128 KiB <= window",
        "window != 1M",
        "window <> 1M",
        "window ≠ 1M",
        "window = 128KiB",
        "streams < 8 AND NOT reverse",
        "not (streams > 8 or reverse)",
        "not not streams == 4",
        "streams == 1 or streams == 4",
        "streams > 8 || load == 100M && duration ≤ 10 s",
        "1 < streams < 8",
        "streams in (1, 4, 8)",
        "streams not in (1, 2)",
        "window in (64K, 128K)",
        "control == cubic",
        "control != 'bbr'",
        "control in (cubic, “bbr”)",
        "not reverse",
        "reverse == no",
        "reverse = 아니요",
        "reverse == 0",
        "(streams > 2) == (window > 64K)",
        "note == 'x y'",
        "note != 4",
        "window * streams > 500 KB",
        "streams * window > 500 KB",
        "streams * 64K > window",
        "2 * 64K == window",
        "64K * 2 == window",
        "streams * (2 * 16K) == window",
        "window / 2 == 64KiB",
        "window / 64K == 2",
        "window / 64 KiB == 2",
        "window / window == 1",
        "64K / 2 < window",
        "window / streams == 32KiB",
        "window + 1 MiB > 1M + 64K",
        "window - 64KiB == 65536",
        "-streams < -3",
        "streams --4 == 8",
        "-(2 + 3) * -1 > streams",
        "1 / streams == 0.25",
        "2 * 2 == 4 and streams / 2 == 2",
        "load * duration == 125 MB",
        "duration * load > 100MB",
        "window / duration < 1 Mbit/s",
        "10 ms < window / load < 11 ms",
        "disk == 160 Mbit/s",
        "disk == 20 MB/s",
        "load < disk",
        "pause < 1s",
        "pause * 2 == 1 s",
        "share * 3 == 0.9",
        "not share * 3 < 0.9",
        "not 0.1 + 0.2 > share",
        "share + 0.6 <= 0.9",
        "duration == 10",
        "１＜streams",
        "load > 300M/streams",
        "load > 300 M / streams",
        "streams<5and streams>3",
    ],
)
def test_it_understands_conditions(text):
    assert is_excluded(text)
    assert not is_excluded(f"not ({text})")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "Nothing was entered"),
        ("   ", "Nothing was entered"),
        ("streams", "is not a condition: compare it"),
        ("4", "A value in 1, 2, 3 is not a condition"),
        ("1", "is not a condition"),
        ("window * 2", "A value in B is not a condition"),
        ("streams > 4 and 1", "is not a condition"),
        ("'yes'", "A value in abc is not a condition"),
        ("foo", "“foo” is neither swept nor fixed here: use one of window, streams"),
        ("foo > 1", "“foo” is neither swept nor fixed"),
        ("foo == bar", "“foo” is neither swept nor fixed"),
        ("streams == fuor", "“fuor” is neither swept nor fixed"),
        ("reverse == maybe", "“maybe” is neither swept nor fixed"),
        ("window > 10 ms", "A value in s can not stand where one in B is needed"),
        ("window > streams", "A value in 1, 2, 3 can not stand where one in B"),
        ("window + load > 1", "A value in B can not stand where one in bit/s is needed"),
        ("window * window > 1", "B * B has no meaning here"),
        ("window * load > 1", "B * bit/s has no meaning here"),
        ("streams / window > 1", "1, 2, 3 / B has no meaning here"),
        ("1 / window > 1", "A value in B can not stand where one in 1, 2, 3 is needed"),
        ("control + 1 > 2", "A value in 1, 2, 3 can not stand where one in abc is needed"),
        ("-control == cubic", "A value in 1, 2, 3 can not stand where one in abc"),
        ("(streams > 1) + 1 > 2", "A value in 1, 2, 3 can not stand where one in yes/no"),
        ("(streams > 1) > 2", "compare them by == or !="),
        ("control > cubic", "compare them by == or !="),
        ("reverse < yes", "compare them by == or !="),
        ("control == cubik", 'control is never “cubik”: choose from "", cubic, bbr'),
        ("control in (bbr, 'reno')", "control is never “reno”"),
        ("control == 4", "control is never “4”"),
        ("streams > '4'", "A value in abc can not stand where one in 1, 2, 3"),
        ("streams == 1K", "leave out “K”"),
        ("window > 1.5", "has a fraction of the smallest unit"),
        ("window > 1.5 B", "has a fraction of the smallest unit"),
        ("window > 5 parsecs", "“parsecs” is not a unit"),
        ("window > 5 Mbit/h", "“Mbit/h” is not a unit"),
        ("pause > 5m", "may be minutes or milliseconds"),
        ("window >", "The condition breaks off"),
        ("window > )", "“)” does not fit here"),
        ("(window > 1M", "A parenthesis is not closed"),
        ("window > 1M)", "“)” does not fit here: join conditions by and, or"),
        ("streams 4", "“4” does not fit here"),
        ("- - streams < 1", "write one minus sign"),
        ("streams in 1, 2", "Put the list after “in” into parentheses"),
        ("streams in ()", "“)” does not fit here"),
        ("streams in (1, 2", "A parenthesis is not closed"),
        ("streams not 3", "Write “in” and a list in parentheses after “not”"),
        ("streams % 2 == 0", "“%” is no part of an exclusion"),
        ("streams ** 2 > 4", "“*” does not fit here"),
        ("__import__('os').system('true')", "is no part of an exclusion"),
        ("streams.real > 1", "“.” is no part of an exclusion"),
        ("note == 'open", "“'” is no part of an exclusion"),
        ("1e999 > streams", "too large to be stored"),
        ("(" * 60 + "streams > 1" + ")" * 60, "nested too deeply"),
        ("1+" * 100 + "1 > streams", "too long: write several"),
        ("streams > " + " " * 500 + "1", "too long: write several"),
    ],
)
def test_it_refuses_what_it_does_not_understand(text, complaint):
    with pytest.raises(exclusions.ExclusionError) as refusal:
        is_excluded(text)
    assert complaint in str(refusal.value)
    assert str(refusal.value) == str(refusal.value.message)


@pytest.mark.parametrize("text", ["window / level > 1", "1e300 * 1e300 * streams / level > 1"])
def test_it_names_the_point_at_which_a_condition_can_not_be_computed(text):
    with pytest.raises(exclusions.ExclusionError, match="can not be computed where level = 0"):
        is_excluded(text)


def test_it_says_so_if_a_condition_of_numbers_alone_can_not_be_computed():
    with pytest.raises(exclusions.ExclusionError, match="where 1 / 0 > 1"):
        is_excluded("1 / 0 > 1")


def test_it_says_so_if_a_number_grows_too_large():
    with pytest.raises(exclusions.ExclusionError, match="a number too large"):
        is_excluded(" * ".join(["level"] * 30) + " / 2 > 1", level=2**62)


def test_it_knows_no_names_where_nothing_is_swept():
    with pytest.raises(exclusions.ExclusionError, match="use one of –"):
        exclusions.compile_exclusion("streams > 1", {})


def test_it_tells_which_parameters_a_condition_needs():
    exclusion = exclusions.compile_exclusion("not -streams in (-1, level) or control == bbr", PARAMETERS)
    assert exclusion.names == {"streams": "integer", "level": "integer", "control": "choice"}


def expressions(names):
    leaves = st.one_of(st.sampled_from(names), st.integers(0, 9).map(str))
    amounts = st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: f"({' '.join(parts)})"),
            st.tuples(inner, st.sampled_from("+-*"), inner).map(" ".join),
        ),
        max_leaves=5,
    )
    comparisons = st.tuples(amounts, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), amounts).map(" ".join)
    return st.recursive(
        comparisons,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
            inner.map(lambda text: f"not ({text})"),
        ),
        max_leaves=4,
    )


@given(expressions(["streams", "level"]), st.integers(-5, 5), st.integers(-5, 5))
def test_its_precedence_is_that_of_python(text, streams, level):
    # Python's own evaluation is the oracle here, of texts that the test has made itself.
    expected = eval(text, {"__builtins__": {}}, {"streams": streams, "level": level})
    assert is_excluded(text, streams=streams, level=level) == expected


@given(st.text(alphabet="streamswindow 0123456789.KiBms()<>=!+-*/'\",&|%", max_size=40))
def test_any_text_is_understood_or_refused_with_a_message(text):
    try:
        is_excluded(text)
    except exclusions.ExclusionError as refusal:
        assert str(refusal)


def test_an_exclusion_of_a_sweep_is_refused_by_its_index():
    spec = sweep.SweepSpec(factors={"streams": "1..4"}, exclusions=["streams > 2", "streams >", "window > 1M"])
    with pytest.raises(sweep.SweepError) as refusal:
        sweep.expand_points(spec, PARAMETERS)
    assert list(refusal.value.errors) == ["exclusions.1", "exclusions.2"]
    assert "use one of streams" in str(refusal.value.errors["exclusions.2"])
