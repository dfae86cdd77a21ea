"""An A/B measurement decides on a claimed gain: by its interval, in few blocks, and rarely wrongly."""

import math
import random

import pytest

from apps.bench.sweep.verification import (
    LOOKS,
    MARGIN,
    REFUTED,
    UNDECIDED,
    VERIFIED,
    VerifiedGain,
    agrees,
    claim_of,
    gain_of,
    is_worse,
    rule,
    verdict_of,
)

Pairs = list[tuple[float, float]]


def measured(gain: float, noise: float, generator: random.Random, drift: float = 0.0) -> Pairs:
    """Return as many pairs as the most blocks give, whose values scatter by `noise` and drift from block to block."""
    level = 100e6
    pairs = []
    for _block in range(LOOKS[-1]):
        now, then = (level * share * math.exp(generator.gauss(0, noise)) for share in (1, gain))
        pairs.append((now, then))
        level *= 1 + drift
    return pairs


def carry_out(pairs: Pairs, claim: float) -> tuple[str, int]:
    """Return the verdict and the number of blocks it took."""
    done = 0
    while (ruling := rule(pairs[:done], done, claim, LOOKS[-1])).missing:
        done += ruling.missing
    return ruling.verdict, done


def test_the_gain_is_the_geometric_mean_of_the_blocks_ratios() -> None:
    gain = gain_of([(1.0, 2.0), (10.0, 80.0)])
    assert gain is not None
    assert gain.ratio == pytest.approx(4.0)
    assert gain.low < 1.0 < 4.0 < gain.high
    assert gain_of([(1.0, 2.0)]) == VerifiedGain(pytest.approx(2.0), None, None, 1)


def test_blocks_without_a_ratio_do_not_count() -> None:
    assert gain_of([(0.0, 5.0), (5.0, -1.0)]) is None
    assert gain_of([(0.0, 5.0), (5.0, 10.0), (5.0, 10.0)]) == VerifiedGain(2.0, 2.0, 2.0, 2)


@pytest.mark.parametrize(
    ("low", "high", "claim", "verdict"),
    [
        # The line of a claim of 4 is at 2.
        (2.1, 6.0, 4.0, VERIFIED),
        (1.1, 1.9, 4.0, REFUTED),
        (1.9, 2.1, 4.0, UNDECIDED),
        # Of a time that is to fall to a quarter it is at a half.
        (0.1, 0.45, 0.25, VERIFIED),
        (0.6, 1.2, 0.25, REFUTED),
        (0.4, 0.6, 0.25, UNDECIDED),
        # Nothing is to change.
        (0.97, 1.04, 1.0, VERIFIED),
        (0.97, 1.04, 0.98, VERIFIED),
        (1.06, 1.2, 1.0, REFUTED),
        (0.5, 0.9, 1.0, REFUTED),
        (0.9, 1.04, 1.0, UNDECIDED),
    ],
)
def test_the_interval_decides(low: float, high: float, claim: float, verdict: str) -> None:
    assert verdict_of(VerifiedGain(math.sqrt(low * high), low, high, 5), claim) == verdict


def test_without_an_interval_nothing_is_decided() -> None:
    assert verdict_of(None, 2.0) == UNDECIDED


@pytest.mark.parametrize(
    ("low", "high", "claim", "better", "verdict"),
    [
        (0.7, 0.9, 0.8, True, REFUTED),
        (0.97, 0.99, 1.0, True, REFUTED),
        (1.1, 1.3, 1.2, False, REFUTED),
        (0.7, 0.85, 0.8, False, VERIFIED),
        (1.1, 1.3, 1.2, True, VERIFIED),
        (0.7, 0.85, 0.8, None, VERIFIED),
    ],
)
def test_what_is_worse_is_refuted_whatever_was_claimed(low, high, claim, better, verdict):
    gain = VerifiedGain(math.sqrt(low * high), low, high, 5)
    assert verdict_of(gain, claim, better) == verdict
    assert is_worse(gain, better) == (verdict == REFUTED)


def test_a_single_pair_decides_nothing():
    assert verdict_of(VerifiedGain(9.0, None, None, 1), 2.0) == UNDECIDED


def test_what_is_plain_takes_three_blocks_and_what_scatters_more() -> None:
    generator = random.Random(1)
    assert carry_out(measured(6.0, 0.02, generator), 6.0) == (VERIFIED, 3)
    assert carry_out(measured(1.0, 0.02, generator), 6.0) == (REFUTED, 3)
    verdict, blocks = carry_out(measured(1.5, 0.12, generator), 1.5)
    assert verdict == VERIFIED
    assert blocks > 3


