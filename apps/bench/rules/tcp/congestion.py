"""Which congestion control serves the path: measured side by side, or to be tried where loss is the limit (R12)."""

from collections.abc import Iterable, Sequence

from apps.bench.rules import pace
from apps.bench.rules.base import Evidence, FindingDraft, Proof, Proposal
from apps.bench.rules.tcp import controls, estimates, programs, sysctl, verdict
from apps.bench.rules.tcp.path import PathReading, read_path
from apps.bench.rules.tcp.present import Present, read_present
from apps.bench.rules.tcp.scatter import Scatter
from apps.bench.rules.tcp.sweeps import SURELY, Cell, Sweep, confidence_of, find_sweeps, scatter_of, tcp_points
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-congestion", 5
KEY, NAME = "net.ipv4.tcp_congestion_control", "tcp-congestion"
# A control is better if it is faster by more than repetitions usually differ.
BETTER = 1.1
# Controls within this share of the best are as good, unless repetitions tell them apart.
NEAR = 0.98


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the fastest of the controls measured, or that BBR is worth a trial; None where CUBIC does well."""
    sweeps = [sweep for sweep in find_sweeps(tcp_points(evidence), "congestion") if len(sweep.cells) > 1]
    if sweeps:
        return controls.weighed(_best_control(evidence, sweeps[0]), sweeps, scatter_of(evidence))
    path, present = read_path(evidence), read_present(evidence)
    limit = verdict.conclude(evidence)
    if path is None or present is None or limit is None or limit.subject != "loss":
        return None
    lost_share = present.lost_share or 0.0
    udp_loss = estimates.lost_by_datagrams(evidence, path.most_bps, lost_share)
    if udp_loss is None or not estimates.ALIKE * lost_share <= udp_loss[0] <= lost_share / estimates.ALIKE:
        # A policer drops as much, and BBR sends against it in vain: only datagrams tell.
        return None
    return _to_try(evidence, path, present)


def _best_control(evidence: Evidence, sweep: Sweep) -> FindingDraft | None:
    scatter = scatter_of(evidence)
    equals = _equals(sweep, scatter)
    best, present = equals[0], _beside(evidence, sweep, equals)
    if present is None or best.rate.mean < BETTER * present.rate.mean or best.is_scattered or present.is_scattered:
        return None
    # Where a judge saw an end set the pace no control does; and the best of several is above by chance now and then.
    held_trials = {
        trial for point in tcp_points(evidence) if pace.flags_of(point) for trial in point.trials("goodput")
    }
    if held_trials & {*best.trials, *present.trials} or not scatter.is_less(present.rates, best.rates, by=SURELY):
        return None
    is_apart = best.rate.ci_low is not None and (present.rate.ci_high or 0.0) < best.rate.ci_low
    params = {
        "best": best.value or "default",
        "all": ", ".join(cell.value or "default" for cell in equals),
        "rates": _listed(equals),
        "rate": format_quantity(best.rate.mean, "bit/s"),
        "present": present.value or "default",
        "less": format_quantity(present.rate.mean, "bit/s"),
        "times": f"{best.rate.mean / present.rate.mean:.2f}",
    }
    text = _("%(best)s has %(rate)s, %(present)s has %(less)s: ×%(times)s, all else being equal.")
    nodes = sysctl.simple(evidence, {KEY: str(best.value)}, (evidence.sender,)) if best.value else {}
    again = best.mean("retransmits")
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        title=Message(_("Let the sender use %(best)s: %(rate)s instead of %(less)s"), params),
        compared_title=Message(_tried_title(equals), params),
        why=(Message(text, params), *_no_less(equals), *_others(sweep, equals, present)),
        formula=f"X({best.value or 'default'}) / X({present.value or 'default'}) = {params['times']}",
        evidence=sweep.trials,
        change=sysctl.change(nodes, NAME, f"Fathom {RULE}: what senders use"),
        undo=sysctl.undo(nodes, NAME),
        present=present.rate.mean,
        predicted=best.rate.mean,
        predicted_interval=scatter.interval(best.rates),
        predicted_unit="bit/s",
        confidence=confidence_of((is_apart, 0.3), (len(best.rates) > 1, 0.1), base=0.5),
        applies_when=Message(
            _("Streams = %(streams)s, window = %(window)s; the sender's control counts, the receiver's does not."),
            {name: sweep.fixed.get(name, "") for name in ("streams", "window")},
        ),
        limits=(Message(sysctl.KEPT), *sysctl.undo_limit(nodes)),
        side_effects=_unfair(str(best.value), again),
        source="RFC 9438; Cardwell et al., BBR (2016)",
        proof=_proof(sweep, present, best),
    )


def _equals(sweep: Sweep, scatter: Scatter) -> list[Cell]:
    """Return the controls that cannot be told from the best, the one that sends least again first."""
    best = sweep.best
    near = [
        cell
        for cell in sweep.cells
        if cell is best
        or (cell.rate.mean >= NEAR * best.rate.mean and not scatter.is_less(cell.rates, best.rates, by=SURELY))
    ]
    return sorted(near, key=lambda cell: (cell.mean("retransmits") or 0.0, _is_bbr(str(cell.value)), -cell.rate.mean))


def _beside(evidence: Evidence, sweep: Sweep, equals: Sequence[Cell]) -> Cell | None:
    """Return what the best is compared with: the sender's own control, else CUBIC, else the next best that was tried.

    None where that one, or any control of those that nobody can tell apart, is as good.
    """
    own = {cell.value: cell for cell in sweep.cells}
    control = sysctl.read_sysctls(evidence, evidence.sender).get(KEY)
    present = next((own[name] for name in ("", control, "cubic") if name in own), None)
    if present is not None:
        return None if present in equals else present
    return max((cell for cell in sweep.cells if cell not in equals), key=lambda cell: cell.rate.mean, default=None)


def _tried_title(equals: Sequence[Cell]) -> str:
    if len(equals) > 1:
        return _(
            "Of the congestion controls tried these had the highest rates, and cannot be told apart: %(all)s"
            " (%(rates)s)"
        )
    return _("Of the congestion controls tried %(best)s had the highest rate: %(rate)s")


def _listed(cells: Iterable[Cell]) -> str:
    return ", ".join(format_quantity(cell.rate.mean, "bit/s") for cell in cells)


def _no_less(equals: Sequence[Cell]) -> tuple[Message, ...]:
    """Return which others have as much as the one that leads, and what each sends again."""
    if len(equals) < 2:
        return ()
    counts = [cell.mean("retransmits") for cell in equals]
    params = {"best": equals[0].value or "default", "all": ", ".join(cell.value or "default" for cell in equals)}
    if None in counts:
        return (Message(_("%(all)s cannot be told from each other: take whichever is there."), params),)
    text = _("%(all)s cannot be told from each other; of these %(best)s sends least again (%(counts)s in a run).")
    params["counts"] = ", ".join(f"{count or 0:.0f}" for count in counts)
    return (Message(text, params),)


def _others(sweep: Sweep, equals: Sequence[Cell], present: Cell) -> tuple[Message, ...]:
    """Return what the other controls had that were tried."""
    rest = [cell for cell in sweep.cells if cell not in equals and cell is not present]
    listed = ", ".join(f"{cell.value or 'default'} {format_quantity(cell.rate.mean, 'bit/s')}" for cell in rest)
    return (Message(_("The others that were tried: %(others)s."), {"others": listed}),) if rest else ()


def _proof(sweep: Sweep, now: Cell, then: Cell) -> Proof:
    fixed = programs.held(sweep.fixed)
    return Proof("iperf3-tcp", "goodput", {**fixed, "congestion": now.value}, {**fixed, "congestion": then.value})


def _to_try(evidence: Evidence, path: PathReading, present: Present) -> FindingDraft:
    controls = evidence.facts.get(evidence.sender, {}).get("congestion_controls", {})
    is_loaded = "bbr" in controls.get("available", ()) if isinstance(controls, dict) else False
    nodes = sysctl.simple(evidence, {KEY: "bbr"}, (evidence.sender,))
    text = _(
        "Loss halves the windows of Reno and CUBIC; BBR paces by the rate it measures and heeds single losses less."
    )
    limits = [
        Message(_("The gain is not predicted: once loss is no limit a window, a processor or a shaper may be.")),
        Message(_("Where the loss comes of a full queue BBR adds to it: measure both, with other traffic on.")),
    ]
    if not is_loaded:
        limits.append(Message(_("The sender's kernel may first have to load it: modprobe tcp_bbr.")))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        title=Message(_("Try BBR: loss keeps CUBIC from filling the path")),
        why=(Message(text), path.capacity.source),
        formula=f"X <= η · C = {format_quantity(path.ceiling_bps, 'bit/s')}",
        evidence=tuple(sorted({*path.trials, *present.trials})),
        change=sysctl.change(nodes, NAME, f"Fathom {RULE}: what senders use"),
        undo=sysctl.undo(nodes, NAME),
        present=present.rate,
        predicted_unit="bit/s",
        confidence=0.5,
        applies_when=Message(_("The sender may change its congestion control; the receiver's does not matter.")),
        limits=(*limits, Message(sysctl.KEPT), *sysctl.undo_limit(nodes)),
        side_effects=_unfair("bbr", None),
        source="Cardwell et al., BBR (2016)",
        missing=(Message(_("What BBR has on this path.")),),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"congestion": "cubic, bbr"}),),
        proof=Proof(
            "iperf3-tcp",
            "goodput",
            {"window": 0, "streams": present.streams, "congestion": present.point.parameters.get("congestion", "")},
            {"window": 0, "streams": present.streams, "congestion": "bbr"},
        ),
    )


def _is_bbr(control: str) -> bool:
    return control.startswith("bbr")


def _unfair(control: str, again: float | None) -> tuple[Message, ...]:
    if not _is_bbr(control):
        return ()
    messages = [Message(_("BBR takes rate from flows of CUBIC where queues are short, and sends far more again."))]
    if again:
        messages.append(Message(_("%(count)s segments were sent again in a run."), {"count": f"{again:.0f}"}))
    return tuple(messages)
