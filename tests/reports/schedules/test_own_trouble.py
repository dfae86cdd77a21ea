"""What the service could not do just now is no attempt of a delivery's, at whichever step it is met."""

import errno
from types import SimpleNamespace

import psycopg
import pytest
from django.db import OperationalError

from apps.core import isolation
from apps.core.models import SetAside
from apps.reports.schedules import deliveries, report_mail, services
from tests.reports.schedules.conftest import NOW, schedule
from tests.reports.schedules.test_delivering import carried


def _locked(*_words: object, **_named: object) -> None:
    raise OperationalError("canceling statement due to lock timeout") from psycopg.errors.LockNotAvailable()


def _full(*_words: object, **_named: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def _ill(*_words: object, **_named: object) -> None:
    raise ValueError("what a delivery itself holds")


@pytest.mark.parametrize("step", ["freeze", "mail"])
@pytest.mark.parametrize(("fail", "cause"), [(_locked, "locked"), (_full, "full"), (_ill, "")])
def test_only_a_deliverys_own_fault_is_an_attempt(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, step: str, fail: object, cause: str
) -> None:
    report_schedule = schedule(world, formats=[])
    delivery = services.deliver_now(schedule=report_schedule, user=world.cast.oscar, now=NOW)
    if step == "mail":
        delivery = carried(delivery, NOW)
    with monkeypatch.context() as patch:
        patch.setattr(
            *((deliveries.services, "freeze_report") if step == "freeze" else (report_mail, "mail_all")), fail
        )
        met = carried(delivery, NOW)
    aside = SetAside.objects.filter(work=deliveries.DELIVER, row_id=delivery.pk)
    assert (met.attempts, met.state, met.claimed_at) == (0 if cause else 1, delivery.state, None)
    assert [row.cause for row in aside] == ([cause] if cause else [])
    later = NOW + max(isolation.FIRST_WAIT, deliveries.WAIT)
    assert carried(carried(delivery, later), later).state == "done"
