"""All that a page shows stands in its address: read, written and read again."""

import pytest
from django.http import QueryDict

from apps.bench.comparison import Statistic
from apps.comparison.comparisons.sets import read_set
from apps.comparison.comparisons.state import ComparisonState, read_state, read_text

FULL = ComparisonState(
    sets=(read_set("campaign:1"), read_set("cluster:2;streams=4;label:GPFS")),
    metric="goodput",
    axis="window",
    series="streams",
    fixed=(("direction", "forward"), ("congestion_control", "")),
    statistic=Statistic.MEDIAN,
    chart="heat",
    baseline=1,
    log_x="no",
    log_y="yes",
    points=True,
    ratio=True,
    invalid=True,
)


@pytest.mark.parametrize(
    "state",
    [
        ComparisonState(),
        FULL,
        ComparisonState(sets=FULL.sets, base_axis="65536"),
        ComparisonState(sets=FULL.sets, base_series=""),
    ],
)
def test_a_state_survives_being_written_and_read_again(state: ComparisonState) -> None:
    assert read_text(state.as_query()) == (state, {})


def test_what_is_as_usual_is_left_out_of_the_address() -> None:
    assert ComparisonState(sets=(read_set("campaign:1"),)).as_query() == "set=campaign%3A1"


def test_empty_choices_of_a_form_mean_nothing() -> None:
    state, errors = read_state(
        QueryDict("set=campaign:1&metric=&x=&by=&fix=streams:*&stat=mean&base=set:0&log_x=auto")
    )
    assert not errors
    assert state == ComparisonState(sets=(read_set("campaign:1"),))


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("set=nonsense", "set.0"),
        ("set=campaign:1&set=x:1", "set.1"),
        ("set=campaign:1&base=7", "base"),
        ("set=campaign:1&base=none", "base"),
        ("set=campaign:1&stat=mode", "stat"),
        ("set=campaign:1&chart=pie", "chart"),
        ("set=campaign:1&log_y=maybe", "log_y"),
        ("set=campaign:1&fix=streams", "fix"),
        ("&".join(["set=campaign:1"] * 7), "set"),
    ],
)
def test_what_cannot_be_read_is_named_and_the_rest_is_shown(query: str, field: str) -> None:
    state, errors = read_state(QueryDict(query))
    assert list(errors) == [field]
    assert state.statistic is Statistic.MEAN
    assert len(state.sets) == min(6, query.count("campaign"))


def test_taking_a_set_out_keeps_the_baseline() -> None:
    assert FULL.without_set(0).baseline == 0
    assert FULL.without_set(1).baseline == 0
    assert [found.label for found in FULL.without_set(0).sets] == ["GPFS"]


def test_an_address_with_too_many_fields_is_refused() -> None:
    _state, errors = read_text("&".join(f"set=campaign:{i}" for i in range(2000)))
    assert list(errors) == ["query"]
