"""What links are only said to carry, beside what came through them: it gives way, or nothing is known."""

import dataclasses

import pytest

from apps.bench.rules import of_ends
from apps.bench.rules.base import Evidence, LinkFacts, PathFacts, Point
from apps.bench.rules.runner import conclude_all
from apps.bench.rules.tcp.path import fills_surely, read_capacity, read_path
from tests.bench.rules.cases import Maker, tools

# Three links that are all said to carry 2.488 Gbit/s.
SAID = PathFacts(2.488e9, 0.018, 1500, tuple(LinkFacts(name, 2.488e9) for name in ("a", "b", "c")), "b")
LOWEST = "the lowest link's"


def dispersion(make: Maker, rate: float) -> list[Point]:
    tool = tools.get("pathrate")
    sample = {"capacity": rate, "capacity_low": 0.98 * rate, "capacity_high": 1.02 * rate}
    return [make.point(tool, {}, sample, sample)]


def streams(make: Maker, rate: float) -> list[Point]:
    return [make.tcp([rate, 1.001 * rate, 0.999 * rate], streams=count, rtt=0.018) for count in (1, 2, 4)]


def held_by_window(make: Maker) -> list[Point]:
    """Return one stream whose window sets its rate: it tells nothing of the links."""
    return [make.tcp([29e6, 29.1e6, 28.9e6], rtt=0.018, observed=65536)]


def both_ways(forth: list[Point], back: list[Point]) -> list[Evidence]:
    there = Evidence(tuple(forth), SAID, way=(1, 2))
    here = Evidence(tuple(dataclasses.replace(point, is_back=True) for point in back), SAID, way=(2, 1), is_back=True)
    return [dataclasses.replace(there, beside=(here,)), dataclasses.replace(here, beside=(there,), elder=1)]


@pytest.mark.parametrize("means", [dispersion, streams])
@pytest.mark.parametrize("is_window_held", [True, False], ids=["held by its window", "nothing measured"])
@pytest.mark.parametrize("rate", [640e6, 1.9e9, 3.5e9])
def test_links_that_gave_another_rate_the_other_way_are_not_taken_at_their_word(means, is_window_held, rate) -> None:
    make = Maker()
    both_evidence = both_ways(
        means(make, rate), [make.ping(0.018), *(held_by_window(make) if is_window_held else [])]
    )
    back = read_path(both_evidence[1])
    assert back is None if not is_window_held else back is not None and back.capacity.is_lower_bound
    drafts = [draft for item in both_evidence for draft in conclude_all(of_ends(), item)]
    assert drafts
    lines = [str(line) for draft in drafts for line in (draft.title, *draft.why)]
    assert not [line for line in lines if LOWEST in line and "2.488" in line]
    if is_window_held:
        assert "the other way" in str(back and back.capacity.source)
    # Where the other way had about as much as the links are said to have, they are.
    agreed = both_ways(means(make, 2.4e9), [make.ping(0.018), *held_by_window(make)])
    reading = read_path(agreed[1])
    assert reading is not None and reading.capacity.value == pytest.approx(SAID.capacity_bps, rel=0.05)


@pytest.mark.parametrize(("rate", "is_known"), [(2.33e9, True), (2.34e9, True), (2.40e9, False), (2.55e9, False)])
def test_an_end_at_its_limit_above_all_that_links_carry_contradicts_them(rate: float, is_known: bool) -> None:
    """A processor comes anywhere by chance: what it held confirms links where it is all of them, and no more."""
    make = Maker()
    points = [
        dataclasses.replace(point, warnings=frozenset({"processor-full"}))
        for point in (make.tcp([rate, 1.001 * rate], streams=count, rtt=0.018) for count in (8, 16))
    ]
    capacity = read_capacity(Evidence((make.ping(0.018), *points), SAID))
    assert (capacity is not None) == is_known
    if is_known:
        assert capacity is not None and capacity.value == SAID.capacity_bps


def test_all_of_the_links_is_all_and_no_more() -> None:
    assert [fills_surely(rate, 100) for rate in (98, 99, 100, 101, 101.5)] == [False, True, True, True, False]
    assert not fills_surely(100, None)


@pytest.mark.parametrize("rate", [640e6, 2e9])
def test_where_less_came_through_no_link_is_called_the_bottleneck(rate: float) -> None:
    make = Maker()
    drafts = conclude_all(of_ends(), Evidence((make.ping(0.018), *dispersion(make, rate)), SAID))
    draft = next(draft for draft in drafts if draft.rule == "path-bottleneck")
    assert "as described" in str(draft.title) and "The bottleneck is" not in str(draft.title)
    assert "inventory is wrong" in str(draft.alternatives[0].title)


@pytest.mark.parametrize("count", [1, 4, 16])
def test_what_came_through_is_told_with_its_streams(count: int) -> None:
    """Where counts of streams were tried, a rate without its count is none to hold another against."""
    make = Maker()
    points = [make.ping(0.018), *(make.tcp([120e6 * n, 121e6 * n], streams=n, rtt=0.018) for n in (1, count))]
    for capacity in (None, 120e6 * count / 0.93):
        measurements = Evidence(tuple(points), dataclasses.replace(SAID, capacity_bps=capacity))
        reading = read_capacity(measurements)
        assert reading is not None and f"(streams = {count})" in str(reading.source)
    drafts = conclude_all(of_ends(), Evidence((*points, *dispersion(make, 120e6 * count / 0.93)), SAID))
    lines = [str(line) for draft in drafts if draft.rule == "path-capacity" for line in draft.why]
    assert [line for line in lines if line.startswith("TCP: ") and f"(streams = {count})" in line]