def test_a_drift_that_both_share_disturbs_nothing() -> None:
    assert carry_out(measured(1.3, 0.01, random.Random(2), drift=0.3), 1.3) == (VERIFIED, 3)


def test_at_the_most_blocks_it_ends_undecided() -> None:
    assert carry_out([(1.0, 1.4), (1.4, 1.0)] * 10, 1.2) == (UNDECIDED, 20)


def test_failed_blocks_are_made_up_for_until_the_cap() -> None:
    pairs = [(1.0, 2.0), (1.0, 2.1)]
    assert rule(pairs, 3, 2.0, 20).missing == 1
    assert rule(pairs, 19, 2.0, 20).missing == 1
    assert rule(pairs, 20, 2.0, 20).verdict == UNDECIDED
    ended = rule([*pairs, (1.0, 2.0), (1.0, 2.05)], 20, 2.0, 20)
    assert (ended.missing, ended.verdict) == (0, VERIFIED)
    assert rule([], 20, 2.0, 20).verdict == UNDECIDED


def test_a_setting_that_always_fails_is_given_up_at_the_first_look() -> None:
    assert rule([], 0, 2.0, 20).missing == 3
    assert rule([], 3, 2.0, 20) == rule([(0.0, 1.0)] * 3, 3, 2.0, 20)
    assert rule([], 3, 2.0, 20).missing == 0


def test_between_the_looks_nothing_is_decided() -> None:
    assert rule([(1.0, 2.0)] * 4, 4, 2.0, 20).verdict == UNDECIDED
    assert rule([(1.0, 2.0)] * 5, 5, 2.0, 20).verdict == VERIFIED


@pytest.mark.parametrize("claim", [1.05**2, 4.0, 0.5])
def test_it_errs_no_more_often_than_it_says(claim: float) -> None:
    # The truth is on the line itself: whatever is decided is wrong.
    generator, runs = random.Random(3), 1500
    decided = sum(carry_out(measured(math.sqrt(claim), 0.05, generator), claim)[0] != UNDECIDED for _ in range(runs))
    # 5 % in all looks together, and three standard errors of so many runs.
    assert 0.02 < decided / runs < 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def test_a_difference_that_counts_is_seldom_taken_for_none() -> None:
    generator, runs = random.Random(4), 500
    missed = sum(carry_out(measured(1.051, 0.02, generator), 1.0)[0] == VERIFIED for _ in range(runs))
    assert missed / runs < 0.05


@pytest.mark.parametrize(("higher", "claim"), [(True, 1.1025), (None, 1.1025), (False, 1 / 1.1025)])
def test_without_a_prediction_the_least_that_counts_is_the_line(higher: bool | None, claim: float) -> None:
    assert claim_of(None, higher) == pytest.approx(claim)
    assert claim_of(0.0, higher) == pytest.approx(claim)
    assert claim_of(3.0, higher) == 3.0


@pytest.mark.parametrize("higher", [True, False, None])
@pytest.mark.parametrize("predicted", [None, 0.5, 0.98, 1.0, 1.03, 1.06, 1.9])
@pytest.mark.parametrize(
    ("low", "high"), [(0.992, 1.021), (0.97, 1.04), (1 / 1.04, 1 / 1.02), (0.9, 1.3), (1.0, 1.001)]
)
def test_what_is_advised_is_never_verified_by_a_gain_that_may_be_none(higher, predicted, low, high):
    """What was predicted is told of rates here, of times it is the inverse."""
    if predicted and higher is False:
        predicted = 1 / predicted
    claim = claim_of(predicted, higher, is_advice=True)
    assert (claim < 1) if higher is False else (claim >= MARGIN)
    if low <= 1 <= high:
        assert verdict_of(VerifiedGain(math.sqrt(low * high), low, high, 5), claim, higher) != VERIFIED
    if (low, high) == (0.992, 1.021):
        assert verdict_of(VerifiedGain(1.007, low, high, 20), claim, higher) == REFUTED


def test_predictions_within_fifteen_per_cent_agree() -> None:
    assert agrees(1.15, 1.0)
    assert agrees(0.86, 1.0)
    assert not agrees(1.2, 1.0)
