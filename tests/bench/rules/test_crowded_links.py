"""Streams beside others' flows on a full link: each has its share, and no limit of its own."""

import pytest

from apps.bench.rules.tcp.crowd import are_in_proportion, others_of

COUNTS = (1, 2, 4, 8, 16)


@pytest.mark.parametrize("others", [3, 9, 20])
def test_shares_of_a_full_link_tell_how_many_others_there_are(others: int) -> None:
    rates = {count: 1e9 * count / (count + others) for count in COUNTS}
    assert others_of(rates) == pytest.approx(others)
    assert not are_in_proportion(rates, None)


def test_limits_of_each_flow_are_no_shares() -> None:
    rates = {count: min(5e7 * count, 5e8) for count in COUNTS}
    assert others_of(rates) is None
    assert are_in_proportion(rates, 5e8)
    assert not are_in_proportion(rates, None)
