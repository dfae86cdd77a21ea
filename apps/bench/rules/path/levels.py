"""One setting that two experiments measured with two results: both are told, and that nobody knows which there is."""

from collections.abc import Sequence

from apps.bench.rules.base import DOUBT, Alternative, Evidence, FindingDraft, Proposal
from apps.bench.rules.tcp.between import levels_between
from apps.bench.rules.tcp.levels import SPOKEN, WHATEVER, LevelDifference, PresentLevel
from apps.bench.rules.told import known_or_none
from apps.bench.text import Message, _
from apps.bench.units import format_quantity
from apps.bench.units.days import minute_of

RULE, VERSION = "path-levels", 2
# Of rates that nobody repeated only those so many times as high are told: what they scatter is not known.
UNREPEATED = 2.0
# So many settings are told of one by one.
MOST_TOLD = 4
NOTHING_ASKED = {name: str(value) for name, value in WHATEVER.items()}


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the settings of any tool that surely had another rate in another experiment; None where all agree."""
    all_of_times = (item for levels in levels_between(evidence).values() for item in levels.of_times)
    differences = sorted(
        (item for item in all_of_times if _is_repeated(item) or item.times >= UNREPEATED),
        key=lambda item: -item.times,
    )
    if not differences:
        return None
    worst = differences[0]
    params = _rates(worst)
    title = _("One setting had two results, %(other)s and then %(rate)s: why is undecided")
    if worst.told.at is None or worst.other.at is None:
        title = _("One setting had two results, %(other)s and %(rate)s: why is undecided")
    trials = {trial for item in differences for trial in item.trials}
    is_repeated = any(map(_is_repeated, differences))
    apart = _("They lie further apart than repetitions scatter: the path, or one of its ends, was in two states.")
    if not is_repeated:
        apart = _(
            "Nobody repeated them, but repetitions seldom lie so far apart: the path, or one of its ends, was in two"
            " states."
        )
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        title=Message(title, params),
        why=(
            *(_both(item) for item in differences[:MOST_TOLD]),
            Message(apart),
            Message(
                _("Which of the two holds now is not known, so nothing measured in one of them is called enough.")
            ),
        ),
        value=worst.told.rate,
        unit=worst.unit,
        low=min(worst.told.rate, worst.other.rate),
        high=max(worst.told.rate, worst.other.rate),
        formula=f"X = {params['other']} | {params['rate']} (×{worst.times:.2f})",
        evidence=tuple(sorted(trials)),
        confidence=0.8 if is_repeated else 0.6,
        applies_when=Message(_("This path and direction, as measured.")),
        source="RFC 2330, section 11",
        alternatives=_alternatives(differences),
        missing=(Message(_("What the path has now: the same setting again, several times over the day.")),),
        proposals=(_again(worst), Proposal("traceroute")),
    )


def _is_repeated(item: LevelDifference) -> bool:
    return len(item.told.trials) > 1 or len(item.other.trials) > 1


def _both(item: LevelDifference) -> Message:
    """Return both rates of a setting, each with its repetitions and when it was measured."""
    text = _(
        "%(tool)s, %(setting)s: %(other)s (n = %(n_other)s, %(when_other)s), %(rate)s (n = %(n)s, %(when)s),"
        " ×%(times)s between them."
    )
    params = _rates(item) | {
        "tool": item.tool or "TCP",
        "setting": item.setting,
        "times": f"{item.times:.2f}",
        "n": len(item.told.trials),
        "n_other": len(item.other.trials),
        "when": _when(item.told),
        "when_other": _when(item.other),
    }
    return Message(text, params)


def _rates(item: LevelDifference) -> dict[str, object]:
    return {"rate": format_quantity(item.told.rate, item.unit), "other": format_quantity(item.other.rate, item.unit)}


def _when(level: PresentLevel) -> str:
    return "?" if level.at is None else minute_of(level.at)


def _again(item: LevelDifference) -> Proposal:
    """Return the same setting again, as a person writes it; of figures of no tool one of iperf3."""
    fixed = {
        name: str(value or WHATEVER[name])
        for name in SPOKEN
        if (value := known_or_none(item.parameters, name)) or (name in WHATEVER and name in item.parameters)
    }
    return Proposal(item.tool or "iperf3-tcp", fixed if item.tool else {**NOTHING_ASKED, **fixed}, is_repetition=True)


def _alternatives(differences: Sequence[LevelDifference]) -> tuple[Alternative, ...]:
    """Return what may have changed; where files were read or written their disks, too."""
    sides = ("read_from", "write_to")
    is_of_files = any(known_or_none(item.parameters, side) == "file" for item in differences for side in sides)
    return (*_ALTERNATIVES, _DISKS) if is_of_files else _ALTERNATIVES


_DISKS = Alternative(
    Message(_("The disks of an end gave less at one of the two times.")),
    Message(_("Measure the disks alone, and the same transfer from memory to memory.")),
)
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
