"""The window at which the rate stops growing, found in a window sweep."""

from apps.bench import network
from apps.bench.rules import presence
from apps.bench.rules.base import (
    DIAGNOSIS,
    NO_CHANGE,
    RECOMMENDATION,
    Alternative,
    Evidence,
    FindingDraft,
    Proof,
    Proposal,
)
from apps.bench.rules.tcp import programs
from apps.bench.rules.tcp.bdp import is_short
from apps.bench.rules.tcp.path import PathReading, read_path
from apps.bench.rules.tcp.present import STANDS
from apps.bench.rules.tcp.scatter import Scatter
from apps.bench.rules.tcp.sweeps import (
    MOST_FALL,
    SURELY,
    Cell,
    Sweep,
    confidence_of,
    level_of,
    scatter_of,
    sweeps_of,
)
from apps.bench.text import Message, _
from apps.bench.units import canonical_text, format_quantity, percent

RULE, VERSION = "tcp-window-knee", 6
# The knee is the smallest window within this of the best rate.
WITHIN = 0.02
LEAST_WINDOWS = 3
# The rate agrees with the law of the window if it is within this of observed window / RTT.
LAW = 0.10
# A window is larger than another if its buffer is, too, by this factor: kernels cap what is asked for.
LARGER = 1.5


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the knee of the best window sweep; None if the rate still grows, scatters, or has no plateau."""
    for sweep in sweeps_of(evidence, "window"):
        windows = Sweep(tuple(_granted([cell for cell in sweep.cells if cell.value])), sweep.fixed)
        automatic = next((cell for cell in sweep.cells if not cell.value), None)
        if len(windows.cells) >= LEAST_WINDOWS:
            scatter = scatter_of(evidence)
            knee = _knee(windows, automatic, evidence, scatter)
            return knee or (_peak(windows, scatter) if automatic is None else None)
    return None


def _granted(cells: list[Cell]) -> list[Cell]:
    """Return the cells whose buffers really were larger than those of the smaller windows; capped ones are not."""
    granted_cells: list[Cell] = []
    for cell in cells:
        buffer = cell.mean("window_granted") or 2 * cell.value
        if not granted_cells or buffer >= LARGER * (
            granted_cells[-1].mean("window_granted") or 2 * granted_cells[-1].value
        ):
            granted_cells.append(cell)
    return granted_cells


def _knee(sweep: Sweep, automatic: Cell | None, evidence: Evidence, scatter: Scatter) -> FindingDraft | None:
    path, own = read_path(evidence), presence.own_control(evidence)
    level = level_of(sweep.cells, scatter, WITHIN)
    if not level:
        return None
    knee, best = level[0], sweep.best.rate.mean
    above = [cell for cell in sweep.cells if cell.value > knee.value]
    below = [cell for cell in sweep.cells if cell.value < knee.value]
    plateau = [*above, automatic] if automatic else above
    # An automatic window that does better shows that the sweep ended on the slope.
    is_growing = automatic is not None and automatic.rate.mean * (1 - WITHIN) > knee.rate.mean
    is_falling = any(cell.rate.mean < (1 - MOST_FALL) * best for cell in above)
    if is_growing or is_falling or not below or any(cell.is_scattered for cell in (*below[-1:], knee, *above)):
        return None
    laws = [law for cell in below if (law := _law(cell, sweep)) is not None]
    follows = bool(laws) and all(abs(rate / law - 1) <= LAW for _cell, law, rate in laws)
    is_repeated = all(len(cell.rates) > 1 for cell in (*below[-1:], knee))
    # Without the automatic window beside it nobody knows that this one is better.
    helps = automatic is not None and not is_short(path) and scatter.is_less(automatic.rates, knee.rates, by=SURELY)
    automatic_suffices = automatic is not None and automatic.rate.mean >= (1 - WITHIN) * knee.rate.mean
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION if helps else NO_CHANGE if automatic else DIAGNOSIS,
        title=_title(sweep, knee),
        why=(*_reasons(sweep, knee, laws, follows, automatic if automatic_suffices else None), *_theory(path, knee)),
        value=float(knee.value),
        unit="B",
        low=float(below[-1].value),
        high=float(knee.value),
        formula=_formula(knee, laws),
        evidence=tuple(sorted({*sweep.trials, *(automatic.trials if automatic else ())})),
        change=programs.iperf3({**sweep.fixed, "window": knee.value}, own) if helps else "",
        undo=programs.iperf3({**sweep.fixed, "window": 0}, own) if helps else "",
        present=automatic.rate.mean if automatic else None,
        predicted=knee.rate.mean if helps else None,
        predicted_interval=scatter.interval(knee.rates) if helps else None,
        predicted_unit="bit/s",
        confidence=confidence_of((follows, 0.2), (is_repeated, 0.2), (len(plateau) > 1, 0.1), base=0.45),
        applies_when=Message(
            _("The application sets its socket buffers itself (measured with streams = %(streams)s, %(direction)s)."),
            {"streams": sweep.fixed["streams"], "direction": sweep.fixed.get("direction", "forward")},
        ),
        limits=(
            Message(
                _("The true knee lies between %(low)s and %(high)s, the next smaller window tried and this one."),
                {"low": format_quantity(below[-1].value, "B"), "high": format_quantity(knee.value, "B")},
            ),
            Message(_("A program that sets its buffers switches the kernel's autotuning off.")),
        ),
        source="RFC 6349, section 3.3.1; tcp(7)",
        missing=() if automatic else (Message(_("Whether the kernel's own window does as well.")),),
        proposals=() if automatic else (_beside_automatic(sweep, knee),),
        proof=_proof(sweep, knee) if helps else None,
        alternatives=() if follows else (_not_the_window(),),
    )


def _title(sweep: Sweep, knee: Cell) -> Message:
    """Return where the rate stops growing, and under what else was asked for."""
    params = {"window": format_quantity(knee.value, "B"), "rate": format_quantity(knee.rate.mean, "bit/s")}
    text = _("The rate stops growing at a window of %(window)s: %(rate)s")
    if others := programs.said_of(sweep.fixed):
        text = _("The rate stops growing at a window of %(window)s with %(others)s: %(rate)s")
        params["others"] = others
    return Message(text, params)


def _law(cell: Cell, sweep: Sweep) -> tuple[Cell, float, float] | None:
    """Return a cell with the rate its observed window allows (bit/s) and the rate it had; None if unobserved."""
    allowed = network.window_limited_bps(cell.mean("window_observed"), cell.mean("mean_rtt"), sweep.fixed["streams"])
    return (cell, allowed, cell.rate.mean) if allowed else None


def _peak(sweep: Sweep, scatter: Scatter) -> FindingDraft | None:
    """Return the window of the best rate where larger ones surely have less; None where repetitions do not tell.

    Nothing is said of the kernel's own window: it was not measured beside them.
    """
    best, last = sweep.best, sweep.cells[-1]
    is_repeated = min(len(best.rates), len(last.rates)) > 1
    if best is last or not is_repeated or best.is_scattered or last.is_scattered:
        return None
    if not scatter.is_less(last.rates, best.rates, by=MOST_FALL):
        return None
    below = [cell.value for cell in sweep.cells if cell.value < best.value]
    above = [cell.value for cell in sweep.cells if cell.value > best.value]
    params = {
        "window": format_quantity(best.value, "B"),
        "rate": format_quantity(best.rate.mean, "bit/s"),
        "last": format_quantity(last.value, "B"),
        "less": format_quantity(last.rate.mean, "bit/s"),
        "share": percent(1 - last.rate.mean / best.rate.mean),
    }
    title = _("The rate is highest at a window of %(window)s, %(rate)s, and falls beyond it: %(less)s at %(last)s")
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        title=Message(title, params),
        why=(Message(_("At %(last)s it is %(share)s %% less than at %(window)s."), params),),
        value=float(best.value),
        unit="B",
        low=float(max(below, default=best.value)),
        high=float(min(above)),
        formula=f"X({best.value:,} B) = {params['rate']} > X({last.value:,} B) = {params['less']}",
        evidence=sweep.trials,
        confidence=confidence_of((len(above) > 1, 0.1), base=0.6),
        applies_when=Message(
            _("The application sets its socket buffers itself (measured with streams = %(streams)s, %(direction)s)."),
            {"streams": sweep.fixed["streams"], "direction": sweep.fixed.get("direction", "forward")},
        ),
        limits=(Message(_("Why larger windows lose is not told: a queue that overflows, or a processor.")),),
        source="RFC 6349, section 3.3.1",
        missing=(Message(_("Whether the kernel's own window does as well.")),),
        proposals=(_beside_automatic(sweep, best),),
    )


def _formula(knee: Cell, laws: list[tuple[Cell, float, float]]) -> str:
    formula = f"W = {knee.value:,} B, the least with the rate of all larger ones"
    if not laws:
        return formula
    cell, allowed, _rate = laws[-1]
    window, rtt = cell.mean("window_observed") or 0, format_quantity(cell.mean("mean_rtt") or 0, "s")
    return (
        f"{formula}; below: X = N · W · 8 / RTT = {window:,.0f} B · 8 / {rtt} = {format_quantity(allowed, 'bit/s')}"
    )


def _reasons(
    sweep: Sweep, knee: Cell, laws: list[tuple[Cell, float, float]], follows: bool, automatic: Cell | None
) -> list[Message]:
    best = sweep.best
    reasons = [
        Message(
            _("%(window)s gives %(rate)s, no less than the best but for chance: %(best)s at %(at)s."),
            {
                "window": format_quantity(knee.value, "B"),
                "rate": format_quantity(knee.rate.mean, "bit/s"),
                "best": format_quantity(best.rate.mean, "bit/s"),
                "at": format_quantity(best.value, "B"),
            },
        )
    ]
    granted, observed = knee.mean("window_granted"), knee.mean("window_observed")
    if granted and observed:
        text = _("Requested %(asked)s, granted as a buffer %(granted)s, observed as a window %(observed)s.")
        figures = {"asked": knee.value, "granted": granted, "observed": observed}
        reasons.append(Message(text, {name: format_quantity(round(value), "B") for name, value in figures.items()}))
    for cell, allowed, rate in laws[-2:]:
        text = _("At %(window)s the observed window in each RTT allows %(allowed)s; measured %(rate)s.")
        figures = {"allowed": allowed, "rate": rate}
        values = {name: format_quantity(value, "bit/s") for name, value in figures.items()}
        reasons.append(Message(text, {"window": format_quantity(cell.value, "B"), **values}))
    if follows:
        reasons.append(Message(_("So below the knee the window is the limit, not the path.")))
    last, rtt, longest = sweep.cells[-1], knee.mean("mean_rtt"), sweep.cells[-1].mean("mean_rtt")
    if rtt and longest and longest > 1.2 * rtt:
        text = _("Larger windows only fill the queue: at %(window)s the RTT is %(longest)s instead of %(rtt)s.")
        times = {"longest": format_quantity(longest, "s"), "rtt": format_quantity(rtt, "s")}
        reasons.append(Message(text, {"window": format_quantity(last.value, "B"), **times}))
    if automatic:
        text = _("The automatic window reaches %(rate)s: leave the window to the kernel and set none.")
        params = {"rate": format_quantity(automatic.rate.mean, "bit/s")}
        waits = automatic.mean("mean_rtt")
        if rtt and waits and waits >= STANDS * rtt:
            text = _("The automatic window reaches %(rate)s as well, with an RTT of %(waits)s instead of %(rtt)s.")
            params |= {"waits": format_quantity(waits, "s"), "rtt": format_quantity(rtt, "s")}
        reasons.append(Message(text, params))
    return reasons


def _theory(path: PathReading | None, knee: Cell) -> list[Message]:
    """Return the knee seen against the BDP, which theory takes for it."""
    if path is None or path.capacity.is_lower_bound:
        # Of a path that may hold more nobody knows the BDP.
        return []
    text = _("The BDP is %(bdp)s; the knee was seen at %(times)s times that.")
    times = f"{knee.value / path.bdp_bytes:.1f}"
    return [Message(text, {"bdp": format_quantity(path.bdp_bytes, "B"), "times": times})]


def _proof(sweep: Sweep, knee: Cell) -> Proof:
    """Return the comparison with the automatic window, which programs have that ask for none."""
    fixed = programs.held(sweep.fixed)
    return Proof("iperf3-tcp", "goodput", {**fixed, "window": 0}, {**fixed, "window": knee.value})


def _beside_automatic(sweep: Sweep, knee: Cell) -> Proposal:
    fixed = {"streams": str(sweep.fixed.get("streams") or 1)}
    return Proposal("iperf3-tcp", fixed, {"window": f"0 B, {canonical_text(knee.value, 'size')}"})


def _not_the_window() -> Alternative:
    return Alternative(
        Message(_("Something beside the window limits the small windows: loss, the processors, or the application.")),
        Message(_("Look at retransmits and processor load of these trials, and measure with UDP at the same rate.")),
    )
