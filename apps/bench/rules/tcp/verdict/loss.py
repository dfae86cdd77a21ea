"""Loss as the limit: segments were lost, the window left room, and the rate is about what such loss leaves (R7)."""

from apps.bench.rules.base import Alternative, FindingDraft, Proposal
from apps.bench.rules.tcp import estimates, held, reordering
from apps.bench.rules.tcp.lost import LIKELY
from apps.bench.rules.tcp.present import Present
from apps.bench.rules.tcp.sweeps import MOST_FALL, confidence_of
from apps.bench.rules.tcp.verdict.case import Case, make_draft, proof_of, rates_around
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

SUBJECT = "loss"
# Where so much of the path is had its own queue loses segments, and streams that are held by chance multiply.
MOST_OF_PATH = 0.75


def conclude(case: Case) -> FindingDraft | None:
    """Return that loss is the limit, if segments were lost and the window left room, at about Mathis's rate."""
    present, by_law = case.present, held.by_loss(case.present, case.rtt)
    lost_share, own = present.lost_share, present.kernel.get("congestion_window_limited")
    if present.may_be_late:
        # What came out of order is sent again though nothing was lost.
        return None
    if case.better is not None:
        return _bounded(case, case.better) if case.loss_verdict == LIKELY else None
    if by_law is None or lost_share is None or not case.is_single:
        # Of bursts, or of one run that may have met one, no law tells what they leave.
        return None
    if case.lost_by_udp is not None and case.lost_by_udp <= estimates.CLEAN * lost_share:
        # Datagrams lost nothing: it is not chance, but what TCP itself sends too much of.
        return None
    # More streams would each have as much, and a path so nearly filled loses of its own.
    is_shared = case.growth is not None and not case.growth.multiplies and case.growth.levels_off
    ceiling = case.path.stated_bps if case.path.capacity.is_lower_bound else case.path.ceiling_bps
    if is_shared or not ceiling or present.rate > MOST_OF_PATH * ceiling:
        return None
    text = _("%(share)s %% of the segments were sent again; the windows would allow more than was reached.")
    law = _("Random loss so often leaves about %(rate)s (Mathis for Reno, RFC 9438 for CUBIC).")
    params = {"share": f"{100 * lost_share:.2g}"}
    return make_draft(
        case,
        SUBJECT,
        title=Message(
            _("Loss is the limit: %(share)s %% of the segments leave %(rate)s"),
            {**params, "rate": format_quantity(present.rate, "bit/s")},
        ),
        why=(Message(text, params), Message(law, {"rate": format_quantity(by_law, "bit/s")})),
        value=100 * lost_share,
        unit="%",
        formula=f"X = N · (MSS · 8 / RTT) · f(p) = {format_quantity(by_law, 'bit/s')}, p = {lost_share:.2g}",
        confidence=case.path.rtt.temper(
            confidence_of(
                (isinstance(own, float) and own >= held.WAITED, 0.15), (len(present.trials) > 1, 0.15), base=0.5
            )
        ),
        alternatives=_causes(case),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"congestion": "cubic, bbr"}),),
    )


def _bounded(case: Case, better: Present) -> FindingDraft:
    """Return that loss is the limit of the kernel's own window, and that a bounded one had more as it loses less."""
    present, lost_share = case.present, case.present.lost_share or 0.0
    params = {
        "share": f"{100 * lost_share:.2g}",
        "rate": format_quantity(present.rate, "bit/s"),
        "window": format_quantity(better.point.parameters["window"], "B"),
        "more": format_quantity(better.rate, "bit/s"),
        "times": f"{better.rate / present.rate:.2f}",
    }
    text = _("With a window of %(window)s it is %(rate)s, ×%(times)s.")
    if better.lost_share is not None:
        text = _("With a window of %(window)s %(less)s %% were sent again, and it is %(more)s, ×%(times)s.")
        params["less"] = f"{100 * better.lost_share:.2g}"
    worse = _beyond(case, better)
    return make_draft(
        case,
        SUBJECT,
        title=Message(
            _("Loss is the limit of the kernel's own window: %(share)s %% of the segments sent again leave %(rate)s"),
            params,
        ),
        why=(
            Message(_("%(share)s %% of the segments were sent again with the kernel's own window."), params),
            Message(text, {**params, "rate": params["more"]}),
            *worse,
            Message(_("So what gains is a window that is bounded, and loses less, not one that is larger.")),
        ),
        value=100 * lost_share,
        unit="%",
        formula=f"p(0) = {lost_share:.2g} > p({better.point.parameters['window']:,} B), X(0) = {params['rate']}",
        predicted=better.rate,
        interval=case.scatter.interval(better.point.values("goodput")),
        confidence=confidence_of((len(present.trials) > 1, 0.1), (bool(worse), 0.15), base=0.5),
        alternatives=_causes(case),
        proof=proof_of(better),
        also=tuple({*better.trials, *(trial for item in case.larger for trial in item.trials)}),
    )


def _beyond(case: Case, better: Present) -> tuple[Message, ...]:
    """Return what the largest window lost where it surely had less than the one that had most."""
    last = max(case.larger, key=lambda item: item.point.parameters["window"])
    rates, best_rates = last.point.values("goodput"), better.point.values("goodput")
    if not case.scatter.is_less(rates, best_rates, by=MOST_FALL) or not (last.lost_share or 0.0) > (
        better.lost_share or 0.0
    ):
        return ()
    text = _("With one of %(window)s it is %(rate)s only, and %(share)s %% were sent again: more window loses more.")
    params = {
        "window": format_quantity(last.point.parameters["window"], "B"),
        "rate": format_quantity(last.rate, "bit/s"),
        "share": f"{100 * (last.lost_share or 0.0):.2g}",
    }
    return (Message(text, params),)


def _causes(case: Case) -> tuple[Alternative, ...]:
    """Return what loses segments though nothing does by chance, and the loads of UDP that decide."""
    present = case.present
    # Where datagrams enough came in order that is ruled out.
    late = () if present.may_be_late is False else (reordering.uncounted(),)
    return (
        Alternative(
            Message(_("The loss comes of a queue that is too short for the sender's bursts, not by chance.")),
            Message(_("Measure UDP at half the rate: chance loses there too, a short queue does not.")),
            Proposal("iperf3-udp", {}, {"rate": rates_around(present.rate)}),
        ),
        Alternative(
            Message(
                _("A policer drops what each flow sends above about %(rate)s."),
                {"rate": format_quantity((case.better or present).rate / present.streams, "bit/s")},
            ),
            Message(_("Measure UDP at half and at twice the rate: a policer takes nothing of the load below it.")),
            Proposal("iperf3-udp", {}, {"rate": rates_around(present.rate)}),
        ),
        *late,
    )
