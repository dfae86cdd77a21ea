"""Two settings measured in turn: the gain of the second over the first, and when its interval decides on a claim.

A gain is a ratio of two means, then over now: 1.5 for half as much again, 0.8 for a time that is a fifth shorter.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.statistics import student_t_quantile

VERIFIED, REFUTED, UNDECIDED = VERDICTS = ("verified", "refuted", "undecided")
# After so many pairs the interval is looked at. Five looks at the two-sided level of 0.0158 each err together as
# often as one at 0.05 (Pocock, Group sequential methods in the design and analysis of clinical trials, 1977).
LOOKS = (3, 5, 8, 12, 20)
CONFIDENCE = 1 - 0.0158
# A gain nearer to 1 than this is no difference that anybody would change a setting for.
MARGIN = 1.05
# Predicted and realised gain agree if they differ by no more than this share.
AGREE = 0.15

# Values of one block: (now, then).
Pair = tuple[float, float]


@dataclass(frozen=True)
class VerifiedGain:
    """The mean gain over `pairs` and its interval: 95 % over all looks, None for a single pair."""

    ratio: float
    low: float | None
    high: float | None
    pairs: int


@dataclass(frozen=True)
class Ruling:
    """What the pairs measured say of a claim, or how many blocks are `missing` until they may be asked again."""

    verdict: str
    missing: int
    gain: VerifiedGain | None


def gain_of(pairs: Sequence[Pair]) -> VerifiedGain | None:
    """Return the gain: the geometric mean of the ratios within blocks, so that what drifts between them cancels.

    The interval is Student's of the logarithms. Pairs with a value that is not above zero have no ratio; None
    without any that has.
    """
    logs = [math.log(then / now) for now, then in pairs if now > 0 and then > 0]
    n = len(logs)
    if not n:
        return None
    mean = math.fsum(logs) / n
    if n < 2:
        return VerifiedGain(math.exp(mean), None, None, n)
    spread = math.sqrt(math.fsum((log - mean) ** 2 for log in logs) / (n - 1))
    half = student_t_quantile((1 + CONFIDENCE) / 2, n - 1) * spread / math.sqrt(n)
    return VerifiedGain(math.exp(mean), math.exp(mean - half), math.exp(mean + half), n)


def claim_of(predicted: float | None, higher_is_better: bool | None, *, is_advice: bool = False) -> float:
    """Return the gain to put to the test: the predicted one, else (in logarithms) twice the least that counts.

    What is advised claims a gain in any case, MARGIN at least: that nothing changes is no reason for a change.
    """
    better = 1 / MARGIN if higher_is_better is False else MARGIN
    if predicted is None or not (predicted > 0 and math.isfinite(predicted)):
        return better**2
    if not is_advice:
        return predicted
    return min(predicted, better) if better < 1 else max(predicted, better)


def is_worse(gain: VerifiedGain | None, higher_is_better: bool | None) -> bool:
    """Return whether the interval, of pairs enough for a first look, lies wholly on the wrong side of no gain."""
    if gain is None or gain.low is None or gain.high is None or gain.pairs < LOOKS[0] or higher_is_better is None:
        return False
    return gain.high < 1 if higher_is_better else gain.low > 1


def verdict_of(gain: VerifiedGain | None, claim: float, higher_is_better: bool | None = None) -> str:
    """Return whether the gain's interval decides on the claimed gain, and how.

    What is worse than the present setting is refuted, whatever was claimed, even if that was a loss.
    The line lies halfway (geometrically) between no gain and the claim: an interval all beyond it verifies, one all
    short of it refutes. Where the claim is that nothing changes (within MARGIN), an interval all within MARGIN
    verifies and one all outside refutes. Fewer pairs than at the first look decide nothing.
    """
    if gain is None or gain.low is None or gain.high is None or gain.pairs < LOOKS[0]:
        return UNDECIDED
    if is_worse(gain, higher_is_better):
        return REFUTED
    low, high, claimed_log = math.log(gain.low), math.log(gain.high), math.log(claim)
    margin = math.log(MARGIN)
    if abs(claimed_log) < margin * (1 - 1e-9):
        if -margin <= low and high <= margin:
            return VERIFIED
        return REFUTED if low > margin or high < -margin else UNDECIDED
    if claimed_log < 0:
        low, high, claimed_log = -high, -low, -claimed_log
    if low > claimed_log / 2:
        return VERIFIED
    return REFUTED if high < claimed_log / 2 else UNDECIDED


def rule(
    pairs: Sequence[Pair], attempted: int, claim: float, maximum: int, higher_is_better: bool | None = None
) -> Ruling:
    """Return the verdict of the pairs, or how many more blocks it takes to the next look.

    `attempted` counts the blocks measured, those of which a value is missing too; `maximum` ends it in any case, and
    so does a first look that has nothing to look at: one of the settings fails.
    """
    gain = gain_of(pairs)
    n = gain.pairs if gain else 0
    remainder = max(0, maximum - attempted) if n or attempted < LOOKS[0] else 0
    # Between the looks nothing is decided, unless no further block may come.
    verdict = verdict_of(gain, claim, higher_is_better) if n in LOOKS or not remainder else UNDECIDED
    if verdict != UNDECIDED or not remainder:
        return Ruling(verdict, 0, gain)
    goal = next((look for look in LOOKS if look > n), n)
    return Ruling(UNDECIDED, min(goal - n, remainder), gain)


def agrees(predicted: float, realised: float) -> bool:
    """Return whether a predicted gain was within 15 % of the realised one."""
    return abs(predicted / realised - 1) <= AGREE
