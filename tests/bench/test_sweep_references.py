"""Formulas over what earlier experiments measured."""

import pytest

from apps.bench.sweep import references
from apps.bench.sweep.references import FormulaError, Reference
from apps.bench.toolkit import Parameter

MEASURED = {
    Reference("Bottleneck", "goodput"): [4.5e8, 4.37e8, 4.4e8],
    Reference("Baseline RTT", "rtt_min"): [0.1356, 0.1355, 0.1361],
}
WINDOW = Parameter("window", "size", "Window", unit="B", minimum=0, maximum=2**30)
DURATION = Parameter("duration", "duration", "Duration", unit="s")


def values(text: str) -> list[float]:
    return references.parse_formula(text).values(lambda reference: MEASURED.get(reference, []))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("=2 + 3 * 4", [14]),
        ("= (2 + 3) * 4", [20]),
        ("=10 - 4 - 3", [3]),
        ("=8 / 4 / 2", [1]),
        ("=64 KiB * {1, 2, 4}", [65536, 131072, 262144]),
        ("={1, 2, 2} * 10", [10, 20]),
        ("=1 Gbit/s × 0.9", [9e8]),
        ("=4.8 ms", [0.0048]),
        ("=1.5e3", [1500]),
        ("=max(Bottleneck.goodput)", [4.5e8]),
        ("=median(Bottleneck.goodput)", [4.4e8]),
        ('=min("Baseline RTT".rtt_min)', [0.1355]),
        ("=mean(Bottleneck.goodput) * {0.5, 1}", [4.4233333333333e8 / 2, 4.4233333333333e8]),
        # 450 Mbit/s x 135.5 ms / 8 = 7,621,875 B.
        ('=bdp(max(Bottleneck.goodput), min("Baseline RTT".rtt_min))', [7_621_875]),
        ("=bdp(1 Gbit/s, 4.8 ms) * {0.25, 1}", [150_000, 600_000]),
        ("=bdp(1 Gbit/s * {0.5, 1}, 8 ms)", [500_000, 1_000_000]),
    ],
)
def test_it_computes_in_base_units(text: str, wanted: list[float]) -> None:
    assert values(text) == pytest.approx(wanted)


def test_it_knows_what_it_refers_to_and_how_many_values_it_makes() -> None:
    formula = references.parse_formula(
        '=bdp(max(Bottleneck.goodput), min("Baseline RTT".rtt_min)) * {0.25, 0.5, 1, 2}'
    )
    assert formula.references == tuple(MEASURED)
    assert formula.count == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("=", "ends too early"),
        ("=1 +", "ends too early"),
        ("=max(Bottleneck)", "was expected"),
        ("=max(Bottleneck.", "ends too early"),
        ("=sum(Bottleneck.goodput)", "no function"),
        ("=goodput", "no function"),
        ("=bdp(1)", "was expected"),
        ("={1, 2} * {3, 4}", "at most one list"),
        ("={1, max(a.b)}", "no place there"),
        ("={}", "no place there"),
        ("=1 2", "no place there"),
        ("=64 K", "no unit"),
        ("=64 parsecs", "no unit"),
        ("=1; drop", "no place in a formula"),
        ("=1e999", "too large"),
        ("=" + "(" * 30 + "1", "too many parentheses"),
        ("=" + "1+" * 400 + "1", "too long"),
        ("=1 / 0", "divides by zero"),
        ("=1e300 * 1e300", "no number"),
        ("=bdp(1e300, 1e300)", "no number"),
        ("=max(Bottleneck.jitter)", "gave no jitter"),
    ],
)
def test_it_says_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(FormulaError, match=words):
        values(text)


def test_values_become_the_list_that_a_sweep_reads() -> None:
    lookup = MEASURED.__getitem__
    assert references.resolve_formula("=10.4 * {1, 2}", WINDOW, lookup) == "10, 21"
    assert references.resolve_formula("=4.8 ms * {1, 2}", DURATION, lookup) == "0.0048, 0.0096"


def test_what_is_no_number_can_not_be_computed() -> None:
    with pytest.raises(FormulaError, match="no number"):
        references.resolve_formula("=1", Parameter("congestion", "text", "Congestion"), MEASURED.__getitem__)


def test_only_what_begins_with_an_equals_sign_is_a_formula() -> None:
    assert references.is_formula(" =1")
    assert not references.is_formula("64KiB..1MiB x2")
