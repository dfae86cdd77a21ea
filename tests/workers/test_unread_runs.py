"""/health/ tells of ended runs whose output no worker has read yet."""

from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from django.test import Client
from django.utils import timezone

from apps.agents.models import Job
from apps.campaigns.models import Run
from apps.core import queue
from apps.testbeds.models import Node
from tests import rewriting
from tests.campaigns import factories as make
from tests.core.signing import nobody_gave_a_sign, parts
from tests.workers.factories import listen, measure
from workers import carry_out, closure, reconcile

__all__ = ["nobody_gave_a_sign"]


@pytest.mark.django_db
def test_ended_runs_that_wait_to_be_read_are_told(
    cast: SimpleNamespace, pair: list[Node], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Messages to whoever reads are lost.
    monkeypatch.setattr(queue, "remind", lambda *_message: None)
    make.launched(cast, *pair)
    carry_out.schedule()
    run, now = Run.objects.get(), timezone.now()

    def told() -> tuple[bool, str]:
        reconcile.reconcile(now=now)
        part = parts(client)["readings"]
        return part["ok"], part["what"]

    is_read = (True, "What ended runs printed is read.")
    assert told() == is_read
    listen(run)
    measure(run)
    for minutes, is_ok in ((1, True), (30, False)):
        rewriting.update(Job.objects.filter(run_ref=run.pk), ended_at=now - timedelta(minutes=minutes))
        ok, what = told()
        assert (ok, what[:37]) == (is_ok, "1 ended run waits to be read, since 2")
        since = datetime.fromisoformat(parts(client)["readings"]["since"])
        assert (timezone.now() - since).total_seconds() == pytest.approx(60 * minutes, abs=20)
    # The next of its trials begins meanwhile.
    assert closure.close(run.pk)
    assert told() == is_read
