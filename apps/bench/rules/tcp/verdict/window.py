"""The window as the limit: by the kernel's word, by the law, or because a larger one helps (rule R2)."""

from apps.bench import model, statistics
from apps.bench.rules.base import Alternative, FindingDraft, Proof, Proposal
from apps.bench.rules.tcp import fingerprints
from apps.bench.rules.tcp.present import Present
from apps.bench.rules.tcp.sweeps import confidence_of
from apps.bench.rules.tcp.verdict.case import FULL, Case, make_draft, rates_around
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

SUBJECT = "window"
# Share of its time that a connection waited for a window, from which the window is the limit.
WAITED = 0.5
# The rate agrees with the law of the window if it is this share of observed window / RTT.
LAW = (0.85, 1.10)


def conclude(case: Case) -> FindingDraft | None:
    """Return that the window is the limit, if the kernel says so, the observed window does, or a larger one helps."""
    present, kernel = case.present, case.present.kernel
    waits = [kernel.get(name) for name in ("receiver_window_limited", "send_buffer_limited")]
    waited = [wait for wait in waits if isinstance(wait, int | float)]
    by_kernel = sum(waited) >= WAITED if waited else None
    allowed = present.allowed(case.rtt)
    retransmits = present.mean("retransmits") or kernel.get("retransmits") or 0
    by_law = bool(allowed) and LAW[0] <= present.rate / (allowed or 1) <= LAW[1] and not retransmits
    if case.is_refuted or by_kernel is False or not (by_kernel or by_law or case.better):
        return None
    implied = present.window(case.rtt)
    known = fingerprints.recognise(implied)
    why = [_implied(case, implied)]
    if by_kernel:
        receiver, buffer = (wait if isinstance(wait, int | float) else 0.0 for wait in waits)
        text = _(
            "The kernel waited %(receiver)s %% of the time for the receiver's window, %(buffer)s %% for its own."
        )
        why.append(Message(text, {"receiver": f"{100 * receiver:.0f}", "buffer": f"{100 * buffer:.0f}"}))
    if by_law and allowed:
        text = _("The window seen in each RTT allows %(allowed)s, and nothing was sent again.")
        why.append(Message(text, {"allowed": format_quantity(allowed, "bit/s")}))
    if known:
        why.append(known)
    better = case.better
    if better:
        why.append(_grew(case, better))
    ways = sum(map(bool, (by_kernel, by_law, better)))
    predicted, interval = _freed(case, better)
    window = f"{implied:,.0f} B"
    return make_draft(
        case,
        SUBJECT,
        title=Message(
            _("The TCP window is the limit: %(window)s in each RTT give %(rate)s"),
            {"window": window, "rate": format_quantity(present.rate, "bit/s")},
        ),
        why=tuple(why),
        value=round(implied),
        unit="B",
        formula=f"W = X · RTT / 8 / N = {format_quantity(present.rate, 'bit/s')} · "
        f"{format_quantity(case.rtt, 's')} / 8 / {present.streams} = {window}",
        predicted=predicted,
        interval=interval,
        confidence=confidence_of(
            (bool(by_kernel), 0.25), (by_law, 0.15), (bool(better), 0.2), (known is not None, 0.05), base=0.5
        ),
        alternatives=() if by_kernel and ways > 1 else _instead_of_window(case),
        missing=() if waited else (Message(_("The kernel's own word for it: list sockets while the tool runs.")),),
        proof=_proof(better) if better else None,
        also=better.trials if better else (),
    )


def _implied(case: Case, implied: float) -> Message:
    text = _("With the kernel's own window %(rate)s came through: %(window)s B in each RTT of %(rtt)s.")
    shown = {
        "rate": format_quantity(case.present.rate, "bit/s"),
        "window": f"{implied:,.0f}",
        "rtt": format_quantity(case.rtt, "s"),
    }
    return Message(text, shown)


def _grew(case: Case, better: Present) -> Message:
    text = _("With a window of %(window)s it is %(rate)s, ×%(times)s.")
    if better.rate >= FULL * case.path.ceiling_bps:
        text = _("With a window of %(window)s it is %(rate)s, ×%(times)s: from there the path is the limit.")
    shown = {
        "window": format_quantity(better.point.parameters["window"], "B"),
        "rate": format_quantity(better.rate, "bit/s"),
        "times": f"{better.rate / case.present.rate:.2f}",
    }
    return Message(text, shown)


def _freed(case: Case, better: Present | None) -> tuple[float | None, tuple[float, float] | None]:
    """Return what is left when the window is no limit any more: what a larger window reached, or the next term."""
    if better:
        return better.rate, _around(better)
    if case.path.capacity.is_lower_bound:
        return None, None
    ceiling = case.path.ceiling_bps
    loss = model.mathis_bps(case.present.mss, case.rtt, case.present.lost_share, case.present.streams)
    value = min(ceiling, loss) if loss else ceiling
    return value, (min(case.present.rate, 0.9 * value), max(value, ceiling))


def _around(better: Present) -> tuple[float, float]:
    """Return the 95 % interval of a measured rate; of a single trial 5 % to either side, which is a habit."""
    summary = statistics.summarise(better.point.values("goodput"))
    if summary.ci_low is None or summary.ci_high is None:
        return 0.95 * better.rate, 1.05 * better.rate
    return max(summary.ci_low, 0.0), summary.ci_high


def _proof(better: Present) -> Proof:
    parameters = {"window": better.point.parameters["window"], "streams": better.streams}
    return Proof("iperf3-tcp", "goodput", {**parameters, "window": 0}, parameters)


def _instead_of_window(case: Case) -> tuple[Alternative, ...]:
    loss = model.mathis_loss(case.present.rate / case.present.streams, case.present.mss or 1448, case.rtt)
    return (
        Alternative(
            Message(_("Random loss of %(loss)s would leave the same rate."), {"loss": f"{loss:.1g}"}),
            Message(_("Look at retransmits, and measure UDP at the same rate: it would lose so much.")),
            Proposal("iperf3-udp", {}, {"rate": rates_around(case.present.rate)}),
        ),
        Alternative(
            Message(_("A shaper or policer gives each flow no more.")),
            Message(_("A larger window would change nothing; several streams would each have the same rate.")),
            Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4"}),
        ),
    )
