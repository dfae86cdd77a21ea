"""What the laws of loss leave a stream, and what its measured rate says of them: their one reader.

The laws count events; a tool counts segments, of which one event loses many. So what was counted leaves the law's
rate at least, and a rate well above it shows that segments were lost in bursts: how often then nobody knows.
"""

import math
from dataclasses import dataclass

from apps.bench import model
from apps.bench.rules.tcp.present import Present
from apps.bench.text import Message, _

# Loss agrees with the law within this factor: its constant is 0.9 to 1.3, and short runs hold much of the slow start.
WITHIN = 1.6
# The usual segment (B), where nobody saw one.
USUAL_MSS = 1448
# So much sent again (a share) is no burst now and then: a policer, or a queue that is short.
MUCH = 0.005
# The rate is about what the law leaves, far less than that, or more than it allows.
EXPLAINS, LEAVES_MORE, REFUTED = "explains", "leaves-more", "refuted"
_OF_CHANCE = {
    EXPLAINS: _("Random loss: a share of %(share)s was sent again, which leaves about this rate."),
    REFUTED: _(
        "Loss in bursts: a share of %(share)s was sent again; in events as rare as %(loss)s it leaves this rate."
    ),
    LEAVES_MORE: _(
        "Random loss of %(loss)s: by Mathis's law it leaves this rate."
        " A share of %(share)s was sent again, which is less."
    ),
}


@dataclass(frozen=True)
class LossLaw:
    """The share of segments sent again (0 to 1), the rate (bit/s) that so many events leave, and what that says."""

    share: float
    rate: float
    word: str


def read_loss_law(present: Present, rtt_s: float | None) -> LossLaw | None:
    """Return what is left by the law of Reno, or of CUBIC (RFC 9438); None where nothing was counted, or of BBR."""
    law = model.mathis_bps if present.congestion.startswith("reno") else model.cubic_bps
    share = present.lost_share
    rate = law(present.last_mss or USUAL_MSS, rtt_s, share, present.streams)
    if share is None or rate is None or present.congestion.startswith("bbr"):
        return None
    word = EXPLAINS if 1 / WITHIN <= present.rate / rate <= WITHIN else REFUTED
    return LossLaw(share, rate, LEAVES_MORE if rate > WITHIN * present.rate else word)


def left_by_chance(segment: float, share: float, rtt_s: float) -> float:
    """Return what events that come by chance leave one stream (bit/s), by the law that leaves more."""
    return max(law(segment, rtt_s, share, 1) or 0.0 for law in (model.mathis_bps, model.cubic_bps))


def loss_leaving(present: Present, rtt_s: float) -> float:
    """Return the share of events (0 to 1) that would leave each stream of a setting its rate, by Mathis's law."""
    return model.mathis_loss(present.rate / present.streams, present.mss or USUAL_MSS, rtt_s)


def said_of_chance(present: Present, rtt_s: float) -> Message:
    """Return which loss would leave the rate of a setting, beside what of it was counted."""
    law, params = read_loss_law(present, rtt_s), {"loss": f"{loss_leaving(present, rtt_s):.1e}"}
    if law is None:
        return Message(_("Random loss of %(loss)s: by Mathis's law it leaves this rate."), params)
    params["share"] = f"{law.share:.1e}"
    return Message(_OF_CHANCE[law.word], params)


def may_be_chance(present: Present, rtt_s: float) -> bool:
    """Return whether the segments sent again, however few, allow for a chance that leaves about this rate.

    What is meant by a count is at most so much more of it as chance allows (97.5 %, a Poisson count's score limit).
    """
    law, count = read_loss_law(present, rtt_s), sum(present.point.values("retransmits"))
    if law is None or not count:
        return False
    limit = count + 1.92 + 1.96 * math.sqrt(count + 0.96)
    most = min(1.0, law.share * limit / count)
    return left_by_chance(present.last_mss or USUAL_MSS, most, rtt_s) <= WITHIN * present.rate / present.streams
