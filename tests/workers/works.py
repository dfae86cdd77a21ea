"""Long work that waits for a worker, of each kind: how it is asked for, held in its midst, and told to be done."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.core.files.base import ContentFile
from django.db import connection
from django.utils import timezone

from apps.archive.imports import services as imports
from apps.archive.models import Import, IncomingArchive, RetentionRule
from apps.campaigns.models import Campaign, Run, Trial
from apps.core import queue
from apps.core.models import WorkerTime
from apps.reports import services as reports
from apps.reports.files import services as rendering
from apps.reports.models import Delivery, Rendering, Report
from apps.tuning.models import Analysis
from tests.agents.factories import listening
from tests.campaigns import factories as make
from tests.factories import Cast
from tests.reports import documents
from tests.workers import factories as agents
from tests.workers import timetable_cases
from workers import readings


@dataclass(frozen=True)
class Work:
    """Work that waits for a worker: its task, where the worker stops in the midst of it, and how it goes.

    `losses` is how many workers count as lost with it, None where nobody counts them.
    """

    task: str
    arguments: tuple[int, ...]
    # A table that the worker needs once it has begun, and looks of the timetable do not, which the test holds.
    table: str
    has_begun: Callable[[], bool]
    is_done: Callable[[], bool]
    losses: Callable[[], int | None] = lambda: None


def an_import(cast: Cast) -> Work:
    """Return the reading of a file that was sent."""
    files = [ContentFile(b"no output of a tool", name="a.txt")]
    made = imports.create_import(team=cast.team, user=cast.oscar, kind="outputs", files=files)
    row = Import.objects.filter(pk=made.pk)
    return Work(
        queue.BULKY,
        (),
        "results_importitem",
        lambda: row.filter(claimed_at__isnull=False).exists(),
        lambda: row.filter(claimed_at=None, state="ready").exists(),
        lambda: row.get().stuck + (row.get().claimed_at is not None),
    )


def an_archive(cast: Cast) -> Work:
    """Return the looking through an archive, which is none."""
    made = IncomingArchive.objects.create(team=cast.team, created_by=cast.oscar, name="a.zip", size=4)
    made.path.parent.mkdir(parents=True, exist_ok=True)
    # To open it takes as long as nobody writes into it.
    os.mkfifo(made.path)
    row = IncomingArchive.objects.filter(pk=made.pk)

    def is_done() -> bool:
        if not made.path.is_file():
            made.path.unlink(missing_ok=True)
            made.path.write_bytes(b"PK\x03\x04")
        return row.filter(state="refused").exists()

    has_begun = row.filter(state="checking").exists
    return Work(queue.BULKY, (), "", has_begun, is_done, lambda: row.get().attempts)


def a_report(cast: Cast) -> Work:
    """Return the making of an edition's file."""
    report = Report.objects.create(team=cast.team, language="en", title="Windows")
    edition = reports.keep_edition(report=report, document=documents.document(), user=cast.oscar, now=timezone.now())
    made = rendering.request_rendering(
        report=report, edition=edition, name="json", user=cast.oscar, now=timezone.now()
    )
    row = Rendering.objects.filter(pk=made.pk)
    return Work(
        queue.RENDER,
        (),
        "reports_edition",
        lambda: row.filter(state="working").exists(),
        lambda: row.filter(state="done").exists(),
        lambda: row.get().attempts,
    )


def a_delivery(cast: Cast) -> Work:
    """Return the freezing of a report that is to be mailed."""
    made = timetable_cases.resume_deliveries(cast)
    row = Delivery.objects.filter(pk=made.row)
    return Work(
        queue.DELIVER,
        (),
        "reports_edition",
        lambda: row.filter(claimed_at__isnull=False).exists(),
        lambda: row.filter(claimed_at=None).exclude(state="waiting").exists(),
        lambda: row.get().attempts + (row.get().claimed_at is not None),
    )


def a_deletion(cast: Cast) -> Work:
    """Return the deletion of campaigns."""
    timetable_cases.resume_deletions(cast)
    return Work(
        queue.BULKY,
        (),
        "campaigns_note",
        lambda: waits_for("campaigns_note"),
        lambda: not Campaign.objects.exists() and not Trial.objects.exists(),
    )


def a_retention(cast: Cast) -> Work:
    """Return the packing of what is old."""
    timetable_cases.carry_out_rules(cast)
    listening()
    return Work(
        queue.RETAIN,
        (),
        "results_series",
        lambda: RetentionRule.objects.filter(begun_at__isnull=False).exists(),
        lambda: RetentionRule.objects.filter(runs_done=1, begun_at=None).count() == 2,
    )


def a_reading(cast: Cast) -> Work:
    """Return the reading of what a run printed, of a team that has its readings in turns."""
    nodes = make.nodes(cast.team, "north", "south")
    agents.enrol(*nodes)
    run = agents.start(cast, nodes)
    agents.listen(run)
    agents.measure(run)
    WorkerTime.objects.create(owner=f"{readings.TEAM}{cast.team.pk}", spent_s=100.0, at=timezone.now())
    row = Run.objects.filter(pk=run.pk)
    return Work(
        queue.BULKY,
        (),
        "results_result",
        lambda: row.filter(readings=1).exists(),
        lambda: row.filter(state="succeeded").exists(),
        lambda: row.get().readings,
    )


def an_analysis(cast: Cast) -> Work:
    """Return the analysis of a campaign that has ended."""
    campaign = timetable_cases.launched(cast)[0]
    Trial.objects.update(state="succeeded")
    Campaign.objects.update(state="finished", finished_at=timezone.now())
    row = Analysis.objects.filter(campaign=campaign)
    return Work(
        queue.ANALYSE,
        (campaign.pk,),
        "results_result",
        lambda: row.filter(ended_at=None).exists(),
        lambda: row.filter(ended_at__isnull=False, has_failed=False).exists(),
        lambda: row.get().attempts,
    )


WORKS = [an_import, an_archive, a_report, a_delivery, a_deletion, a_retention]


@contextmanager
def held(table: str) -> Iterator[None]:
    """Have a table locked by another connection, so that whoever reads it waits."""
    other = connection.copy()
    try:
        if table:
            other.set_autocommit(False)
            with other.cursor() as cursor:
                cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield
    finally:
        other.close()


def waits_for(table: str) -> bool:
    """Say whether anybody waits for a table."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = %s::regclass)", [table])
        return bool(cursor.fetchone()[0])
