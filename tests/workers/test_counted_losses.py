"""Whoever counts attempts, to give work up after some, counts none whose worker PostgreSQL's end took along.

Every field of a model that is such a counter has a case here, or says why no worker's end is counted in it.
"""

import re
from collections.abc import Callable
from datetime import datetime

import pytest
from django.apps import apps
from django.db.models import IntegerField, Model
from django.utils import timezone

from apps.archive.imports import reader
from apps.archive.imports import work as imports
from apps.archive.incoming import services as incoming
from apps.archive.models import Import, IncomingArchive
from apps.campaigns.models import Campaign, Run, Trial
from apps.core import leases
from apps.reports.files import services as files
from apps.reports.models import Delivery, Rendering
from apps.reports.schedules import deliveries
from apps.tuning.analysis import services as analyses
from apps.tuning.models import Analysis
from tests.archive.imports import sending
from tests.campaigns import factories as make
from tests.factories import Cast
from tests.workers import factories as agents
from tests.workers import timetable_cases
from workers import closure

# Work at which one worker more was lost than it has attempts: how it is taken up, and whether it was given up.
Counter = tuple[Callable[[], object], Callable[[], bool]]


def _rendering(cast: Cast, now: datetime) -> Counter:
    row = Rendering.objects.filter(pk=timetable_cases.resume_renderings(cast).row)
    row.update(state="working", attempts=files.MOST_ATTEMPTS, started_at=now, alive_at=now)
    return lambda: files.resume_renderings(now=now), row.filter(state="failed").exists


def _analysis(cast: Cast, now: datetime) -> Counter:
    campaign = timetable_cases.launched(cast)[0]
    Trial.objects.update(state="succeeded")
    Campaign.objects.update(state="finished", finished_at=now)
    for _attempt in range(analyses.MOST_ATTEMPTS):
        Analysis.objects.update(began_at=now - 2 * analyses.GRACE)
        assert analyses.begin_analysis(campaign_id=campaign.pk, now=now)
    row = Analysis.objects.filter(campaign=campaign)
    return (
        lambda: analyses.begin_analysis(campaign_id=campaign.pk, now=now + 2 * analyses.GRACE),
        row.filter(has_failed=True).exists,
    )


def _delivery(cast: Cast, now: datetime) -> Counter:
    row = Delivery.objects.filter(pk=timetable_cases.resume_deliveries(cast).row)
    row.update(attempts=deliveries.MOST_ATTEMPTS - 1, claimed_at=now)
    return lambda: deliveries.carry_on(delivery_id=row.get().pk, now=now), row.filter(state="failed").exists


def _archive(cast: Cast, now: datetime) -> Counter:
    row = IncomingArchive.objects.filter(pk=timetable_cases.resume_archives(cast).row)
    row.update(state="checking", attempts=incoming.MOST_ATTEMPTS, alive_at=now)
    return lambda: incoming.resume(now=now), row.filter(state="refused").exists


def _import(cast: Cast, now: datetime) -> Counter:
    row = Import.objects.filter(pk=sending.send(cast, {"a.csv": b"streams,rate\n1,941\n"}, kind="table").pk)
    row.update(state="reading", claimed_at=now, stuck=reader.MOST_LOSSES - 1)
    return lambda: imports.advance_import(import_id=row.get().pk, now=now), row.filter(state="refused").exists


def _reading(cast: Cast, now: datetime) -> Counter:
    nodes = make.nodes(cast.team, "north", "south")
    agents.enrol(*nodes)
    run = agents.start(cast, nodes)
    agents.listen(run)
    agents.measure(run)
    row = Run.objects.filter(pk=run.pk)
    row.update(readings=closure.MOST_LOSSES, updated_at=now)
    return lambda: closure.close(run.pk, in_turn=True), row.filter(state="failed").exists


CASES: dict[str, Callable[[Cast, datetime], Counter]] = {
    "archive.Import.stuck": _import,
    "archive.IncomingArchive.attempts": _archive,
    "campaigns.Run.readings": _reading,
    "reports.Delivery.attempts": _delivery,
    "reports.Rendering.attempts": _rendering,
    "tuning.Analysis.attempts": _analysis,
}
COUNTS_NO_WORKERS = {
    "agents.OwedRemoval.tries": "It counts what agents answered.",
    "campaigns.Experiment.max_attempts": "It is a limit.",
    "campaigns.Trial.attempts": "It counts runs, which agents measure on whatever becomes of workers.",
    "campaigns.Trial.attempts_allowed": "It is a limit.",
    "core.SetAside.attempts": "It counts failures, and gives nothing up.",
}


def _counters(model: type[Model]) -> list[str]:
    """Return the counters of attempts of a model, by their names."""
    counts = [field for field in model._meta.get_fields() if isinstance(field, IntegerField)]
    names = [field.name for field in counts if re.search("attempts|tries|stuck|losses|readings|retries", field.name)]
    return [f"{model._meta.app_label}.{model.__name__}.{name}" for name in names]


def test_each_counter_of_attempts_has_a_case() -> None:
    assert {name for model in apps.get_models() for name in _counters(model)} == {*CASES, *COUNTS_NO_WORKERS}


@pytest.mark.parametrize(
    ("start", "is_counted"),
    [
        ("(now() - interval '1 day')", True),
        # It began to serve after the claim.
        ("clock_timestamp()", False),
        # The clock was set back since it began to.
        ("(now() + interval '1 hour')", True),
    ],
    ids=["worker ended", "PostgreSQL ended", "clock set back"],
)
@pytest.mark.parametrize("name", CASES)
def test_only_workers_that_ended_by_themselves_are_counted(
    name: str, start: str, is_counted: bool, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    # The server of the tests is young itself: it shall have served before anything was claimed.
    monkeypatch.setattr(leases._ServerStart, "template", "(now() - interval '1 day')")
    take_up, is_given_up = CASES[name](cast, now)
    monkeypatch.setattr(leases._ServerStart, "template", start)
    take_up()
    assert is_given_up() is is_counted
