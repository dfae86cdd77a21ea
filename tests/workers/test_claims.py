"""A worker that is to stop just after it claimed a piece of work: the claim counts as no loss."""

import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from apps.core import shutdown
from apps.core.models import SetAside
from tests.factories import Cast
from tests.rotation import part_of
from tests.workers.works import Work, a_delivery, a_report, an_analysis, an_archive, an_import
from workers import tasks
from workers.celery import app

CLAIMED = [an_import, an_archive, a_report, a_delivery, an_analysis]
pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def stopped_after_the_claim(work: Work, later: int) -> Iterator[list[str]]:
    """Ask this process to stop once so many statements went by since the work was claimed; yield what it was at."""
    since: list[str] = []
    asking, waiting = [False], [False]

    def go_by(sql: str) -> None:
        since.append(sql)
        if len(since) == later + 1:
            os.kill(os.getpid(), shutdown.SIGNAL)

    def look(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        if not asking[0] and len(since) <= later:
            asking[0] = True
            if since or (not connection.in_atomic_block and work.has_begun()):
                go_by(sql)
            elif not waiting[0] and connection.in_atomic_block and work.has_begun():
                # A claim holds once it is committed.
                waiting[0] = True
                transaction.on_commit(lambda: since or go_by("COMMIT"))
            asking[0] = False
        return answer

    with connection.execute_wrapper(look):
        yield since


@pytest.mark.parametrize(("make", "later"), part_of(itertools.product(CLAIMED, range(3)), parts=3))
def test_a_claim_is_no_loss_where_the_stop_was_ordered(
    make: Callable[[Cast], Work], later: int, cast: Cast, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    work = make(cast)
    # An archive's file is a pipe until this is asked, which nobody writes into here.
    assert not work.is_done()
    with stopped_after_the_claim(work, later) as since:
        try:
            with shutdown.heard():
                app.tasks[work.task].run(*work.arguments)
        except shutdown.ShuttingDown:
            pass
    if work.losses() is not None:
        assert since
    assert work.is_done() or work.losses() in (0, None)
    assert not SetAside.objects.exists()
    for _look in range(60):
        if not work.is_done():
            tasks.tend()
            app.tasks[work.task].run(*work.arguments)
            # Of an analysis nobody takes for abandoned what was begun a moment ago.
            time.sleep(0.2)
    assert work.is_done()
