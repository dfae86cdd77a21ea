"""Mail is counted for a team, a person and the service; beyond that a delivery waits, and nothing makes room."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from apps.accounts import mail_quotas, post
from apps.accounts.mail_quotas import MailsUsedUp, Sender
from apps.accounts.models import MailUsage, Membership, User
from apps.config.settings.limits import MailRate
from apps.core import messages
from apps.core.limits.policies import LimitExceededError
from apps.reports.models import Delivery, Schedule
from apps.reports.schedules import deliveries, services
from tests import factories
from tests.factories import signed_in
from tests.reports.schedules.conftest import NOW, schedule

MIDNIGHT = datetime(2026, 3, 3, tzinfo=UTC)


def delivered(weekly: Any, user: Any, now: datetime) -> Delivery:
    """Return a delivery out of turn, as far as it came."""
    delivery = services.deliver_now(schedule=weekly, user=user, now=now)
    for _step in range(2):
        deliveries.carry_on(delivery_id=delivery.pk, now=now)
    return Delivery.objects.get(pk=delivery.pk)


def sender(world: SimpleNamespace) -> Sender:
    return Sender(world.cast.team, world.cast.oscar)


@pytest.mark.parametrize("account", ["team", "person", "service"])
def test_a_delivery_beyond_the_mails_of_a_day_waits_for_the_next_and_nobody_is_mailed_twice(
    world: SimpleNamespace, settings: Any, account: str
) -> None:
    settings.MAIL_LIMITS = {account: MailRate(100, 1)}
    weekly = schedule(world, formats=[])
    delivery = delivered(weekly, world.cast.oscar, NOW)
    assert (delivery.state, delivery.mailed, delivery.look_at) == ("limited", ["lead@example.org"], MIDNIGHT)
    assert "its 1 mails of today" in messages.render(delivery.note) or "their 1 mails" in messages.render(
        delivery.note
    )
    page = signed_in(world.cast.bob).get(weekly.get_absolute_url()).content.decode()
    assert "held up: mails are used up" in page and "Next attempt:" in page and "every 3s" not in page
    # Nothing of it is an attempt that failed, and its time is no slip of a clock.
    deliveries.carry_on(delivery_id=delivery.pk, now=NOW + timedelta(hours=5))
    delivery.refresh_from_db()
    assert (delivery.attempts, len(mail.outbox)) == (0, 1)
    deliveries.carry_on(delivery_id=delivery.pk, now=MIDNIGHT)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.mailed) == ("done", ["lead@example.org", "other@example.org"])
    assert [message.to for message in mail.outbox] == [["lead@example.org"], ["other@example.org"]]


def test_a_held_up_delivery_that_the_server_then_puts_off_says_so(
    world: SimpleNamespace, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAIL_LIMITS = {"team": MailRate(1, 100)}
    delivery = delivered(schedule(world, formats=[]), world.cast.oscar, NOW)
    assert (delivery.state, delivery.look_at) == ("limited", NOW + timedelta(hours=1))

    def refuse(_self: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(post.EmailMessage, "send", refuse)
    deliveries.carry_on(delivery_id=delivery.pk, now=NOW + timedelta(hours=1))
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("rendering", 1)
    assert "It could not be mailed" in messages.render(delivery.note)


@pytest.mark.parametrize(
    ("lose", "said"),
    [
        (lambda oscar: Membership.objects.filter(user=oscar).delete(), "may not write for the team any more"),
        (lambda oscar: Membership.objects.filter(user=oscar).update(role="viewer"), "may not write for the team"),
        (lambda oscar: User.objects.filter(pk=oscar.pk).update(is_active=False), "The account that the schedule"),
        (lambda oscar: Schedule.objects.update(saved_by=None), "The account that the schedule acts for is gone"),
    ],
)
def test_a_held_up_delivery_ends_when_its_person_lost_their_rights(
    world: SimpleNamespace, settings: Any, lose: Any, said: str
) -> None:
    settings.MAIL_LIMITS = {"team": MailRate(1, 100)}
    delivery = delivered(schedule(world, formats=[]), world.cast.oscar, NOW)
    assert (delivery.state, len(mail.outbox)) == ("limited", 1)
    lose(world.cast.oscar)
    deliveries.carry_on(delivery_id=delivery.pk, now=NOW + timedelta(hours=1))
    delivery.refresh_from_db()
    assert (delivery.state, len(mail.outbox)) == ("failed", 1)
    assert said in messages.render(delivery.note)


def test_deleting_schedules_makes_no_room(world: SimpleNamespace, settings: Any) -> None:
    settings.MAIL_LIMITS = {"team": MailRate(5, 100)}
    with pytest.raises(LimitExceededError) as refused:
        for number in range(35):
            weekly = schedule(world, formats=[], name=f"Number {number}")
            delivered(weekly, world.cast.oscar, NOW)
            services.delete_schedule(schedule=weekly, user=world.cast.oscar)
    assert "grid has sent its 5 mails of this hour" in messages.render(refused.value.message)
    assert refused.value.retry_after_s == 3600
    assert len(mail.outbox) == 5
    assert MailUsage.objects.get(account=f"team:{world.cast.team.pk}").recipients == 5
    assert delivered(weekly, world.cast.oscar, NOW + timedelta(hours=1)).state == "done"


def test_another_team_makes_no_room_for_a_person(world: SimpleNamespace, settings: Any) -> None:
    settings.MAIL_LIMITS = {"person": MailRate(1, 1), "team": MailRate(9, 9)}
    other = factories.team("second", manager=world.cast.oscar)
    mail_quotas.charge(sender=sender(world), now=NOW)
    with pytest.raises(MailsUsedUp, match="oscar has sent their 1 mails of today"):
        mail_quotas.charge(sender=Sender(other, world.cast.oscar), now=NOW)
    assert not MailUsage.objects.filter(account=f"team:{other.pk}", recipients__gt=0).exists()
    mail_quotas.charge(sender=Sender(other, world.cast.alice), now=NOW)


def test_a_limit_that_is_switched_off_holds_nobody_and_old_counts_are_forgotten(
    world: SimpleNamespace, settings: Any
) -> None:
    settings.MAIL_LIMITS = {}
    for days in (0, 0, 5):
        mail_quotas.charge(sender=sender(world), now=NOW + timedelta(days=days))
    assert set(MailUsage.objects.values_list("hour__day", "recipients")) == {(7, 1)}


def test_a_request_for_a_delivery_is_told_when_to_come_again(world: SimpleNamespace, settings: Any) -> None:
    weekly = schedule(world, formats=[])
    client, write = Client(), factories.bearer(world.cast.oscar)
    address = f"/api/v1/report-schedules/{weekly.pk}/deliver/"
    settings.MAIL_LIMITS = {"service": MailRate(1, 1)}
    mail_quotas.charge(sender=sender(world), now=datetime.now(UTC))
    answer = client.post(address, **write)
    assert answer.status_code == 429 and 0 < int(answer["Retry-After"]) <= 24 * 3600 + 1
    assert "this service has sent its 1 mails" in answer.json()["detail"]
    settings.MAIL_LIMITS = {}
    Delivery.objects.create(schedule=weekly, due_at=datetime.now(UTC), look_at=NOW, state="done")
    answer = client.post(address, **write)
    assert answer.status_code == 429 and 290 < int(answer["Retry-After"]) <= 300
    assert "has just delivered" in answer.json()["detail"]
    page = signed_in(world.cast.oscar).post(reverse("schedules:deliver", args=[weekly.pk]), follow=True)
    assert "has just delivered" in page.content.decode()
    # What mails nobody may be frozen anew at once.
    weekly.recipients = []
    weekly.save()
    assert client.post(address, **write).status_code == 202
