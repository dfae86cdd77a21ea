"""One setting that two experiments measured with two results: both are told, and that nobody knows which there is."""

from apps.bench.rules.base import DOUBT, Alternative, Evidence, FindingDraft, Proposal
from apps.bench.rules.tcp.levels import LevelDifference, PresentLevel
from apps.bench.rules.tcp.sweeps import levels_of
from apps.bench.rules.told import known_or_none
from apps.bench.text import Message, _
from apps.bench.units import format_quantity
from apps.bench.units.days import minute_of

RULE, VERSION = "path-levels", 1
# So many settings are told of one by one.
MOST_TOLD = 4


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the settings of TCP that surely had another rate in another experiment; None where all agree."""
    differences = levels_of(evidence).of_times
    if not differences:
        return None
    worst = differences[0]
    params = _rates(worst)
    title = _("One setting had two results, %(other)s and then %(rate)s: why is undecided")
    if worst.told.at is None or worst.other.at is None:
        title = _("One setting had two results, %(other)s and %(rate)s: why is undecided")
    trials = {trial for item in differences for trial in (*item.told.trials, *item.other.trials)}
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        title=Message(title, params),
        why=(
            *(_both(item) for item in differences[:MOST_TOLD]),
            Message(_("They lie further apart than repetitions scatter on this path: it was in two states.")),
            Message(
                _("Which of the two holds now is not known, so nothing measured in one of them is called enough.")
            ),
        ),
        value=worst.told.rate,
        unit="bit/s",
        low=min(worst.told.rate, worst.other.rate),
        high=max(worst.told.rate, worst.other.rate),
        formula=f"X = {params['other']} | {params['rate']} (×{worst.times:.2f})",
        evidence=tuple(sorted(trials)),
        confidence=0.8,
        applies_when=Message(_("This path and direction, as measured.")),
        source="RFC 2330, section 11",
        alternatives=_ALTERNATIVES,
        missing=(Message(_("What the path has now: the same setting again, several times over the day.")),),
        proposals=(Proposal("iperf3-tcp", _fixed(worst)), Proposal("traceroute")),
    )


def _both(item: LevelDifference) -> Message:
    """Return both rates of a setting, each with its repetitions and when it was measured."""
    window = known_or_none(item.parameters, "window") or 0
    text = _(
        "Streams = %(streams)s with the automatic window: %(other)s (n = %(n_other)s, %(when_other)s), %(rate)s"
        " (n = %(n)s, %(when)s), ×%(times)s between them."
    )
    if window:
        text = _(
            "Streams = %(streams)s with a window of %(window)s: %(other)s (n = %(n_other)s, %(when_other)s), %(rate)s"
            " (n = %(n)s, %(when)s), ×%(times)s between them."
        )
    params = _rates(item) | {
        "streams": known_or_none(item.parameters, "streams") or 1,
        "window": format_quantity(window, "B"),
        "times": f"{item.times:.2f}",
        "n": len(item.told.trials),
        "n_other": len(item.other.trials),
        "when": _when(item.told),
        "when_other": _when(item.other),
    }
    return Message(text, params)


def _rates(item: LevelDifference) -> dict[str, object]:
    return {"rate": format_quantity(item.told.rate, "bit/s"), "other": format_quantity(item.other.rate, "bit/s")}


def _when(level: PresentLevel) -> str:
    return "?" if level.at is None else minute_of(level.at)


def _fixed(item: LevelDifference) -> dict[str, str]:
    """Return the streams and the window of a setting as a person writes them."""
    return {
        name: str(known_or_none(item.parameters, name) or usual) for name, usual in (("streams", 1), ("window", 0))
    }


_ALTERNATIVES = (
    Alternative(
        Message(_("Others used the path, or a node, during one of the experiments.")),
        Message(_("Measure again by night and by day, and look at the load of the links meanwhile.")),
    ),
    Alternative(
        Message(_("The path changed in between: another route, a link that fell back to a lower rate, a new limit.")),
        Message(_("Compare the routes of both experiments, and ask for the rate and the errors of each interface.")),
    ),
    Alternative(
        Message(_("A node changed in between: its kernel, its settings, its interface, or what else ran on it.")),
        Message(_("Compare the facts of the nodes at both times.")),
    ),
)
