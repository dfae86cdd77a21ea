"""Whether sets can be compared: what forbids it, what warns, and to what a difference can be put down."""

from dataclasses import replace

import pytest

from apps.bench.comparison import ComparedSets, Deviation, RemarkLevel, deviations, judge

PLAIN = ComparedSets(
    names=("A", "B"),
    tools=(frozenset({"iperf3"}), frozenset({"iperf3"})),
    units=(frozenset({"bit/s"}), frozenset({"bit/s"})),
    samples=(8, 8),
    axis="Window",
    common=4,
    averaged=(),
    deviations=(),
)


def values(*sets: set[str]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(found) for found in sets)


def levels(shown: ComparedSets) -> list[RemarkLevel]:
    return [remark.level for remark in judge(shown)]


def text(shown: ComparedSets) -> str:
    return "\n".join(str(remark.message) for remark in judge(shown))


def test_sets_that_are_alike_can_be_compared() -> None:
    assert levels(PLAIN) == [RemarkLevel.NOTE]
    assert "Nothing that was recorded differs" in text(PLAIN)


def test_one_thing_that_differs_is_the_cause() -> None:
    shown = replace(PLAIN, deviations=(Deviation("Machine", "Kernel", values({"6.1"}, {"6.8"})),))
    assert levels(shown) == [RemarkLevel.NOTE]
    assert "can be put down to it: Kernel" in text(shown)


def test_of_two_things_that_differ_neither_is_the_cause() -> None:
    found = tuple(Deviation("Machine", name, values({"1"}, {"2"})) for name in ("Kernel", "MTU"))
    shown = replace(PLAIN, deviations=found)
    assert levels(shown) == [RemarkLevel.CAUTION]
    assert "cannot be put down to any one of them: Kernel, MTU" in text(shown)


def test_what_only_one_set_tells_is_not_counted_as_different() -> None:
    shown = replace(PLAIN, deviations=(Deviation("Machine", "Kernel", values({"6.1"}, set())),))
    assert levels(shown) == [RemarkLevel.NOTE, RemarkLevel.NOTE]
    assert "only some sets tell" in text(shown)


def test_what_figures_are_means_over_is_told() -> None:
    shown = replace(PLAIN, averaged=("Nodes", "Tool"))
    assert RemarkLevel.REFUSAL not in levels(shown)
    assert "averaged over Nodes, Tool" in text(shown)


def test_different_units_are_refused() -> None:
    shown = replace(PLAIN, units=(frozenset({"bit/s"}), frozenset({"B/s"})))
    assert levels(shown)[0] is RemarkLevel.REFUSAL


def test_different_tools_are_a_caution() -> None:
    shown = replace(PLAIN, tools=(frozenset({"iperf3"}), frozenset({"nuttcp"})))
    assert RemarkLevel.CAUTION in levels(shown)
    assert "iperf3, nuttcp" in text(shown)


def test_sets_without_a_common_place_are_refused() -> None:
    assert levels(replace(PLAIN, common=0))[0] is RemarkLevel.REFUSAL
    assert RemarkLevel.REFUSAL not in levels(replace(PLAIN, common=0, axis=""))


def test_a_set_without_figures_is_named() -> None:
    shown = replace(PLAIN, samples=(8, 0))
    assert levels(shown) == [RemarkLevel.REFUSAL]
    assert text(shown) == "B has no figures of this metric."


def test_invalid_figures_and_those_left_out_are_told() -> None:
    assert levels(replace(PLAIN, invalid=2, cut=50)).count(RemarkLevel.CAUTION) == 2


def test_one_set_alone_needs_no_judgement() -> None:
    one = replace(PLAIN, names=("A",), tools=PLAIN.tools[:1], units=PLAIN.units[:1], samples=(8,))
    assert judge(one) == []


def test_many_names_are_counted() -> None:
    found = tuple(Deviation("Kernel settings", f"key{i}", values({"1"}, {"2"})) for i in range(9))
    assert "key0, key1, key2, key3, … (+5)" in text(replace(PLAIN, deviations=found))


def test_what_differs_is_what_not_all_sets_share() -> None:
    first = {("Machine", "Kernel"): frozenset({"6.1"}), ("Machine", "CPU"): frozenset({"X"})}
    second = {("Machine", "Kernel"): frozenset({"6.1", "6.8"}), ("Machine", "CPU"): frozenset({"X"})}
    (found,) = deviations([first, second])
    assert (found.topic, found.name, found.values) == ("Machine", "Kernel", values({"6.1"}, {"6.1", "6.8"}))
    assert not found.is_unknown_somewhere


def test_what_is_not_known_of_a_set_comes_last() -> None:
    first = {("a", "only here"): frozenset({"1"}), ("b", "both"): frozenset({"1"})}
    second = {("b", "both"): frozenset({"2"})}
    assert [item.name for item in deviations([first, second])] == ["both", "only here"]


def test_what_changed_while_a_set_was_measured_is_told_even_of_a_set_alone() -> None:
    alone = replace(
        PLAIN, names=("A",), tools=PLAIN.tools[:1], units=PLAIN.units[:1], samples=(8,), changed=values({"Kernel"})
    )
    assert levels(alone) == [RemarkLevel.CAUTION]
    assert text(alone).startswith("While A was measured this changed on its nodes: Kernel.")
    assert levels(replace(alone, changed=values(set()))) == []
    # Without figures there is nothing that it could have changed.
    assert levels(replace(alone, samples=(0,))) == [RemarkLevel.REFUSAL]


@pytest.mark.parametrize("unknown", [(), ("kernel",), ("kernel", "interfaces", "versions", "routes")])
@pytest.mark.parametrize("count", [0, 1])
def test_what_is_not_known_of_all_is_named_where_nothing_or_one_thing_differs(
    unknown: tuple[str, ...], count: int
) -> None:
    found = (Deviation("Measurement", "Testbed", values({"a"}, {"b"})),) * count
    told = text(replace(PLAIN, deviations=found, unrecorded=unknown))
    assert all(name in told for name in unknown)
    assert ("may differ" in told) is bool(unknown)
    assert ("can be put down to it" in told) is (count == 1 and not unknown)
