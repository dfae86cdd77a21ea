"""What may take hours keeps nothing else waiting: of the two processes for long work one at most is at an archive."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from apps.archive.imports import services as imports
from apps.archive.models import Import, IncomingArchive
from apps.core import queue
from apps.reports import services as reports
from apps.reports.files import services as rendering
from apps.reports.models import Rendering, Report
from tests import factories
from tests.reports import documents
from tests.workers import processes
from workers import tasks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("workers")]


@pytest.fixture
def cast(transactional_db: None, settings: Any, tmp_path: Path) -> Iterator[SimpleNamespace]:
    """Return the named cast, in a database that workers see, with empty queues."""
    settings.VAR_DIR = tmp_path
    processes.purge()
    yield factories.cast()
    processes.purge()


def a_slow_archive(cast: SimpleNamespace) -> IncomingArchive:
    """Return an archive that it takes to open as long as nobody writes into it."""
    made = IncomingArchive.objects.create(team=cast.other_team, created_by=cast.charlie, name="a.zip", size=4)
    made.path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(made.path)
    return made


def a_file(cast: SimpleNamespace) -> Rendering:
    report = Report.objects.create(team=cast.team, language="en", title="Windows")
    edition = reports.keep_edition(report=report, document=documents.document(), user=cast.oscar, now=timezone.now())
    return rendering.request_rendering(
        report=report, edition=edition, name="json", user=cast.oscar, now=timezone.now()
    )


def test_a_long_archive_keeps_no_report_and_no_import_waiting_and_the_next_archive_follows_it(
    cast: SimpleNamespace, tmp_path: Path
) -> None:
    slow = a_slow_archive(cast)
    # Another waits behind it: the second process must not take that.
    IncomingArchive.objects.create(team=cast.team, created_by=cast.oscar, name="b.zip", size=4)
    with processes.running("worker-long", tmp_path):
        queue.send(queue.BULKY)
        processes.seconds_until(lambda: IncomingArchive.objects.get(pk=slow.pk).state == "checking")
        files = [ContentFile(b"no output of a tool", name="a.txt")]
        sent = imports.create_import(team=cast.team, user=cast.oscar, kind="outputs", files=files)
        for _report in range(3):
            made = a_file(cast)
            processes.seconds_until(
                lambda made=made: Rendering.objects.get(pk=made.pk).state == "done", each=tasks.tend
            )
        # The one process is at the archive, and the other is free for all else; the next archive was not begun with.
        processes.seconds_until(lambda: Import.objects.get(pk=sent.pk).state == "ready")
        assert sorted(IncomingArchive.objects.values_list("state", flat=True)) == ["checking", "waiting"]
        # Without any look of the timetable: who ends asks for those whose messages came meanwhile.
        # Its reader may close what is no archive before that is written.
        with suppress(BrokenPipeError):
            slow.path.write_bytes(b"PK\x03\x04")
        processes.seconds_until(lambda: set(IncomingArchive.objects.values_list("state", flat=True)) == {"refused"})
