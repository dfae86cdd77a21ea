"""A set as a text: what it means, that it survives being written again, and what is said of wrong ones."""

from datetime import UTC, datetime
from urllib.parse import unquote

import pytest

from apps.comparison.comparisons.sets import ResultSet, SetError, read_set, same
from apps.results.addresses import text_of


def test_all_parts_are_read() -> None:
    result_set = read_set("campaign:12; cluster:3; tool:iperf3-tcp; since:2026-11-01; streams=4; label:Before")
    assert result_set.numbers == (("campaign", 12), ("cluster", 3))
    assert (result_set.tool, result_set.label, result_set.settings) == ("iperf3-tcp", "Before", (("streams", "4"),))
    assert result_set.since == datetime(2026, 11, 1, tzinfo=UTC)


def test_the_last_day_of_a_period_counts_whole() -> None:
    assert read_set("campaign:1;until:2026-11-21").until == datetime(2026, 11, 22, tzinfo=UTC)
    assert read_set("campaign:1;until:2026-11-21T10:00:00Z").until == datetime(2026, 11, 21, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "campaign:12",
        "experiment:3;streams=4;window=65536",
        "file-system:2;since:2026-11-01;until:2026-11-21",
        "site:1;setting.client.net.ipv4.tcp_rmem=4096 131072 6291456",
        "node:4;label:a; b=c: 100%",
        "campaign:1;options=a%3Bb%3A%25",
    ],
)
def test_a_set_survives_being_written_and_read_again(text: str) -> None:
    result_set = read_set(text)
    assert read_set(result_set.as_text()) == result_set


def test_signs_of_the_form_may_stand_in_values() -> None:
    result_set = ResultSet((("campaign", 1),), label="a;b=c:d %", settings=(("options", "x;y"),))
    assert read_set(result_set.as_text()) == result_set
    assert ";b" not in unquote(result_set.as_text()).split("label:")[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "needs something"),
        ("label:only", "needs something"),
        ("colour:red", "knows no “colour”"),
        ("campaign:x", "by its number"),
        ("campaign:-1", "by its number"),
        ("campaign:99999999999999999999", "by its number"),
        ("campaign:¹", "by its number"),
        ("campaign", "no part of a set"),
        ("campaign:1;since:yesterday", "no date"),
        ("campaign:1;since:2026-13-45", "no date"),
        ("campaign:1;until:9999-12-31", "no date"),
        ("campaign:1;" + "x" * 2000, "longer than"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, says: str) -> None:
    with pytest.raises(SetError) as caught:
        read_set(text)
    assert says in str(caught.value.message)


def test_values_are_the_same_by_text_or_as_the_tool_reads_them() -> None:
    assert same(65536, "65536")
    assert same(65536, "64KiB", [65536])
    assert same(True, "yes")
    assert same(None, "")
    assert not same(1, "yes", [True])
    assert text_of(0.5) == "0.5"
    assert text_of(2.0) == "2"
