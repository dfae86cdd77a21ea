"""The receiving program as the limit: its buffer is full, though its kernel would let the window grow far beyond."""

from apps.bench.rules import pace
from apps.bench.rules.base import FindingDraft
from apps.bench.rules.tcp import held
from apps.bench.rules.tcp.sweeps import confidence_of
from apps.bench.rules.tcp.verdict.case import Case, make_draft
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

SUBJECT = "receiver"


def conclude(case: Case) -> FindingDraft | None:
    """Return that the receiving program takes no more, where the window in use is small and none larger had more."""
    present = case.present
    is_small = present.waits_for_receiver or held.by_law(present, case.rtt)
    if case.better or not is_small or not present.is_read_slowly(case.rtt) or pace.flags_of(present.point):
        return None
    # How far it would let it grow is a setting of a node, which stays with its team.
    rate, window = format_quantity(present.rate, "bit/s"), format_quantity(round(present.window(case.rtt)), "B")
    params = {"window": window, "rate": rate}
    reasons = [
        Message(
            _("Only %(window)s are on the way in each RTT, where the receiver's kernel lets a window be far larger."),
            params,
        ),
        Message(
            _("A kernel grows the window as its program reads: the program takes %(rate)s, and no more."), params
        ),
    ]
    if present.waits_for_receiver:
        text = _("The sender's kernel waited %(share)s %% of the time for the receiver's window.")
        share = 100 * float(present.kernel["receiver_window_limited"])
        reasons.insert(0, Message(text, {"share": f"{share:.0f}"}))
    return make_draft(
        case,
        SUBJECT,
        title=Message(_("The receiving program is the limit: it, or the disk beneath it, takes %(rate)s"), params),
        why=tuple(reasons),
        formula=f"W = X · RTT / 8 / N = {rate} · {format_quantity(case.rtt, 's')} / 8 / {present.streams} = {window}",
        confidence=confidence_of((present.waits_for_receiver, 0.2), (len(present.trials) > 1, 0.15), base=0.5),
        missing=(Message(_("What holds the receiving program: its disk, its processor, or how it reads.")),),
    )
