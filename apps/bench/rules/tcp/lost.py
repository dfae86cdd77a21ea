"""Whether loss, and not its window, makes a setting what it is: by the segments sent again, where counted."""

import math
from collections.abc import Iterable

from apps.bench.rules.tcp import held
from apps.bench.rules.tcp.loss_law import (
    EXPLAINS,
    LEAVES_MORE,
    MUCH,
    REFUTED,
    USUAL_MSS,
    may_be_chance,
    read_loss_law,
)
from apps.bench.rules.tcp.present import Present
from apps.bench.statistics.distributions import chi_square_tail

# Loss explains a rate as well, may explain it (nobody counted), or does not.
LIKELY, UNKNOWN, RULED_OUT = "likely", "unknown", "ruled-out"
# Between settings of one rate to the other r the loss that the law of CUBIC asks for goes by this power of r, and
# what was counted is known to this factor.
POWER, COUNTED = 4 / 3, 1.5
# A setting that sends again so many times fewer segments in a run loses far less.
FEWER = 4
# BBR heeds less loss than this share little, and has no law.
HEEDED = 0.02
# Settings whose streams have rates within this factor of each other have one limit. Counts of segments sent again
# that scatter more than events do of which each loses one, by chance more rarely than this, came in bursts.
ALIKE, RARELY = 1.25, 0.01


def lost_instead(less: Present, more: Present | None, rtt_s: float | None) -> str:
    """Return whether loss, not its window, would make `less` what it is: one of LIKELY, UNKNOWN, RULED_OUT.

    It does not where the kernel waited for a window, where hardly any segment was sent again, where the law of loss
    leaves far more (RFC 9438), or where `more` had its rate with no less loss: by that law it has none then. Where
    more came through than the law allows it explains nothing, and nothing either where the rate is the window's.
    """
    kernel_again = less.kernel.get("retransmits")
    retransmits = less.point.values("retransmits")
    if less.waited is not None and less.waited >= held.WAITED:
        return RULED_OUT
    if not retransmits and kernel_again is None:
        return UNKNOWN
    if (sum(retransmits) / max(len(retransmits), 1) or kernel_again or 0) < held.LEAST_AGAIN:
        return UNKNOWN if rtt_s and may_be_chance(less, rtt_s) else RULED_OUT
    share = less.lost_share
    if less.congestion.startswith("bbr"):
        return RULED_OUT if share is not None and share < HEEDED else UNKNOWN
    law = read_loss_law(less, rtt_s)
    if law is None:
        return UNKNOWN
    is_windows = held.fits_window(less, rtt_s)
    if law.word == LEAVES_MORE or _lost_no_less(less, more) or (law.word == REFUTED and is_windows):
        return RULED_OUT
    before, after = less.mean("retransmits"), more.mean("retransmits") if more is not None else None
    if before is not None and after is not None and more is not None and more.streams == less.streams:
        # Bursts come with any window; what is lost because a window is large goes with it.
        is_loss = FEWER * after <= before
    else:
        is_loss = law.word == EXPLAINS or law.share >= MUCH
    return LIKELY if is_loss and not is_windows else UNKNOWN


def _lost_no_less(less: Present, more: Present | None) -> bool:
    """Return whether a larger window had more though as much was lost as before, which no loss lets it have."""
    if more is None or more.streams != less.streams or more.lost_share is None or less.lost_share is None:
        return False
    return more.lost_share > COUNTED * less.lost_share * (less.rate / more.rate) ** POWER


def come_singly(present: Present, others: Iterable[Present], rtt_s: float) -> bool:
    """Return whether what runs sent again scatters as events that lose one segment each, as the laws of loss suppose.

    Of the runs of all settings whose streams have about as much (the index of dispersion). A single run tells it
    where more was lost than one burst can lose: what is under way at once.
    """
    rate = present.rate / present.streams
    alike = [item for item in others if 1 / ALIKE <= item.rate / item.streams / rate <= ALIKE]
    chi, freedom = 0.0, 0
    for item in alike:
        rates, counts = item.point.metrics.get("goodput", {}), item.point.metrics.get("retransmits", {})
        runs = [(counts[trial], rates[trial]) for trial in counts if trial in rates]
        again, sent = (math.fsum(values) for values in zip(*runs, strict=True)) if runs else (0.0, 0.0)
        if len(runs) > 1 and again > 0 and sent > 0:
            chi += math.fsum((own - again * of / sent) ** 2 / (again * of / sent) for own, of in runs if of > 0)
            freedom += len(runs) - 1
    if not freedom:
        segments = present.window(rtt_s) / (present.last_mss or USUAL_MSS)
        again = present.mean("retransmits") or present.kernel.get("retransmits") or 0.0
        return again >= present.streams * segments or (present.lost_share or 0.0) >= MUCH
    return chi_square_tail(chi, freedom) >= RARELY
