"""A campaign of a series reaches everybody once, as it ended last, whatever became of a delivery before."""

import itertools
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.core import mail
from django.db.models import CASCADE
from django.utils import timezone

from apps.campaigns import services as campaigns
from apps.campaigns.errors import WrongState
from apps.campaigns.models import Campaign
from apps.core import messages
from apps.reports.files import services as rendering
from apps.reports.models import Delivery, Edition, Rendering, Schedule
from apps.reports.schedules import deliveries, services
from tests.reports.schedules.conftest import NOW, occurrence, schedule
from tests.rotation import part_of

LEAD, OTHER = "lead@example.org", "other@example.org"
State = Delivery.State
CLOSED_STATES = [state for state in State if state not in Delivery.OPEN_STATES]
MAILED = [[], [LEAD], [LEAD, OTHER]]


def weekly(world: SimpleNamespace, **changes: Any) -> Schedule:
    return schedule(world, **({"report": None, "series": world.series, "formats": []} | changes))


def delivered(world: SimpleNamespace, made: Schedule, hours: float) -> Delivery:
    """Return what became of a delivery so many hours after NOW."""
    now = NOW + timedelta(hours=hours)
    delivery = services.deliver_now(schedule=made, user=world.cast.oscar, now=now)
    for _step in range(2):
        deliveries.carry_on(delivery_id=delivery.pk, now=now)
    return Delivery.objects.get(pk=delivery.pk)


@pytest.mark.parametrize(("state", "mailed"), part_of(itertools.product(CLOSED_STATES, MAILED), parts=3))
def test_whoever_it_did_not_reach_gets_it_next_time_and_nobody_twice(
    world: SimpleNamespace, state: State, mailed: list[str]
) -> None:
    occurrence(world, NOW)
    made = weekly(world)
    first = delivered(world, made, 3)
    edition = None if state == State.SKIPPED else first.edition
    Delivery.objects.filter(pk=first.pk).update(state=state, mailed=mailed, edition=edition)
    mail.outbox.clear()
    second = delivered(world, made, 4)
    is_over = state == State.DONE
    assert second.state == (State.SKIPPED if is_over else State.DONE)
    missing = [] if is_over else [LEAD, OTHER] if state == State.SKIPPED else [LEAD, OTHER][len(mailed) :]
    assert [message.to for message in mail.outbox] == [[address] for address in missing]
    # Another is frozen only where there is none.
    assert Edition.objects.count() == (2 if state == State.SKIPPED else 1)
    assert delivered(world, made, 5).state == State.SKIPPED


def test_what_was_run_again_after_its_delivery_is_delivered_anew(world: SimpleNamespace) -> None:
    made = weekly(world)
    latest = occurrence(world, NOW)
    assert delivered(world, made, 3).state == State.DONE
    Campaign.objects.filter(pk=latest.pk).update(finished_at=NOW + timedelta(hours=4))
    again = delivered(world, made, 5)
    assert (again.state, again.mailed) == (State.DONE, [LEAD, OTHER])
    assert Edition.objects.count() == 2
    assert delivered(world, made, 6).state == State.SKIPPED


@pytest.mark.parametrize(
    "lose", [Path.unlink, partial(Path.write_bytes, data=b""), lambda path: path.write_bytes(path.read_bytes()[::-1])]
)
def test_a_file_that_is_gone_or_damaged_is_made_again_before_the_mail_goes(
    world: SimpleNamespace, lose: Callable[[Path], None]
) -> None:
    made = schedule(world, recipients=[LEAD])
    delivery = services.deliver_now(schedule=made, user=world.cast.oscar, now=NOW)
    deliveries.carry_on(delivery_id=delivery.pk, now=NOW)
    assert rendering.carry_out_next(now=NOW)
    lose(Rendering.objects.get().path)
    deliveries.carry_on(delivery_id=delivery.pk, now=NOW)
    delivery.refresh_from_db()
    assert (delivery.state, mail.outbox) == (State.RENDERING, [])
    assert "json" in messages.render(delivery.note)
    assert rendering.carry_out_next(now=NOW)
    deliveries.carry_on(delivery_id=delivery.pk, now=NOW + timedelta(minutes=2))
    delivery.refresh_from_db()
    assert (delivery.state, delivery.note) == (State.DONE, None)
    assert [len(message.attachments) for message in mail.outbox] == [1]


def test_files_that_vanish_each_time_end_the_delivery_with_the_reason(world: SimpleNamespace) -> None:
    made = schedule(world, recipients=[LEAD])
    delivery = services.deliver_now(schedule=made, user=world.cast.oscar, now=NOW)
    deliveries.carry_on(delivery_id=delivery.pk, now=NOW)
    for hour in range(deliveries.MOST_ATTEMPTS):
        assert rendering.carry_out_next(now=NOW)
        Rendering.objects.get().path.unlink()
        deliveries.carry_on(delivery_id=delivery.pk, now=NOW + timedelta(hours=2 * hour))
    delivery.refresh_from_db()
    assert (delivery.state, mail.outbox) == (State.FAILED, [])
    assert "gone from the service's disk each time" in messages.render(delivery.note)


def test_a_series_that_a_schedule_delivers_is_not_deleted(world: SimpleNamespace) -> None:
    made = weekly(world)
    oscar = world.cast.oscar
    Campaign.objects.filter(pk=world.series.pk).update(state=Campaign.State.CANCELLED)
    with pytest.raises(WrongState, match="“Daily” delivers it: delete the schedule first"):
        campaigns.delete_campaign(campaign=world.series, user=oscar, now=timezone.now())
    services.delete_schedule(schedule=made, user=oscar)
    assert campaigns.delete_campaign(campaign=world.series, user=oscar, now=timezone.now())


def test_what_a_campaign_takes_with_it_is_of_the_campaign() -> None:
    """Its trials, what was concluded from them: whatever else points at one is kept, or keeps it there as above."""
    parts = ("campaigns", "tuning", "comparison")
    related = apps.get_model("campaigns.Campaign")._meta.related_objects
    taken = {one.related_model._meta.label for one in related if one.on_delete is CASCADE}
    assert {label for label in taken if label.split(".")[0] not in parts} == {"reports.Schedule"}
