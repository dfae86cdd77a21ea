"""What promises something of a larger window or of more connections, with loss beside it where that looks the same.

A policer, a short queue and chance leave a rate that looks like a window's, and a window that is bounded may gain
because it loses less.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from apps.bench.rules.base import RECOMMENDATION, Alternative, Evidence, FindingDraft, Proposal
from apps.bench.rules.presence import SOCKETS, TRANSFERS, own_control
from apps.bench.rules.tcp.lost import LIKELY, RULED_OUT, UNKNOWN, lost_instead
from apps.bench.rules.tcp.present import Present, is_plain, read_all, read_present
from apps.bench.rules.tcp.round_trip import read_rtt
from apps.bench.rules.tcp.verdict.case import rates_around
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# Rules whose findings promise something of a larger window, or of more connections.
WINDOWS = frozenset(
    {"tcp-bdp", "tcp-sysctl", "tcp-buffer-maxima", "tcp-window-scaling", "tcp-autotuning", "tcp-window-knee"}
)
RAISING = WINDOWS | {"tcp-streams", "tcp-best-setting", "gridftp-options", "gridftp-parallel"}
# So sure what promises a gain is at most that was not measured, where loss explains the rate as well.
MOST = 0.5
CONNECTIONS = ("streams", "window", "concurrency", "data_nodes")

Conclude = Callable[[Evidence], FindingDraft | None]


def with_loss_beside(conclude: Conclude) -> Conclude:
    """Return a rule whose findings say that loss would look the same, wherever that is not ruled out."""

    @functools.wraps(conclude)
    def concluded(evidence: Evidence) -> FindingDraft | None:
        draft = conclude(evidence)
        return beside(draft, evidence) if draft else None

    return concluded


def beside(draft: FindingDraft, evidence: Evidence) -> FindingDraft:
    """Return a finding; one that promises something of more window or streams with loss as the other explanation."""
    if draft.rule not in RAISING or not promises(draft):
        return draft
    less, more = compared(draft, evidence)
    if less is None and draft.present is None:
        return draft
    rtt = read_rtt(evidence)
    word = lost_instead(less, more, rtt.longest if rtt else None) if less else UNKNOWN
    if word == RULED_OUT:
        return draft
    rate = less.rate if less else (draft.present or 0.0)
    if less is not None and less.may_be_late:
        # How much of what was sent again was lost nobody knows.
        word = UNKNOWN
    other = replace(draft, alternatives=(by_loss(less, rate, word), *draft.alternatives))
    if word == UNKNOWN or less is None:
        return other
    is_measured = more is not None or draft.rule not in WINDOWS
    confidence = draft.confidence if is_measured else min(draft.confidence, MOST)
    return replace(other, against=(*draft.against, said_of(less, more)), confidence=confidence)


def by_loss(less: Present | None, rate: float, word: str) -> Alternative:
    """Return loss as what explains a rate (bit/s) as well, and the loads of UDP that decide."""
    test = _(
        "Measure UDP at half and at twice the rate: chance loses at both, a policer or a queue only above its own."
    )
    text = _("What is lost holds the rate, not the window: how many segments were sent again nobody counted.")
    if less is None:
        text = _("What is lost holds the rate, not the window: what it is set beside was not measured by itself.")
    share = less.lost_share if less is not None else None
    params: dict[str, Any] = {} if share is None else {"share": f"{100 * share:.2g}"}
    if word == LIKELY:
        text = _("What is lost holds the rate, not the window: a policer, a short queue, or chance (%(share)s %%).")
    elif share is not None:
        text = _(
            "What is lost may hold the rate, not the window: %(share)s %% of the segments were sent again, in how"
            " many events nobody counted."
        )
    return Alternative(Message(text, params), Message(test), Proposal("iperf3-udp", {}, {"rate": rates_around(rate)}))


def said_of(less: Present, more: Present | None) -> Message:
    """Return what was sent again of the setting that had less, and of the one that had more where counted."""
    params = {"share": f"{100 * (less.lost_share or 0.0):.2g}", "rate": format_quantity(less.rate, "bit/s")}
    if more is None or more.streams != less.streams or more.lost_share is None:
        text = _(
            "%(share)s %% of the segments were sent again at %(rate)s: so much loss leaves no more to any window."
        )
        return Message(text, params)
    text = _(
        "%(share)s %% of the segments were sent again at %(rate)s, %(less)s %% at %(more)s: what gains may be that"
        " less is lost, not that the window is larger."
    )
    params |= {"less": f"{100 * more.lost_share:.2g}", "more": format_quantity(more.rate, "bit/s")}
    return Message(text, params)


def promises(draft: FindingDraft) -> bool:
    """Return whether a finding proposes something, or predicts more than what there is or was tried."""
    had = draft.present or draft.tried
    return draft.kind == RECOMMENDATION or bool(had and draft.predicted and draft.predicted > had)


def compared(draft: FindingDraft, evidence: Evidence) -> tuple[Present | None, Present | None]:
    """Return what was measured of TCP at the setting that there is, and at the one that is proposed."""
    proof = draft.proof
    if proof is not None and {*proof.now} >= {*TRANSFERS}:
        # Transfers count no segments: of the same path TCP by itself does.
        is_more = any(proof.now[name] != proof.then.get(name) for name in CONNECTIONS)
        return (read_present(evidence), None) if is_more else (None, None)
    now = proof.now if proof is not None else {"window": 0, "streams": 1}
    return _reading_of(evidence, now), _reading_of(evidence, proof.then) if proof is not None else None


def _reading_of(evidence: Evidence, setting: Mapping[str, Any]) -> Present | None:
    """Return the measurement of a window and a number of streams with the nodes' own settings, None without any."""
    sockets, own = _sockets(setting, own_control(evidence)), own_control(evidence)
    return next(
        (one for one in read_all(evidence) if is_plain(one.point) and _sockets(one.point.parameters, own) == sockets),
        None,
    )


def _sockets(setting: Mapping[str, Any], own: str) -> list[Any]:
    """Return what a setting asks of sockets; who asks for the sender's own control asks for none."""
    values = {name: setting.get(name) or usual for name, usual in SOCKETS.items()}
    return list({**values, "congestion": "" if values["congestion"] == own else values["congestion"]}.values())
