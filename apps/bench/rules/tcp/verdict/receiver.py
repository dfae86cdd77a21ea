"""A receiver's window that stays small though its kernel would let it grow far beyond: its program, or a clamp.

Of one stream both look alike. Several share the pace of a program; each has a window of its own under a clamp.
"""

from apps.bench.rules import pace
from apps.bench.rules.base import Alternative, FindingDraft, Proposal
from apps.bench.rules.tcp import held, members
from apps.bench.rules.tcp.sweeps import confidence_of
from apps.bench.rules.tcp.verdict.case import Case, make_draft
from apps.bench.text import Message, _
from apps.bench.units import canonical_text, format_quantity

SUBJECT, CLAMP = "receiver", "clamp"
# So sure it is at least where several streams tell which of the two it is, and where nobody opened them.
TOLD_APART, ALIKE = 0.5, 0.35
# So many times the window in use is asked for, to see whether it is had.
LARGER = 8


def conclude(case: Case) -> FindingDraft | None:
    """Return what keeps the receiver's window small, where its kernel does not, and none that is larger had more."""
    present = case.present
    is_small = present.waits_for_receiver or held.by_law(present, case.rtt)
    if case.better or not is_small or not present.is_read_slowly(case.rtt) or pace.flags_of(present.point):
        return None
    # How far it would let it grow is a setting of a node, which stays with its team.
    rate, window = format_quantity(present.rate, "bit/s"), format_quantity(round(present.window(case.rtt)), "B")
    params: dict[str, object] = {"window": window, "rate": rate}
    reasons = [
        Message(
            _("Only %(window)s are on the way in each RTT, where the receiver's kernel lets a window be far larger."),
            params,
        )
    ]
    if present.waits_for_receiver:
        text = _("The sender's kernel waited %(share)s %% of the time for the receiver's window.")
        share = 100 * float(present.kernel["receiver_window_limited"])
        reasons.insert(0, Message(text, {"share": f"{share:.0f}"}))
    subject, base, causes = SUBJECT, ALIKE, _clamps(case)
    title = _("The receiving program takes %(rate)s, or something clamps its window at %(window)s: it is undecided")
    text = _("A kernel grows the window as its program reads, unless something clamps it: one stream does not tell.")
    if case.multiple:
        subject, base, causes = CLAMP, TOLD_APART, (*causes, _own_readers())
        title = _("Something clamps each connection's window: %(window)s in each RTT give %(rate)s")
        text = _(
            "%(count)s streams had %(most)s together: the receiving program and its disk take more than one has."
        )
        params |= {"count": case.multiple.streams, "most": format_quantity(case.multiple.rate, "bit/s")}
    elif case.is_shared:
        base, causes = TOLD_APART, ()
        title = _("The receiving program is the limit: it, or the disk beneath it, takes %(rate)s")
        text = _("A kernel grows the window as its program reads: the program takes %(rate)s, and no more.")
    return make_draft(
        case,
        subject,
        title=Message(title, params),
        why=(*reasons, Message(text, params)),
        formula=f"W = X · RTT / 8 / N = {rate} · {format_quantity(case.rtt, 's')} / 8 / {present.streams} = {window}",
        confidence=confidence_of((present.waits_for_receiver, 0.2), (len(present.trials) > 1, 0.15), base=base),
        alternatives=causes,
        missing=()
        if case.multiple
        else (Message(_("What holds the receiving program: its disk, its processor, or how it reads.")),),
        proposals=() if case.multiple or case.is_shared else (members.SEVERAL,),
        also=case.multiple.trials if case.multiple else (),
    )


def _clamps(case: Case) -> tuple[Alternative, ...]:
    """Return what clamps a connection's window, whatever its kernel would let it grow to, and what would tell."""
    larger = canonical_text(LARGER * 2 ** round(case.present.window(case.rtt)).bit_length(), "size")
    own_buffer = Alternative(
        Message(_("The program set a buffer of its own (SO_RCVBUF), which clamps the window: no kernel grows it.")),
        Message(_("Several streams multiply. List its sockets during a run (ss -tmi), and ask for a larger window.")),
        Proposal("iperf3-tcp", {"streams": "1"}, {"window": f"0, {larger}"}),
    )
    on_route = Alternative(
        Message(_("A route of the receiver (ip route … window) or a box on the way clamps the window of each one.")),
        Message(
            _("Several streams multiply, and a larger window that is asked for has no more. Read ip route get there.")
        ),
        members.SEVERAL,
    )
    own_settings = Alternative(
        Message(_("The program runs in a container or namespace, and the tcp_rmem of that clamps the window.")),
        Message(_("Several streams multiply. Read tcp_rmem where the program runs, not only on its node.")),
        members.SEVERAL,
    )
    return (on_route,) if case.is_vain else (own_buffer, on_route, own_settings)


def _own_readers() -> Alternative:
    return Alternative(
        Message(_("Each stream is read by a thread or process of its own, which takes no more.")),
        Message(_("Look at the processor of each of them during a run: one that reads slowly waits, or is full.")),
    )
