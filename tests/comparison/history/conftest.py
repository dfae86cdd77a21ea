"""Eight campaigns that measured the same, a week apart; the last four a fifth slower, with another tool version."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from apps.campaigns import permanent_ids
from apps.campaigns.models import Campaign, Trial
from apps.results.models import Result, Sample
from apps.testbeds.models import Node
from tests import rewriting
from tests.campaigns import factories as make

START = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
WEEK = timedelta(weeks=1)
# Shares by which the campaigns of a level differ among themselves: less than 1 %.
NOISE = (0.002, -0.003, 0.001, -0.001)
LEVELS = [940e6 * (1 + share) for share in NOISE] + [752e6 * (1 + share) for share in NOISE]


def measured(cast: SimpleNamespace, pair: list[Node], rate: float, at: datetime, **values: Any) -> Campaign:
    """Return a campaign whose every trial has a goodput of about `rate` (bit/s), measured from `at` on."""
    version = values.pop("version", "3.12")
    fast = {"factors": [{"name": "window", "expression": "1MiB"}], "repetitions": 2, "context": False}
    campaign = make.launched(cast, *pair, **{**fast, **values})
    Campaign.objects.filter(pk=campaign.pk).update(launched_at=at)
    for place, trial in enumerate(campaign.trials.select_related("experiment")):
        add_result(trial, rate * (1 + 0.0005 * place), at + timedelta(minutes=place), version)
    return campaign


def add_result(trial: Trial, rate: float, at: datetime, version: str = "3.12", flags: Any = ()) -> Result:
    """Give a trial a successful run with this goodput."""
    run = trial.runs.create(experiment=trial.experiment, attempt=1, state="succeeded")
    experiment = trial.experiment
    result = Result.objects.create(
        run=run, trial=trial, experiment=experiment, tool=experiment.tool, tool_version=version, flags=list(flags)
    )
    rewriting.update(Result.objects.filter(pk=result.pk), recorded_at=at)
    for metric, value in {"goodput": rate, "retransmits": 0.0}.items():
        Sample.objects.create(result=result, trial=trial, experiment=experiment, metric=metric, value=value)
    Trial.objects.filter(pk=trial.pk).update(state="succeeded", finished_at=at)
    return result


@pytest.fixture
def pair(cast: SimpleNamespace) -> list[Node]:
    """Return two nodes of two sites joined by a link."""
    [a] = make.nodes(cast.team, "kisti01")
    [b] = make.nodes(cast.team, "pnu01", site="Busan")
    make.link(a, b, "WAN")
    return [a, b]


def again(campaign: Campaign, rate: float, at: datetime, name: str, version: str) -> Campaign:
    """Return a copy of a measured campaign, row by row, with figures of its own."""
    experiment = campaign.experiments.get()
    [lane], trials = experiment.lanes.all(), list(experiment.trials.all())
    copy = Campaign.objects.get(pk=campaign.pk)
    for row, changes in (
        (copy, {"name": name, "launched_at": at, "permanent_id": permanent_ids.new()}),
        (experiment, {"campaign": copy}),
        (lane, {"experiment": experiment}),
        *((trial, {"campaign": copy, "experiment": experiment, "lane": lane}) for trial in trials),
    ):
        row.pk = None
        row._state.adding = True
        for field, value in changes.items():
            setattr(row, field, value)
        row.save()
    for place, trial in enumerate(trials):
        add_result(trial, rate * (1 + 0.0005 * place), at + timedelta(minutes=place), version)
    return copy


@pytest.fixture
def repeated(cast: SimpleNamespace, pair: list[Node]) -> list[Campaign]:
    """Return the eight campaigns, the oldest first."""
    first = measured(cast, pair, LEVELS[0], START, name="Week 0")
    return [
        first,
        *(
            again(first, rate, START + place * WEEK, f"Week {place}", "3.12" if place < 4 else "3.17")
            for place, rate in enumerate(LEVELS[1:], 1)
        ),
    ]
