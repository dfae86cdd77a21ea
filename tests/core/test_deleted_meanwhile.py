"""Long work whose row is deleted under way: that is told in a line, and nothing failed."""

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.db.models import Model
from django.utils import timezone

from apps.archive.imports import reader
from apps.archive.imports import services as imports
from apps.archive.imports.models import Import
from apps.archive.incoming import services as archives
from apps.archive.models import IncomingArchive
from apps.core import isolation
from apps.core.models import SetAside
from apps.reports.files import services as files
from apps.reports.models import Delivery, Edition, Rendering
from apps.reports.schedules import deliveries
from apps.reports.schedules import services as schedules
from tests.archive.imports import sending
from tests.reports.files.conftest import edition
from tests.reports.schedules import test_delivering as delivering
from tests.reports.schedules.conftest import schedule, world
from tests.results.conftest import pair

__all__ = ["edition", "pair", "world"]


def before(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, delete: Callable[[], object]) -> None:
    """Have somebody delete what is being worked on just before a step of the work."""
    step = getattr(owner, name)

    def take_step(*given: Any, **more: Any) -> Any:
        delete()
        return step(*given, **more)

    monkeypatch.setattr(owner, name, take_step)


def assert_told(model: type[Model], caplog: pytest.LogCaptureFixture) -> None:
    assert not model._default_manager.exists()
    told = [record for record in caplog.records if "was deleted meanwhile" in record.getMessage()]
    assert [(record.levelno, record.exc_info) for record in told] == [(logging.INFO, None)]
    assert told[0].getMessage().startswith(f"{model.__name__} ")
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert not SetAside.objects.exists()


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Return what is logged, all of it."""
    caplog.set_level(logging.INFO)
    return caplog


@pytest.mark.parametrize("step", ["look_at", "_entries"])
def test_an_import(
    step: str,
    cast: SimpleNamespace,
    settings: Any,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
    told: pytest.LogCaptureFixture,
) -> None:
    """While a file is read, and before the files, which go with it, are opened."""
    settings.VAR_DIR = tmp_path
    before(monkeypatch, reader, step, lambda: imports.discard_import(imported=Import.objects.get()))
    content = sending.recording("iperf3-tcp/winsweep_pnu/w64K_cubic_r1.json")
    with pytest.raises(Import.DoesNotExist):
        sending.send(cast, {"a.json": content})
    assert_told(Import, told)


def test_an_archive(
    cast: SimpleNamespace,
    settings: Any,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
    told: pytest.LogCaptureFixture,
) -> None:
    settings.VAR_DIR = tmp_path
    IncomingArchive.objects.create(team=cast.team, created_by=cast.oscar, name="a.zip", size=22)
    before(monkeypatch, IncomingArchive, "refresh_from_db", lambda: IncomingArchive.objects.all().delete())
    archives.carry_out_next(now=timezone.now())
    assert_told(IncomingArchive, told)


def test_a_rendering(edition: Edition, monkeypatch: pytest.MonkeyPatch, told: pytest.LogCaptureFixture) -> None:
    files.request_rendering(report=edition.report, edition=edition, name="json", user=None, now=timezone.now())
    before(
        monkeypatch, files, "_carry_out", lambda: (Rendering.objects.all().delete(), Edition.objects.all().delete())
    )
    files.carry_out_next(now=timezone.now())
    assert_told(Rendering, told)


def test_a_delivery(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, told: pytest.LogCaptureFixture) -> None:
    schedule(world)
    schedules.start_due(now=delivering.DUE)
    before(monkeypatch, deliveries, "_freeze", lambda: Delivery.objects.all().delete())
    deliveries.carry_on(delivery_id=Delivery.objects.get().pk, now=delivering.DUE)
    assert_told(Delivery, told)


@pytest.mark.django_db
def test_what_fails_at_a_row_that_is_there_is_an_error(cast: SimpleNamespace, told: pytest.LogCaptureFixture) -> None:
    def fail(_pk: int) -> None:
        raise ValueError

    kept = IncomingArchive.objects.create(team=cast.team, created_by=cast.oscar, name="a.zip", size=22)
    isolation.for_each("look", [kept.pk], fail, now=timezone.now(), of=IncomingArchive)
    assert [record.levelno for record in told.records] == [logging.ERROR]
    assert SetAside.objects.get().row_id == kept.pk
