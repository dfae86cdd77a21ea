"""Files are rendered by a worker, one at a time; what is lost on the way is taken up again."""

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.bench.text import Message
from apps.core import queue
from apps.core.models import SetAside
from apps.reports.files import formats, services
from apps.reports.files.base import RenderingError
from apps.reports.files.models import folder
from apps.reports.models import Edition, Rendering
from tests import leasing
from tests.power import Disk
from workers import tasks

State = Rendering.State


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the tasks that were asked for, which no worker carries out here."""
    tasks: list[str] = []
    monkeypatch.setattr(queue, "send", lambda task, *_arguments: tasks.append(task))
    return tasks


def ask(edition: Edition, name: str = "json") -> Rendering:
    return services.request_rendering(
        report=edition.report, edition=edition, name=name, user=None, now=timezone.now()
    )


def having(monkeypatch: pytest.MonkeyPatch, renderer: Callable[..., None]) -> None:
    monkeypatch.setattr(formats.Format, "load", lambda _format: renderer)


def test_a_file_is_made_once_for_an_edition(edition: Edition, sent: list[str]) -> None:
    rendering = ask(edition)
    assert (rendering.state, sent) == (State.WAITING, [queue.RENDER])
    tasks.render()
    rendering.refresh_from_db()
    assert (rendering.state, rendering.progress) == (State.DONE, 100)
    assert rendering.path.read_text() == edition.canonical
    assert rendering.checksum == edition.checksum
    assert rendering.size == rendering.path.stat().st_size
    assert ask(edition).pk == rendering.pk
    assert Rendering.objects.get().state == State.DONE
    # Its file was lost with a disk.
    rendering.path.unlink()
    assert ask(edition).state == State.WAITING


def test_the_task_comes_back_until_nothing_waits(edition: Edition, sent: list[str]) -> None:
    ask(edition, "json")
    ask(edition, "zip")
    sent.clear()
    tasks.render()
    tasks.render()
    assert sent == [queue.RENDER] * 2
    tasks.render()
    assert sent == [queue.RENDER] * 2
    assert {found.state for found in Rendering.objects.all()} == {State.DONE}


def test_the_database_lets_one_be_rendered_at_a_time(edition: Edition) -> None:
    first, second = ask(edition, "json"), ask(edition, "zip")
    Rendering.objects.filter(pk=first.pk).update(state=State.WORKING, alive_at=timezone.now())
    assert not services.carry_out_next(now=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        Rendering.objects.filter(pk=second.pk).update(state=State.WORKING)


def test_progress_is_kept_while_it_is_at_work(edition: Edition, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int]] = []

    def renderer(_document: Any, _imprint: Any, output: Any, progress: Callable[[float], None]) -> None:
        for share in (0.25, 0.75, 1.0):
            progress(share)
            seen.append(Rendering.objects.values_list("state", "progress").get())
        output.write_text("made")

    having(monkeypatch, renderer)
    monkeypatch.setattr(services, "SIGN_EVERY_S", 0.0)
    ask(edition)
    tasks.render()
    assert seen == [(State.WORKING, 36), (State.WORKING, 79), (State.WORKING, 99)]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (RenderingError(Message("Show %(n)s fewer."), "log"), "Show"),
        (ZeroDivisionError(), "The file could not be made; the service's log says why."),
    ],
)
def test_a_failure_is_told_and_can_be_tried_again(
    edition: Edition, monkeypatch: pytest.MonkeyPatch, fault: Exception, words: str
) -> None:
    def renderer(*_given: Any) -> None:
        raise fault

    having(monkeypatch, renderer)
    ask(edition)
    tasks.render()
    failed = Rendering.objects.get()
    assert failed.state == State.FAILED
    assert failed.error["msgid"].startswith(words)
    assert list(folder().iterdir()) == []
    assert ask(edition).state == State.WAITING


@pytest.mark.parametrize("fault", [OperationalError("no room"), OSError(errno.ENOSPC, "No space left on device")])
def test_what_fails_for_our_own_reason_is_made_later(
    edition: Edition, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def renderer(*_given: Any) -> None:
        raise fault

    having(monkeypatch, renderer)
    ask(edition)
    tasks.render()
    waits = Rendering.objects.get()
    assert (waits.state, waits.attempts, waits.error) == (State.WAITING, 0, None)
    assert SetAside.objects.get(work=services.RENDER, row_id=waits.pk).attempts == 1
    assert list(folder().iterdir()) == []


def test_what_was_asked_for_anew_or_taken_over_meanwhile_is_not_overwritten(
    edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renderer(_document: Any, _imprint: Any, output: Any, _progress: Any) -> None:
        Rendering.objects.update(state=State.WAITING)
        output.write_text("too late")

    having(monkeypatch, renderer)
    ask(edition)
    tasks.render()
    assert Rendering.objects.get().state == State.WAITING
    assert list(folder().iterdir()) == []


def test_a_tick_takes_up_what_a_killed_worker_left_and_gives_up_in_the_end(edition: Edition, sent: list[str]) -> None:
    ask(edition)
    now = timezone.now()
    Rendering.objects.update(state=State.WORKING, started_at=now, alive_at=now, attempts=1)
    with leasing.elsewhere(services.RENDER, Rendering.objects.get().pk):
        services.resume_renderings(now=now + timedelta(hours=5))
    assert Rendering.objects.get().state == State.WORKING
    sent.clear()
    services.resume_renderings(now=now)
    assert Rendering.objects.get().state == State.WAITING
    assert sent == [queue.RENDER]
    Rendering.objects.update(state=State.WORKING, started_at=now, alive_at=now, attempts=3)
    services.resume_renderings(now=now)
    given_up = Rendering.objects.get()
    assert given_up.state == State.FAILED
    assert "too little memory" in given_up.error["msgid"]


def test_files_that_no_row_names_are_removed(edition: Edition, cast: SimpleNamespace) -> None:
    ask(edition)
    tasks.render()
    kept, left, fresh = Rendering.objects.get().path, folder() / "left.pdf", folder() / "fresh.pdf"
    for path in (left, fresh):
        path.write_text("x")
    for path in (kept, left):
        os.utime(path, (time.time() - 7200, time.time() - 7200))
    ask(edition, "zip")
    tasks.render()
    assert kept.exists()
    assert fresh.exists()
    assert not left.exists()


def test_neither_the_web_process_nor_an_idle_worker_loads_what_renders() -> None:
    code = (
        "import sys, django; django.setup(); import apps.config.urls, workers.tasks;"
        "print(sorted({'xlsxwriter', 'pptx', 'PIL', 'typst', 'fontTools', 'matplotlib'} & set(sys.modules)))"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "apps.config.settings.test", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_a_file_is_on_the_disk_before_its_row_says_so(edition: Edition, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, seen = Disk(monkeypatch), []

    def look(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("UPDATE") and State.DONE in (params or ()):
            files = [path for path in folder().iterdir() if path.is_file()]
            lost = disk.may_lose(folder().parent)
            seen.append([path.name for path in files if str(path) in lost or str(folder()) in lost])
        return execute(sql, params, many, context)

    ask(edition)
    with connection.execute_wrapper(look):
        tasks.render()
    assert seen == [[]]
    assert str(folder().parent) not in disk.may_lose(folder().parent)


@pytest.mark.parametrize("left", [b"", b"{", "same"], ids=["empty", "cut", "other bytes"])
def test_a_file_that_is_not_what_was_made_is_made_again_and_never_handed_out(
    edition: Edition, client: Client, cast: SimpleNamespace, left: bytes | str
) -> None:
    rendering = ask(edition)
    tasks.render()
    rendering.refresh_from_db()
    whole = rendering.path.read_bytes()
    rendering.path.write_bytes(left if isinstance(left, bytes) else whole[:-1] + b"]")
    client.force_login(cast.bob)
    assert client.get(rendering.get_absolute_url()).status_code == 404
    page = client.get(reverse("renderings:edition", args=[edition.permanent_id])).content.decode()
    assert "no longer on the service" in page
    assert rendering.get_absolute_url() not in page
    assert ask(edition).state == State.WAITING
    tasks.render()
    assert b"".join(client.get(rendering.get_absolute_url()).streaming_content) == whole


def test_who_asks_for_a_damaged_file_has_it_made_again_though_nobody_fetched_it(edition: Edition) -> None:
    rendering = ask(edition)
    tasks.render()
    rendering.refresh_from_db()
    rendering.path.write_bytes(rendering.path.read_bytes()[:-1] + b"]")
    assert ask(edition).state == State.WAITING
