"""Reads: which of a team's file systems serves a described workload."""

from collections.abc import Iterable

from apps.accounts.models import Team
from apps.bench.rules import runner, workloads
from apps.bench.rules.workloads import Fit, Workload
from apps.bench.text import Message, _
from apps.core import parts
from apps.results import doubts
from apps.results.doubts import Mark
from apps.tuning import evidence

# What the computation is called where it fails.
NAME = _("The fit of a workload")


def fits_of(team: Team, workload: Workload) -> tuple[tuple[Fit, ...], Message | None]:
    """Return the configurations that were measured, the best first, and why there are none if it failed."""
    measured_evidence = evidence.of_files(team)
    return parts.attempt(
        NAME,
        lambda: runner.of_known(lambda known_evidence: workloads.fit(known_evidence, workload), measured_evidence),
        (),
    )


def marked(fits: Iterable[Fit]) -> list[tuple[Fit, Mark | None]]:
    """Return each fit with the flags of the trials that it rests on, read in one query."""
    listed = list(fits)
    raised = doubts.doubts_of_trials({trial for fit in listed for trial in fit.trials})
    return [(fit, raised.about(fit.trials)) for fit in listed]
