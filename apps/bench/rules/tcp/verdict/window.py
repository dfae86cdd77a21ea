"""The window as the limit: by the kernel's word, by the law, or because a larger one helps."""

from apps.bench.rules import pace
from apps.bench.rules.base import Alternative, FindingDraft, Proposal
from apps.bench.rules.tcp import fingerprints, held, members
from apps.bench.rules.tcp.loss_law import said_of_chance
from apps.bench.rules.tcp.lost import LIKELY, RULED_OUT, UNKNOWN
from apps.bench.rules.tcp.present import UNSCALED, Present
from apps.bench.rules.tcp.scatter import Scatter
from apps.bench.rules.tcp.sweeps import confidence_of
from apps.bench.rules.tcp.verdict.case import FULL, Case, make_draft, proof_of, rates_around
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

SUBJECT = "window"
# The mean rate is to be known to this (half its 95 % interval, a share), or it tells no window.
MOST_ERROR = 0.3
# So sure it is at most where nobody counted what was sent again.
MOST = 0.6


def conclude(case: Case) -> FindingDraft | None:
    """Return that the window is the limit, if the kernel says so, the observed window does, or a larger one helps."""
    present, kernel = case.present, case.present.kernel
    waits = [kernel.get(name) for name in ("receiver_window_limited", "send_buffer_limited")]
    by_kernel = present.waited >= held.WAITED if present.waited is not None else None
    allowed, by_law = present.allowed(case.rtt), held.by_law(present, case.rtt)
    if case.is_refuted or by_kernel is False or not (by_kernel or by_law or case.better):
        return None
    if case.loss_verdict == LIKELY and not by_kernel:
        # What loses so much has no more by its window; one that had more lost less.
        return None
    by_receiver = present.waits_for_receiver
    if not case.better and present.is_read_slowly(case.rtt):
        return None
    # A run that an end held up, or one alone that the window seen in it contradicts, tells no window.
    is_lone = len(present.trials) == 1 and bool(present.mean("window_observed"))
    if not by_law and (pace.flags_of(present.point) or (is_lone and by_receiver)):
        return None
    if case.is_repeated and case.scatter.error(present.point.values("goodput")) > MOST_ERROR and not by_law:
        # Rates that scatter so far tell no window.
        return None
    implied = present.window(case.rtt)
    fingerprint = fingerprints.recognise(implied)
    reasons = [_implied(case, implied)]
    if by_kernel:
        receiver, buffer = (wait if isinstance(wait, int | float) else 0.0 for wait in waits)
        text = _(
            "The kernel waited %(receiver)s %% of the time for the receiver's window, %(buffer)s %% for its own."
        )
        reasons.append(Message(text, {"receiver": f"{100 * receiver:.0f}", "buffer": f"{100 * buffer:.0f}"}))
    if by_law and allowed:
        if present.is_of_sender:
            text = _("The sender's buffer holds less than its peer offers: tcp_wmem lets %(window)s be on the way.")
            reasons.append(Message(text, {"window": format_quantity(round(present.most_sent), "B")}))
        text = _("The window seen in each RTT allows %(allowed)s, and nothing was sent again.")
        if held.is_lossy(present):
            text = _(
                "The window seen in each RTT allows %(allowed)s in every run; the law of loss does not explain it."
            )
        elif case.loss_verdict == UNKNOWN:
            text = _("The window seen in each RTT allows %(allowed)s; how much was sent again nobody counted.")
        reasons.append(Message(text, {"allowed": format_quantity(allowed, "bit/s")}))
    if fingerprint:
        reasons.append(fingerprint)
    better = case.better
    if better:
        reasons.append(_grew(case, better))
    ways = sum(map(bool, (by_kernel, by_law, better)))
    predicted, interval = _freed(better, case.scatter)
    window = f"{implied:,.0f} B"
    is_open = case.loss_verdict == UNKNOWN and not by_kernel
    title = _("The TCP window is the limit: %(window)s in each RTT give %(rate)s")
    if is_open:
        title = _("The TCP window is the limit, unless segments are lost: %(window)s in each RTT give %(rate)s")
    confidence = confidence_of(
        (bool(by_kernel), 0.25), (by_law, 0.15), (bool(better), 0.2), (fingerprint is not None, 0.05), base=0.5
    )
    return make_draft(
        case,
        SUBJECT,
        title=Message(title, {"window": window, "rate": format_quantity(present.rate, "bit/s")}),
        why=tuple(reasons),
        value=round(implied),
        unit="B",
        formula=f"W = X · RTT / 8 / N = {format_quantity(present.rate, 'bit/s')} · "
        f"{format_quantity(case.rtt, 's')} / 8 / {present.streams} = {window}",
        predicted=predicted,
        interval=interval,
        confidence=min(confidence, MOST) if is_open else confidence,
        alternatives=(*_slow_program(case), *(() if by_kernel and ways > 1 else _instead_of_window(case))),
        missing=()
        if present.waited is not None
        else (Message(_("The kernel's own word for it: list sockets while the tool runs.")),),
        proof=proof_of(better) if better else None,
        also=better.trials if better else (),
    )


