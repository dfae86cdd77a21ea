"""The kernel's autotuning of the window, and programs or settings that switch it off."""

from collections.abc import Sequence

from apps.bench import curve
from apps.bench.rules import presence
from apps.bench.rules.base import NO_CHANGE, Evidence, FindingDraft, Proof
from apps.bench.rules.tcp import programs, sysctl, unlike
from apps.bench.rules.tcp.bdp import is_short
from apps.bench.rules.tcp.better import better_window, explicits
from apps.bench.rules.tcp.path import read_path
from apps.bench.rules.tcp.present import Present, read_present
from apps.bench.rules.tcp.scatter import Scatter
from apps.bench.rules.tcp.sweeps import confidence_of, scatter_of
from apps.bench.rules.tcp.verdict import refuted
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-autotuning", 8
KEY, NAME = "net.ipv4.tcp_moderate_rcvbuf", "tcp-autotuning"
# An explicit window harms if the automatic one is faster by more than repetitions usually differ.
HARM = 1.1
# It is slower for sure by this share, whatever repetitions scatter.
SURELY = 0.08
# It has as much with this share of the automatic one's rate; far less than the links is below this share of them.
AS_MUCH, FAR = 0.97, 0.8


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return that an explicit window costs rate, or that autotuning is off; None if neither shows."""
    present = read_present(evidence)
    if present is None or is_short(read_path(evidence)):
        return None
    return _switched_off(evidence, present) or _explicit(evidence, present)


def _switched_off(evidence: Evidence, present: Present) -> FindingDraft | None:
    off = [role for role in sysctl.ROLES if sysctl.read_sysctls(evidence, role).get(KEY) == "0"]
    if not off:
        return None
    nodes = sysctl.simple(evidence, {KEY: "1"}, tuple(off))
    faster = [item.rate for item in explicits(evidence, present) if item.rate > HARM * present.rate]
    text = _("%(name)s is 0 on %(roles)s: the receive window stays at tcp_rmem's default.")
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        title=Message(_("Switch the receive buffer's autotuning on: %(roles)s"), {"roles": " + ".join(off)}),
        why=(Message(text, {"name": KEY, "roles": " + ".join(off)}),),
        formula=f"{KEY} = 0",
        evidence=present.trials,
        change=sysctl.change(nodes, NAME, f"Fathom {RULE}: let the kernel grow receive windows"),
        undo=sysctl.undo(nodes, NAME),
        present=present.rate,
        predicted_unit="bit/s",
        confidence=confidence_of((bool(faster), 0.2), base=0.7),
        applies_when=Message(_("Programs that set no socket buffers.")),
        limits=(Message(_("The window grows up to tcp_rmem's largest only.")), Message(sysctl.KEPT)),
        side_effects=(Message(_("Connections may hold more memory, up to tcp_rmem's largest each.")),),
        source="tcp(7), tcp_moderate_rcvbuf",
        proof=sysctl.proof(nodes, {"window": 0, "streams": present.streams}),
    )


def _is_disturbed(item: Present, explicit: Sequence[Present]) -> bool:
    """Return whether a smaller window did better: then it was not the window that made this one slow."""
    own = item.point.parameters["window"]
    return any(one.point.parameters["window"] < own and one.rate > HARM * item.rate for one in explicit)


def _prompt(explicit: Sequence[Present], present: Present, scatter: Scatter) -> Present | None:
    """Return the least of the explicit windows with the automatic one's rate and far less delay, None without any."""
    own = present.point.values("goodput")
    equals = [
        item
        for item in explicit
        if item.rate >= AS_MUCH * present.rate
        and not scatter.is_less(item.point.values("goodput"), own, by=SURELY)
        and unlike.is_slower(present, item)
    ]
    return min(equals, key=lambda item: item.point.parameters["window"], default=None)


def _slower(explicit: Sequence[Present], present: Present, scatter: Scatter) -> list[Present]:
    """Return the explicit windows that are surely slower than the automatic one, and so is each smaller one.

    By the test of the rule, and by that of the sentence on the same curve: one page does not tell them apart and not.
    """
    own = present.point.values("goodput")
    groups = [*(item.point.values("goodput") for item in explicit), own]
    reading = curve.read_places(groups)
    # Of a lone run the sentence names none.
    is_named = reading.form is curve.CurveForm.BEST and reading.best == len(explicit)
    alike = {*reading.rivals} if is_named else set()
    slower: list[Present] = []
    for place, item in sorted(enumerate(explicit), key=lambda pair: pair[1].point.parameters["window"]):
        if (
            HARM * item.rate >= present.rate
            or place in alike
            or not scatter.is_less(groups[place], own, by=SURELY)
            or _is_disturbed(item, explicit)
        ):
            break
        slower.append(item)
    return slower


