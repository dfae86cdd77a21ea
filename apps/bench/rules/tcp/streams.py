"""The smallest number of parallel streams that gives nearly the best rate."""

import math
from collections.abc import Collection
from dataclasses import replace

from apps.bench.rules import pace, presence
from apps.bench.rules.base import (
    NO_CHANGE,
    RECOMMENDATION,
    Alternative,
    Evidence,
    FindingDraft,
    Proof,
    Proposal,
)
from apps.bench.rules.tcp import printed, programs, unlike
from apps.bench.rules.tcp.path import PathReading, read_path
from apps.bench.rules.tcp.present import read_all
from apps.bench.rules.tcp.printed import HARM, RULE, VERSION, larger_window
from apps.bench.rules.tcp.scatter import Scatter
from apps.bench.rules.tcp.sweeps import (
    SURELY,
    Cell,
    Sweep,
    confidence_of,
    foreignness,
    length_of,
    level_of,
    scatter_of,
    sweeps_of,
    tcp_points,
)
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

WITHIN = 0.03
LEAST_COUNTS = 2
# The largest count tried needs no larger one beside it if it already fills this much of the path.
FULL = 0.95
# A single stream with this share of what TCP can have of the path fills it.
FILLED = 0.90
# Streams that share so unevenly (Jain's index) harm each other.
FAIR = 0.95
# By whether one stream is enough, a window was asked for, and a congestion control.
TITLES = {
    (True, False, False): _("One stream is enough with the automatic window: %(rate)s"),
    (True, False, True): _("One stream is enough with the automatic window and %(congestion)s: %(rate)s"),
    (True, True, False): _("One stream is enough with a window of %(window)s: %(rate)s"),
    (True, True, True): _("One stream is enough with a window of %(window)s and %(congestion)s: %(rate)s"),
    (False, False, False): _("%(streams)s streams are enough with the automatic window: %(rate)s"),
    (False, False, True): _("%(streams)s streams are enough with the automatic window and %(congestion)s: %(rate)s"),
    (False, True, False): _("%(streams)s streams are enough with a window of %(window)s: %(rate)s"),
    (False, True, True): _("%(streams)s streams are enough with a window of %(window)s and %(congestion)s: %(rate)s"),
}


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the smallest sufficient count of the best stream sweep, or the one that a publication prints.

    None if the rate still grows or scatters.
    """
    path = read_path(evidence)
    if path is not None and path.capacity.is_lower_bound:
        # That bound is the best of these very trials: no rate can be judged by it.
        path = None
    points = tcp_points(evidence)
    held_trials = {trial for point in points if pace.flags_of(point) for trial in point.trials("goodput")}
    for sweep in _preferred(evidence):
        if len(sweep.cells) >= LEAST_COUNTS:
            return _smallest(evidence, _calm(sweep, held_trials), held_trials, path)
    return printed.conclude(evidence, path)


def _preferred(evidence: Evidence) -> list[Sweep]:
    """Return the sweeps of most counts and trials first; of equals the automatic window's, then the smallest's.

    Of several congestion controls the sender's own comes first: what it does by itself.
    """
    own = presence.own_control(evidence)

    def place(sweep: Sweep) -> tuple[int, tuple[bool, bool, bool], float, int, int]:
        first, longest = foreignness(sweep.fixed, own), -length_of(sweep)
        return -len(sweep.cells), first, longest, -len(sweep.trials), sweep.fixed["window"]

    return sorted(sweeps_of(evidence, "streams"), key=place)


def _calm(sweep: Sweep, held_trials: Collection[int]) -> Sweep:
    """Return a sweep without single trials that their ends held though fewer streams did better: that was passing."""
    free = [cell for cell in sweep.cells if not _is_single(cell, held_trials)]
    passing = [
        cell
        for cell in sweep.cells
        if _is_single(cell, held_trials)
        and any(one.value < cell.value and one.rate.mean > pace.PASSING * cell.rate.mean for one in free)
    ]
    return replace(sweep, cells=tuple(cell for cell in sweep.cells if cell not in passing))


def _is_single(cell: Cell, held_trials: Collection[int]) -> bool:
    """Return whether a cell is a single trial that its ends held: for good, or just then, nobody can tell."""
    return len(cell.trials) == 1 and cell.trials[0] in held_trials


def _smallest(
    evidence: Evidence, sweep: Sweep, held_trials: Collection[int], path: PathReading | None
) -> FindingDraft | None:
    best, last, scatter = sweep.best, sweep.cells[-1], scatter_of(evidence)
    enough = _enough(sweep, held_trials, scatter)
    fills = path is not None and last.rate.mean >= FULL * path.ceiling_bps
    if enough is None and fills and scatter.is_less(sweep.cells[-2].rates, last.rates, by=SURELY):
        enough = last
    if enough is None or any(cell.is_scattered for cell in (enough, best)):
        return None
    first = sweep.cells[0]
    if first.value == 1 and enough is not first and not _gains(sweep, enough, scatter):
        return None
    # Where the fewest streams tried fill the path others gain what is left, at the cost of whoever shares it.
    is_full = path is not None and first.rate.mean >= FILLED * path.ceiling_bps
    window = format_quantity(sweep.fixed["window"], "B") if sweep.fixed["window"] else None
    control = programs.said_of(sweep.fixed)
    rate = format_quantity(enough.rate.mean, "bit/s")
    is_repeated = all(len(cell.rates) > 1 for cell in (enough, best))
    beyond = sum(cell.value > enough.value for cell in sweep.cells)
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE if enough.value == 1 or is_full else RECOMMENDATION,
        title=Message(
            TITLES[enough.value == 1, bool(window), bool(control)],
            {"streams": enough.value, "window": window, "congestion": control, "rate": rate},
        ),
        why=tuple(_reasons(sweep, enough, path)),
        value=float(enough.value),
        unit="count",
        low=float(max((cell.value + 1 for cell in sweep.cells if cell.value < enough.value), default=enough.value)),
        high=float(enough.value),
        formula=_formula(sweep, enough, path),
        evidence=sweep.trials,
        change="" if is_full or enough.value == 1 else _start(evidence, sweep, enough),
        undo="" if is_full or enough.value == 1 else _start(evidence, sweep, None),
        missing=() if first.value == 1 else (Message(_("Whether fewer streams do as well.")),),
        present=first.rate.mean if first.value == 1 else None,
        predicted=enough.rate.mean,
        predicted_interval=scatter.interval(enough.rates),
        predicted_unit="bit/s",
        confidence=confidence_of((is_repeated, 0.2), (beyond > 1, 0.15), (fills, 0.1), base=0.5),
        applies_when=Message(_("The application can open several connections, for example GridFTP's -p.")),
        limits=(
            Message(HARM),
            Message(_("Where a window is what limits one stream, a larger one does the same without more streams.")),
        ),
        source="RFC 6349, section 5.1",
        alternatives=() if enough.value == 1 else (*_fewer(evidence, sweep, enough), larger_window()),
        proof=_proof(sweep, first, enough) if first.value == 1 and enough is not first and not is_full else None,
    )


def _gains(sweep: Sweep, enough: Cell, scatter: Scatter) -> bool:
    """Return whether one stream is shown to have less, whatever number the level was found to begin at."""
    rates = [rate for cell in sweep.cells if cell.value >= enough.value for rate in cell.rates]
    return scatter.is_less(sweep.cells[0].rates, rates, by=SURELY, looked=len(sweep.cells))


def _fewer(evidence: Evidence, sweep: Sweep, enough: Cell) -> tuple[Alternative, ...]:
    """Return the most streams below those that are enough that send far less again, where these send much."""
    items = {item.trials: item for item in read_all(evidence)}
    own = items.get(enough.trials)
    fewer = [
        item
        for cell in sweep.cells
        if 1 < cell.value < enough.value
        and (item := items.get(cell.trials)) is not None
        and own is not None
        and unlike.is_lossier(own, item)
    ]
    if own is None or not fewer:
        return ()
    most = max(fewer, key=lambda item: item.streams)
    text = _("Open %(streams)s streams: %(rate)s with far less sent again (%(less)s instead of %(more)s).")
    params = {
        "streams": most.streams,
        "rate": format_quantity(most.rate, "bit/s"),
        "less": unlike.again_text(most),
        "more": unlike.again_text(own),
    }
    test = _("Measure both with other traffic on the path: what is sent again takes its share of it.")
    fixed = {"window": format_quantity(sweep.fixed["window"] or 0, "B")}
    proposal = Proposal("iperf3-tcp", fixed, {"streams": f"{most.streams}, {own.streams}"})
    return (Alternative(Message(text, params), Message(test), proposal),)


def _start(evidence: Evidence, sweep: Sweep, cell: Cell | None) -> str:
    """Return the command that starts so many streams with the window of a sweep, one stream without a cell."""
    streams = int(cell.value) if cell else 1
    return programs.iperf3({**sweep.fixed, "streams": streams}, presence.own_control(evidence))


def _proof(sweep: Sweep, now: Cell, then: Cell) -> Proof:
    fixed = programs.held(sweep.fixed)
    return Proof("iperf3-tcp", "goodput", {**fixed, "streams": now.value}, {**fixed, "streams": then.value})


def _enough(sweep: Sweep, held_trials: Collection[int], scatter: Scatter) -> Cell | None:
    """Return the cell of the smallest count from which on the rate is level; None where repetitions do not tell."""
    level = level_of(sweep.cells, scatter, WITHIN)
    below = [cell for cell in sweep.cells if level and cell.value < level[0].value]
    return level[0] if level and not (below and _is_single(below[-1], held_trials)) else None


def _formula(sweep: Sweep, enough: Cell, path: PathReading | None) -> str:
    first, best = sweep.cells[0], sweep.best
    floor, best_rate = (1 - WITHIN) * best.rate.mean, format_quantity(best.rate.mean, "bit/s")
    formula = (
        f"N = {enough.value}, the least with X >= {1 - WITHIN:.2f} · {best_rate} = {format_quantity(floor, 'bit/s')}"
    )
    if enough is not sweep.first_within(WITHIN):
        formula = (
            f"N = {enough.value}, the least from which on X is level: {format_quantity(enough.rate.mean, 'bit/s')}"
        )
    if path is None or first.value != 1 or enough is first:
        return formula
    ceiling, single = path.ceiling_bps, first.rate.mean
    expected = math.ceil(ceiling / single)
    rates = f"{format_quantity(ceiling, 'bit/s')} / {format_quantity(single, 'bit/s')}"
    return f"{formula}; expected: N = path / one stream = {rates} -> {expected}"


def _reasons(sweep: Sweep, enough: Cell, path: PathReading | None) -> list[Message]:
    best, first = sweep.best, sweep.cells[0]
    text = _("%(rate)s at streams = %(streams)s is within %(within)s %% of the best, %(best)s at %(at)s.")
    if enough.rate.mean < (1 - WITHIN) * best.rate.mean:
        text = _("%(rate)s at streams = %(streams)s is no less than the best, %(best)s at %(at)s, but for chance.")
    reasons = [
        Message(
            text,
            {
                "streams": enough.value,
                "rate": format_quantity(enough.rate.mean, "bit/s"),
                "best": format_quantity(best.rate.mean, "bit/s"),
                "at": best.value,
                "within": percent(WITHIN),
            },
        )
    ]
    if enough is not first:
        text = _("At streams = %(streams)s it is %(rate)s: this is ×%(gain)s of it.")
        gain = f"{enough.rate.mean / first.rate.mean:.2f}"
        params = {"streams": first.value, "rate": format_quantity(first.rate.mean, "bit/s"), "gain": gain}
        reasons.append(Message(text, params))
    if path is not None:
        text = _("That is %(share)s %% of what TCP can have of the path, %(ceiling)s.")
        if path.capacity.is_stated:
            text = _("That is %(share)s %% of what TCP could have of the links as described, %(ceiling)s.")
        share = percent(enough.rate.mean / path.ceiling_bps)
        reasons.append(Message(text, {"share": share, "ceiling": format_quantity(path.ceiling_bps, "bit/s")}))
    last = sweep.cells[-1]
    fairness, retransmits = last.mean("fairness"), last.mean("retransmits")
    if last is not enough and fairness is not None and fairness < FAIR:
        text = _("At streams = %(streams)s they share unevenly (Jain %(fairness)s).")
        reasons.append(Message(text, {"streams": last.value, "fairness": f"{fairness:.2f}"}))
    if last is not enough and retransmits:
        text = _("At streams = %(streams)s %(lost)s segments were sent again on average.")
        reasons.append(Message(text, {"streams": last.value, "lost": f"{retransmits:.3g}"}))
    return reasons
