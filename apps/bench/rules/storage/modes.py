"""Repetitions of a file system that fall into two modes, as all of its settings together show."""

from collections.abc import Sequence

from apps.bench import statistics
from apps.bench.rules.base import DOUBT, SAMPLE, Alternative, Evidence, FindingDraft
from apps.bench.rules.layers.questions import NOT_STEADY
from apps.bench.rules.layers.verdicts import Verdict
from apps.bench.text import Message, _
from apps.bench.units import percent

RULE, VERSION = "storage-modes", 1


def conclude(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
    """Return the two modes of each file system, metric and path; not where the limiting layer is told of them."""
    drafts = [_draft(verdict) for verdict in verdicts if not verdict.high]
    return [draft for draft in drafts if draft]


def _draft(verdict: Verdict) -> FindingDraft | None:
    question = verdict.question
    steady = [p for p in question.points if p.statistic == SAMPLE and NOT_STEADY not in p.warnings]
    groups = [values for point in steady if len(values := point.values(question.metric)) > 1]
    modes = statistics.far_modes_of(groups)
    if modes is None:
        return None
    ratio = modes.lower_mean / modes.upper_mean
    params = {
        "name": question.facts.name,
        "metric": question.metric,
        "share": percent(ratio),
        "count": len(modes.lower),
        "all": len(modes.lower) + len(modes.upper),
    }
    trials = {trial for point in steady for trial in point.trials(question.metric)}
    text = _(
        "Repetitions of %(name)s (%(metric)s) fall into two modes, the lower with about %(share)s %% of the upper:"
        " why is undecided"
    )
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        subject=question.subject[:200],
        title=Message(text, params),
        why=(
            Message(_("%(count)s of %(all)s figures lie near the lower mode of their own setting."), params),
            Message(_("A mean of both is what no run has: it goes up and down with how many met which.")),
        ),
        value=100 * ratio,
        unit="%",
        formula=f"X / max X = 1 | {ratio:.2f}",
        evidence=tuple(sorted(trials)),
        confidence=0.7,
        applies_when=Message(_("This file system and these clients, as measured.")),
        source="Iglewicz, Hoaglin (1993)",
        alternatives=_ALTERNATIVES,
        missing=(Message(_("When the slow runs were, and what else ran then; ten repetitions of a setting.")),),
    )


_ALTERNATIVES = (
    Alternative(
        Message(_("Files lie on some of the servers or disks at times, and on others at other times.")),
        Message(_("Look at which of them each file was striped over, and write to each alone.")),
    ),
    Alternative(
        Message(_("Something else used the servers, the disks or the path during some of the runs.")),
        Message(_("Look at the times of the slow runs, and at the load of the servers meanwhile.")),
    ),
)