def _implied(case: Case, implied: float) -> Message:
    text = _("With the kernel's own window %(rate)s came through: %(window)s B in each RTT of %(rtt)s.")
    params = {
        "rate": format_quantity(case.present.rate, "bit/s"),
        "window": f"{implied:,.0f}",
        "rtt": format_quantity(case.rtt, "s"),
    }
    return Message(text, params)


def _grew(case: Case, better: Present) -> Message:
    text = _("With a window of %(window)s it is %(rate)s, ×%(times)s.")
    if better.rate >= FULL * case.path.ceiling_bps and not case.path.capacity.is_lower_bound:
        text = _("With a window of %(window)s it is %(rate)s, ×%(times)s: from there the path is the limit.")
    params = {
        "window": format_quantity(better.point.parameters["window"], "B"),
        "rate": format_quantity(better.rate, "bit/s"),
        "times": f"{better.rate / case.present.rate:.2f}",
    }
    return Message(text, params)


def _freed(better: Present | None, scatter: Scatter) -> tuple[float | None, tuple[float, float] | None]:
    """Return what a larger window was seen to reach, with its interval; None where none was measured."""
    # Without it the next limit is not known: a shaper of each flow, or a processor, leaves far less than the path.
    return (better.rate, scatter.interval(better.point.values("goodput"))) if better else (None, None)


def _slow_program(case: Case) -> tuple[Alternative, ...]:
    """Return the receiving program as what keeps its window small, where neither settings nor a larger one tell."""
    present = case.present
    if (
        case.better
        or case.multiple
        or present.is_of_sender
        or (present.waited is not None and not present.waits_for_receiver)
    ):
        return ()
    if UNSCALED < present.least_offered <= present.window(case.rtt):
        # It is as large as its kernel is known to let it grow.
        return ()
    return (
        Alternative(
            Message(_("The receiving program, or the disk beneath it, takes no more: its buffer is full.")),
            Message(_("A larger window, asked for or let grow, would change nothing, nor would several streams.")),
            Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4"}),
        ),
    )


def _instead_of_window(case: Case) -> tuple[Alternative, ...]:
    """Return what else would leave the rate and is not ruled out: loss, and a limit of each flow."""
    loads = Proposal("iperf3-udp", {}, {"rate": rates_around(case.present.rate)})
    if case.better:
        # Chance would have left as little to the larger window, and a limit of each flow as much to all.
        text = _("The kernel's own window loses more than one that is bounded: to a policer, or a short queue.")
        by_bursts = Alternative(
            Message(text),
            Message(_("Count what is sent again with both, and measure UDP at half and at twice the rate.")),
            loads,
        )
        return () if case.loss_verdict == RULED_OUT else (by_bursts,)
    by_loss = Alternative(
        said_of_chance(case.present, case.rtt),
        Message(_("Look at retransmits, and measure UDP at the same rate: it would lose so much.")),
        loads,
    )
    by_flow = Alternative(
        members.HOLDS_A_FLOW,
        Message(_("A larger window would change nothing; several streams would each have the same rate.")),
        members.SEVERAL,
    )
    return (by_flow,) if case.loss_verdict == RULED_OUT else (by_loss, by_flow)
