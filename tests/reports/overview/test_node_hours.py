"""Node-hours are of runs whose length is known."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from apps.campaigns.models import Run, Trial
from apps.reports.overview import activity, scope
from apps.results.impossible_times import SET_FLAG
from apps.results.models import Result
from tests import rewriting
from tests.reports.overview.conftest import NOW, WHOLE

pytestmark = pytest.mark.django_db


def node_seconds(quarter: SimpleNamespace) -> float:
    done = activity.read(scope.read(quarter.cast.team, WHOLE, WHOLE.period_at(NOW)))
    return sum(count.node_s for count in done.lanes.values())


def test_runs_during_which_the_clock_was_set_are_left_out(quarter: SimpleNamespace) -> None:
    before = node_seconds(quarter)
    backwards, flagged = Run.objects.filter(trial__campaign=quarter.weekly[0])[:2]
    rewriting.update(Run.objects.filter(pk=backwards.pk), started_at=backwards.ended_at + timedelta(hours=2))
    flags = [{"name": SET_FLAG, "severity": "warning"}]
    rewriting.update(Result.objects.filter(trial=Trial.objects.get(pk=flagged.trial_id)), run=flagged, flags=flags)
    # Each kept two nodes busy for a minute.
    assert node_seconds(quarter) == pytest.approx(before - 2 * 2 * 60.0)
