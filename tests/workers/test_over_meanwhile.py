"""A run with which a look failed, and that somebody else ended, is not said to wait any longer."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.campaigns.models import Run
from apps.core import isolation
from apps.core.models import SetAside
from apps.testbeds.models import Node
from tests.workers import factories as agents
from workers import carry_out, closure, reconcile


@pytest.mark.parametrize("work", [carry_out.TAKE_ON, closure.CLOSE])
def test_what_is_over_is_set_aside_no_longer(cast: SimpleNamespace, pair: list[Node], work: str) -> None:
    run = agents.start(cast, pair)
    now = timezone.now()

    def aside(of: str, row: int, retry_in_s: float) -> SetAside:
        times = {"first_at": now, "last_at": now, "retry_at": now + timedelta(seconds=retry_in_s)}
        return SetAside.objects.create(work=of, row_id=row, reason="OperationalError: ended", attempts=1, **times)

    over = aside(work, run.pk + 1, -1)
    kept = [
        # Its time has not come: what it is about may be newer than what was looked at.
        aside(work, run.pk + 2, 60),
        aside(work, run.pk, 60),
        aside(work, isolation.ALL, -1),
        aside("another_work", run.pk + 1, -1),
    ]
    reconcile.reconcile(now=now)
    assert set(SetAside.objects.values_list("pk", flat=True)) == {row.pk for row in kept}
    assert over.pk not in {row.pk for row in kept}
    # Also when nothing at all is left to be done.
    Run.objects.update(state=Run.State.FAILED, ended_at=now)
    reconcile.reconcile(now=now + timedelta(minutes=5))
    assert set(SetAside.objects.values_list("work", "row_id")) == {
        (work, isolation.ALL),
        ("another_work", run.pk + 1),
    }
