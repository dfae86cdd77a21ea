"""A quarter of a team: eight weekly campaigns, the last four a fifth slower, one with faults, one private."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from apps.campaigns.models import Campaign, Trial
from apps.reports.overview.selection import DATES, Selection
from tests import factories, rewriting
from tests.campaigns import factories as make
from tests.comparison.history.conftest import LEVELS, START, WEEK, again, measured

# After the eight weeks.
NOW = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)
WHOLE = Selection(DATES, START.date(), NOW.date())


def carried_out(trial: Trial, state: str, at: datetime, seconds: float = 60.0) -> None:
    """End a trial with one run of so many seconds."""
    Trial.objects.filter(pk=trial.pk).update(state=state, finished_at=at)
    run = trial.runs.first() or trial.runs.create(experiment=trial.experiment, attempt=1, state=state)
    rewriting.update(
        type(run).objects.filter(pk=run.pk), state=state, started_at=at - timedelta(seconds=seconds), ended_at=at
    )


def make_quarter(cast: Any) -> SimpleNamespace:
    """Return the nodes and campaigns of the quarter."""
    [a] = make.nodes(cast.team, "kisti01")
    [b] = make.nodes(cast.team, "pnu01", site="Busan")
    make.link(a, b, "WAN")
    first = measured(cast, [a, b], LEVELS[0], START, name="Week 0")
    weekly = [first] + [
        again(first, rate, START + place * WEEK, f"Week {place}", "3.12") for place, rate in enumerate(LEVELS[1:], 1)
    ]
    for campaign in weekly:
        for trial in campaign.trials.all():
            carried_out(trial, "succeeded", trial.finished_at or NOW)
    faulty = make.launched(cast, a, b, name="Faulty", repetitions=2)
    at = START + timedelta(days=1)
    for trial, state in zip(faulty.trials.all(), ("failed", "failed", "cancelled", "failed"), strict=True):
        carried_out(trial, state, at, seconds=0.0 if state == "cancelled" else 3600.0)
    private = make.launched(cast, a, b, name="Private")
    for trial in private.trials.all():
        carried_out(trial, "succeeded", at)
    Campaign.objects.filter(pk__in=(faulty.pk, private.pk)).update(launched_at=at)
    Campaign.objects.filter(pk=private.pk).update(visibility=Campaign.Visibility.PRIVATE)
    return SimpleNamespace(cast=cast, a=a, b=b, weekly=weekly, faulty=faulty, private=private)


@pytest.fixture
def quarter(cast: factories.Cast) -> SimpleNamespace:
    """Return the quarter."""
    return make_quarter(cast)