def _as_much(evidence: Evidence, present: Present, item: Present) -> FindingDraft:
    """Return that a window asked for has as much as the automatic one, which only waits longer in a queue."""
    window, nominal = item.point.parameters["window"], evidence.path.capacity_bps
    params = {
        "window": format_quantity(window, "B"),
        "rate": format_quantity(item.rate, "bit/s"),
        "best": format_quantity(present.rate, "bit/s"),
        "short": format_quantity(item.mean("mean_rtt") or 0.0, "s"),
        "long": format_quantity(present.mean("mean_rtt") or 0.0, "s"),
        "nominal": format_quantity(nominal, "bit/s") if nominal else "",
    }
    reasons = [
        Message(_("A window of %(window)s gives %(rate)s; the kernel's own gives %(best)s."), params),
        Message(
            _("What the kernel's own has more under way waits in a queue on the path, and delays others."), params
        ),
    ]
    if nominal and present.rate < FAR * nominal:
        text = _(
            "Something gives about %(best)s, before which the queue grows, and not the %(nominal)s that the links are"
            " described with: a link, a shaper, what others on the path leave, or a receiver that takes no more."
        )
        reasons.append(Message(text, params))
    title = _(
        "A window of %(window)s has as much as the kernel's own, %(rate)s, with an RTT of %(short)s instead of"
        " %(long)s"
    )
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE,
        is_comparison=True,
        title=Message(title, params),
        why=tuple(reasons),
        value=float(window),
        unit="B",
        formula=f"X({window:,} B) = {params['rate']}, X(automatic) = {params['best']}",
        evidence=tuple(sorted({*present.trials, *item.trials})),
        change=programs.iperf3(item.point.parameters, presence.own_control(evidence)),
        confidence=confidence_of((min(len(present.trials), len(item.trials)) > 1, 0.2), base=0.6),
        applies_when=Message(_("Programs that can set their socket buffers, and share the path with others.")),
        limits=(Message(_("The rate is no higher for it; only the delay is less.")), *_asked_beside(item)),
        source="RFC 7567; tcp(7)",
    )


def _asked_beside(item: Present) -> tuple[Message, ...]:
    """Return what else than a window was asked for where this was measured."""
    others = programs.said_of(item.point.parameters)
    return (Message(_("It was measured with %(others)s."), {"others": others}),) if others else ()


def _title(evidence: Evidence, present: Present, largest: Present) -> str:
    """Return what not to ask for: no window at all, or none so small where a larger one may be advised."""
    path = read_path(evidence)
    is_small = path is not None and largest.point.parameters["window"] < path.most_bytes
    if path is not None and is_small and refuted.by_measurements(evidence, path, present) is None:
        return _("Ask for no window so small: up to %(window)s an explicit one is slower than the kernel's own")
    return _("Ask for no window: up to %(window)s an explicit one is slower than the kernel's own")


def _explicit(evidence: Evidence, present: Present) -> FindingDraft | None:
    """Return that programs should ask for no window, if some asked for one and were slower for it."""
    explicit, scatter = explicits(evidence, present), scatter_of(evidence)
    own = present.point.values("goodput")
    if prompt := _prompt(explicit, present, scatter):
        return _as_much(evidence, present, prompt)
    slower = _slower(explicit, present, scatter)
    # Where a larger one surely has more it is to be asked for, however little more.
    if not slower or better_window(evidence, present) or any(item.rate > HARM * present.rate for item in explicit):
        return None
    worst = min(slower, key=lambda item: item.rate)
    largest = max(slower, key=lambda item: item.point.parameters["window"])
    text = _("A window of %(window)s gives %(rate)s; the kernel's own gives %(best)s.")
    params = {
        "window": format_quantity(largest.point.parameters["window"], "B"),
        "rate": format_quantity(largest.rate, "bit/s"),
        "best": format_quantity(present.rate, "bit/s"),
    }
    now = programs.held(largest.point.parameters)
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        # What is there where nobody asks for one does best.
        kind=NO_CHANGE,
        is_comparison=True,
        title=Message(_title(evidence, present, largest), params),
        why=(
            Message(text, params),
            Message(_("A program that sets its socket buffers switches the kernel's autotuning off for them.")),
        ),
        value=0.0,
        unit="B",
        formula=f"X(automatic) / X({largest.point.parameters['window']:,} B) = {present.rate / largest.rate:.2f}",
        evidence=tuple(sorted({*present.trials, *worst.trials, *largest.trials})),
        change=programs.iperf3(present.point.parameters, presence.own_control(evidence)),
        tried=largest.rate,
        predicted=present.rate,
        predicted_unit="bit/s",
        predicted_interval=scatter.interval(own),
        confidence=confidence_of((min(len(present.trials), len(largest.trials)) > 1, 0.2), base=0.7),
        applies_when=Message(_("Programs that set their socket buffers to no more than this.")),
        limits=(
            Message(_("As long as the limits of tcp_rmem and tcp_wmem stay large enough.")),
            *_asked_beside(present),
        ),
        source="tcp(7); socket(7)",
        proof=Proof("iperf3-tcp", "goodput", now, {**now, "window": 0}),
    )
