"""Repetitions of one setting in two modes, with a rate that goes one way, or of which many were held up."""

from apps.bench.rules import pace
from apps.bench.rules.base import DOUBT, Alternative, Evidence, FindingDraft, Point, Proposal
from apps.bench.rules.tcp.repetitions import Drift, TwoModes, read_drift, read_modes
from apps.bench.rules.tcp.scatter import mean
from apps.bench.rules.tcp.sweeps import levels_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

RULE, VERSION = "path-modes", 4
DRIFT, HELD_UP = "drift", "held-up"
# Runs that something passing held up are told of where they are this share of their setting's, or more.
MANY = 1 / 3


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the two modes of all that was measured again and again, else its drift, else what was held up.

    None where the runs of each setting are of a kind.
    """
    if modes := read_modes(evidence):
        return _two_modes(modes)
    drift = read_drift(evidence)
    if drift:
        return _drifting(drift)
    held_up = [point for point in levels_of(evidence).points if len(_held_of(point)) >= MANY * len(_rates_of(point))]
    return _held_up(max(held_up, key=lambda point: len(_held_of(point)))) if held_up else None


def _held_of(point: Point) -> frozenset[int]:
    """Return the trials of a point that something passing held up."""
    return pace.undisturbed(point).flagged.get(pace.LEFT_OUT, frozenset())


def _rates_of(point: Point) -> dict[int, float]:
    return dict(point.metrics["goodput"])


def _two_modes(modes: TwoModes) -> FindingDraft:
    params = {
        "low": format_quantity(modes.lower, "bit/s"),
        "high": format_quantity(modes.upper, "bit/s"),
        "count": modes.count,
        "all": modes.of,
        "share": percent(modes.share),
    }
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        title=Message(
            _("Repetitions fall into two modes, the lower about %(share)s %% of the upper: why is undecided"), params
        ),
        why=(
            Message(_("%(count)s of %(all)s figures lie in the lower mode of their setting."), params),
            Message(_("The setting that met both most often had about %(low)s and %(high)s."), params),
            Message(_("A mean of both is what no transfer has: settings are compared in each mode, or not at all.")),
        ),
        value=modes.lower,
        unit="bit/s",
        low=modes.lower,
        high=modes.upper,
        formula=f"X = {params['low']} | {params['high']}",
        evidence=modes.trials,
        confidence=0.7,
        applies_when=Message(_("This path and direction, as measured.")),
        source="Iglewicz, Hoaglin (1993); RFC 2992",
        alternatives=_ALTERNATIVES,
        missing=(Message(_("Which flows have which rate: the ports of each, and more repetitions.")),),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 8"}), Proposal("traceroute")),
    )


def _held_up(point: Point) -> FindingDraft:
    """Return that many runs of a setting were held up: what the others had is not what it has."""
    rates, held_trials = _rates_of(point), _held_of(point)
    low = mean([rate for trial, rate in rates.items() if trial in held_trials])
    high = mean([rate for trial, rate in rates.items() if trial not in held_trials])
    params = {
        "count": len(held_trials),
        "all": len(rates),
        "low": format_quantity(low, "bit/s"),
        "high": format_quantity(high, "bit/s"),
        "flags": ", ".join(sorted(pace.DISTURBED & point.flagged.keys())),
    }
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        subject=HELD_UP,
        title=Message(
            _("%(count)s of %(all)s runs of a setting are flagged (%(flags)s): %(low)s, the others %(high)s"), params
        ),
        why=(
            Message(_("What the flags name may hold the slower runs up; other findings rest on the faster ones.")),
            Message(_("How often a transfer meets the one or the other so few runs do not tell.")),
        ),
        value=low,
        unit="bit/s",
        low=low,
        high=high,
        formula=f"X = {params['low']} | {params['high']}",
        evidence=tuple(sorted(rates)),
        confidence=0.7,
        applies_when=Message(_("This path and direction, as measured.")),
        source="RFC 2330, section 11",
        alternatives=_ALTERNATIVES[1:],
        missing=(Message(_("Whether it goes on: the same settings again, at another time.")),),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1"}, is_repetition=True),),
    )


def _drifting(drift: Drift) -> FindingDraft:
    """Return that rates went one way while they were measured: what is said of means holds of no moment."""
    params = {"share": percent(abs(drift.change)), "n": drift.repetitions}
    title = _("Rates fell by about %(share)s %% from the first repetition to the last: why is undecided")
    if drift.change > 0:
        title = _("Rates rose by about %(share)s %% from the first repetition to the last: why is undecided")
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        subject=DRIFT,
        title=Message(title, params),
        why=(
            Message(_("So it is over all settings together, of up to %(n)s repetitions each."), params),
            Message(
                _("A mean over them is what the path had at no time: settings measured in turn can be compared.")
            ),
        ),
        value=100 * abs(drift.change),
        unit="%",
        formula=f"ln X = a + b · i / (n − 1), e^b − 1 = {drift.change:+.2f}",
        evidence=drift.trials,
        confidence=0.7,
        applies_when=Message(_("This path and direction, as measured.")),
        limits=(Message(_("Repetitions are taken in the order in which they were recorded.")),),
        source="RFC 2330, section 11",
        alternatives=(_SHARED, _WARMED),
        missing=(Message(_("Whether it goes on: the same settings again, at another time.")),),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1"}, is_repetition=True),),
    )


_ALTERNATIVES = (
    Alternative(
        Message(_("Flows take several paths (ECMP, or a bundle of links), of which one has less.")),
        Message(_("Many streams at once meet both: they share unevenly. Trace the route with other ports.")),
        Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 8"}),
    ),
    Alternative(
        Message(_("Something else used the path, or a node, during some of the trials.")),
        Message(_("Look at the times of the slow trials, and measure at night and by day.")),
    ),
    Alternative(
        Message(_("A process runs at times on a processor that is far from the interface.")),
        Message(_("Pin it to one processor, near the interface, and measure again.")),
    ),
)
_SHARED = Alternative(
    Message(_("Others use the path more and more, or less and less, meanwhile.")),
    Message(_("Measure at night and by day, and look at the load of the links.")),
)
_WARMED = Alternative(
    Message(_("A node changes: it grows warm and slows its clock, or its memory fills.")),
    Message(_("Look at the processors' clock and load during the trials.")),
)
