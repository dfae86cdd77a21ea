"""A schedule that is due freezes its report, has its files rendered, and mails them, each step once."""

import json
import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core import mail
from django.core.exceptions import ValidationError
from django.core.mail.backends import locmem
from django.utils import timezone

from apps.accounts.models import Membership
from apps.config.settings import base
from apps.core import messages
from apps.reports import services as reports
from apps.reports.files import services as rendering
from apps.reports.models import Delivery, Edition, Rendering, Schedule
from apps.reports.schedules import deliveries, report_mail, services
from tests import leasing
from tests.reports.schedules.conftest import NOW, occurrence, schedule

# 07:00 in Seoul on the day after NOW.
DATE = datetime(2026, 3, 2, 22, 0, tzinfo=UTC)
DUE = DATE + timedelta(seconds=30)


def carried(delivery: Delivery, now: datetime) -> Delivery:
    deliveries.carry_on(delivery_id=delivery.pk, now=now)
    return Delivery.objects.get(pk=delivery.pk)


def text_of(message: Any) -> str:
    return messages.render(message)


def test_a_due_schedule_mails_a_frozen_edition_with_its_files_once(world: SimpleNamespace) -> None:
    mail_schedule = schedule(world)
    assert mail_schedule.next_at == DATE
    services.start_due(now=DATE - timedelta(seconds=1))
    assert not Delivery.objects.exists()
    for _again in range(2):
        services.start_due(now=DUE)
    delivery = Delivery.objects.get()
    mail_schedule.refresh_from_db()
    assert (delivery.due_at, delivery.state, mail_schedule.next_at) == (DATE, "waiting", DATE + timedelta(days=1))
    delivery = carried(delivery, DUE)
    edition = Edition.objects.get()
    assert (delivery.state, delivery.edition, edition.report) == ("rendering", edition, world.report)
    # The file is not there yet.
    delivery = carried(delivery, DUE)
    assert delivery.state == "rendering"
    assert not mail.outbox
    assert rendering.carry_out_next(now=DUE)
    # Too early to look again.
    assert carried(delivery, DUE + timedelta(seconds=1)).state == "rendering"
    delivery = carried(delivery, DUE + timedelta(seconds=10))
    assert (delivery.state, delivery.note, delivery.ended_at) == ("done", None, DUE + timedelta(seconds=10))
    assert [message.to for message in mail.outbox] == [["lead@example.org"], ["other@example.org"]]
    first = mail.outbox[0]
    assert first.subject == "Quarter (Edition 1)"
    assert edition.permanent_id in first.body
    assert edition.checksum in first.body
    assert "Sent by the schedule “Daily” of grid." in first.body
    [(name, content, kind)] = first.attachments
    assert (name, kind) == (f"{edition.permanent_id}.json", "application/json")
    assert json.loads(content)["title"] == "Quarter"
    carried(delivery, DUE + timedelta(hours=1))
    assert len(mail.outbox) == 2


def test_a_summary_is_read_in_the_mail_itself(world: SimpleNamespace, settings: Any) -> None:
    settings.PUBLIC_URL = "https://fathom.example.org/"
    occurrence(world, datetime(2026, 2, 10, 8, 0, tzinfo=UTC))
    mail_schedule = schedule(world, formats=[], recipients=["lead@example.org"])
    delivery = services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW)
    assert carried(carried(delivery, NOW), NOW).state == "done"
    body = mail.outbox[0].body
    assert "From 2026-02-01 to 2026-02-28 1 campaign brought 2 trials to their end: 2 measured." in body
    assert "Success : 100 %" in body
    assert f"https://fathom.example.org{Edition.objects.get().get_absolute_url()}" in body


def test_a_mail_about_a_period_without_measurements_says_so(world: SimpleNamespace) -> None:
    mail_schedule = schedule(world, formats=[], recipients=["lead@example.org"])
    delivery = services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW)
    assert carried(carried(delivery, NOW), NOW).state == "done"
    [nothing] = Edition.objects.get().document.sections
    [said] = nothing.blocks[0].parts  # type: ignore[union-attr]
    assert said in mail.outbox[0].body


def test_without_recipients_the_edition_is_left_in_the_page(world: SimpleNamespace) -> None:
    mail_schedule = schedule(world, formats=[], recipients=[])
    delivery = services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW)
    assert carried(carried(delivery, NOW), NOW).state == "done"
    assert Edition.objects.count() == 1
    assert not mail.outbox


def test_without_a_mail_server_mails_are_files_in_a_folder(
    world: SimpleNamespace, settings: Any, tmp_path: Any
) -> None:
    assert base.EMAIL_BACKEND == "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_BACKEND, settings.EMAIL_FILE_PATH = base.EMAIL_BACKEND, tmp_path / "mail"
    mail_schedule = schedule(world, formats=[])
    delivery = services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW)
    assert carried(carried(delivery, NOW), NOW).state == "done"
    # Mails of one moment may share a file.
    text = "".join(path.read_text() for path in (tmp_path / "mail").iterdir())
    assert text.count("Subject: Quarter (Edition 1)") == 2


def test_a_report_that_a_schedule_delivers_is_not_deleted(world: SimpleNamespace) -> None:
    mail_schedule = schedule(world)
    with pytest.raises(ValidationError, match="delete the schedule first"):
        reports.delete_report(report=world.report, user=world.cast.oscar)
    services.delete_schedule(schedule=mail_schedule, user=world.cast.oscar)
    reports.delete_report(report=world.report, user=world.cast.oscar)


def test_a_series_delivers_each_campaign_once_in_the_language_of_the_schedule(world: SimpleNamespace) -> None:
    mail_schedule = schedule(
        world, report=None, series=world.series, language="ko", formats=[], recipients=["a@example.org"]
    )
    ends: list[tuple[str, str]] = []
    for day in (0, 7, 7):
        at = NOW + timedelta(days=day)
        if (day == 7 and len(ends) == 1) or day == 0:
            occurrence(world, at)
        now = at + timedelta(hours=3, minutes=10 * len(ends))
        delivery = carried(services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=now), now)
        delivery = carried(delivery, now) if delivery.is_open else delivery
        ends.append((delivery.state, delivery.edition.title if delivery.edition else text_of(delivery.note)))
    assert ends == [
        ("done", "Weekly 02"),
        ("done", "Weekly 09"),
        ("skipped", "Nothing was measured since the last delivery."),
    ]
    assert {edition.language for edition in Edition.objects.all()} == {"ko"}
    assert len(mail.outbox) == 2


def test_a_mail_server_that_is_away_is_tried_again_and_nobody_is_mailed_twice(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = {"other@example.org"}
    usual = locmem.EmailBackend.send_messages

    def send(self: Any, found: Any) -> int:
        if refused & {address for message in found for address in message.to}:
            raise ConnectionRefusedError
        return usual(self, found)

    monkeypatch.setattr(locmem.EmailBackend, "send_messages", send)
    mail_schedule = schedule(world, formats=[])
    delivery = carried(services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW), NOW)
    delivery = carried(delivery, NOW)
    assert (delivery.state, delivery.attempts, delivery.mailed) == ("rendering", 1, ["lead@example.org"])
    assert delivery.look_at == NOW + timedelta(minutes=1)
    refused.clear()
    delivery = carried(delivery, NOW + timedelta(minutes=2))
    assert (delivery.state, delivery.mailed) == ("done", ["lead@example.org", "other@example.org"])
    assert [message.to for message in mail.outbox] == [["lead@example.org"], ["other@example.org"]]


def test_a_mail_that_a_lost_worker_sends_again_is_known_by_its_number(world: SimpleNamespace, settings: Any) -> None:
    settings.PUBLIC_URL = "https://fathom.example.org/"
    mail_schedule = schedule(world, formats=[])
    for minutes in (0, 10):
        now = NOW + timedelta(minutes=minutes)
        delivery = carried(services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=now), now)
        assert carried(delivery, now).state == "done"
        # The worker was lost before it could write down that the server took the mail.
        Delivery.objects.filter(pk=delivery.pk).update(state="rendering", mailed=[])
        assert carried(delivery, now).state == "done"
    numbers = [message.extra_headers["Message-ID"] for message in mail.outbox]
    assert [numbers[2:4], numbers[6:8]] == [numbers[0:2], numbers[4:6]]
    assert len({*numbers}) == 4
    assert all(re.fullmatch(r"<[0-9a-f]{40}@fathom\.example\.org>", number) for number in numbers)


def test_it_is_given_up_after_several_attempts(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_given: Any) -> None:
        raise RuntimeError("no mail today")

    monkeypatch.setattr(report_mail, "send", fail)
    mail_schedule = schedule(world, formats=[])
    delivery = carried(services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW), NOW)
    for day in range(deliveries.MOST_ATTEMPTS):
        assert delivery.state == "rendering"
        delivery = carried(delivery, NOW + timedelta(days=day))
    assert delivery.state == "failed"
    assert "the service's log says why." in text_of(delivery.note)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (
            lambda mail_schedule, cast: Schedule.objects.filter(pk=mail_schedule.pk).update(saved_by=None),
            "save the schedule again",
        ),
        (
            lambda mail_schedule, cast: Membership.objects.filter(user=cast.oscar).delete(),
            "oscar, for whom the schedule acts",
        ),
        (
            lambda mail_schedule, cast: Membership.objects.filter(user=cast.oscar).update(role="viewer"),
            "may not write for the team any more",
        ),
    ],
)
def test_who_may_write_no_more_delivers_no_more(world: SimpleNamespace, spoil: Any, said: str) -> None:
    mail_schedule = schedule(world)
    delivery = services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW)
    spoil(mail_schedule, world.cast)
    delivery = carried(delivery, NOW)
    assert delivery.state == "failed"
    assert said in text_of(delivery.note)
    assert not Edition.objects.exists()


def test_a_file_that_fails_is_told_and_the_mail_goes_without_it(world: SimpleNamespace) -> None:
    mail_schedule = schedule(world, formats=["json", "pdf"], recipients=["lead@example.org"])
    delivery = carried(services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW), NOW)
    error = {"msgid": "A figure could not be drawn; the service's log says why.", "params": {}}
    Rendering.objects.filter(format="pdf").update(state="failed", error=error)
    assert rendering.carry_out_next(now=NOW)
    delivery = carried(delivery, NOW)
    assert (delivery.state, delivery.mailed) == ("done", ["lead@example.org"])
    assert "pdf" in text_of(delivery.note)
    assert "Not attached: PDF – A figure could not be drawn" in mail.outbox[0].body
    assert [name.rpartition(".")[2] for name, _content, _kind in mail.outbox[0].attachments] == ["json"]


def test_what_is_too_large_for_mail_stays_behind(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_mail, "MOST_BYTES", 10)
    mail_schedule = schedule(world, recipients=["lead@example.org"])
    delivery = carried(services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW), NOW)
    assert rendering.carry_out_next(now=NOW)
    assert carried(delivery, NOW).state == "done"
    assert not mail.outbox[0].attachments
    assert "it is too large for mail" in mail.outbox[0].body


def test_one_delivery_at_a_time_and_a_lost_message_is_made_good(world: SimpleNamespace) -> None:
    mail_schedule = schedule(world)
    delivery = services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW)
    with pytest.raises(services.Refused, match="under way"):
        services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW + timedelta(seconds=1))
    services.start_due(now=DUE)
    assert list(Delivery.objects.all()) == [delivery]
    # While a worker is at it nobody else is, however long that takes; if it is killed, another takes it on at once.
    with leasing.elsewhere(deliveries.DELIVER, delivery.pk):
        assert carried(delivery, NOW + timedelta(hours=5)).state == "waiting"
    Delivery.objects.update(claimed_at=timezone.now())
    taken = carried(delivery, NOW)
    assert (taken.state, taken.attempts, taken.claimed_at) == ("rendering", 1, None)


def test_a_delivery_at_which_workers_die_waits_longer_each_time_and_is_given_up(world: SimpleNamespace) -> None:
    delivery = services.deliver_now(schedule=schedule(world), user=world.cast.oscar, now=NOW)
    Delivery.objects.update(claimed_at=timezone.now(), attempts=1)
    put_off = carried(delivery, NOW)
    assert (put_off.state, put_off.attempts, put_off.look_at) == ("waiting", 2, NOW + 2 * deliveries.WAIT)
    Delivery.objects.update(claimed_at=timezone.now(), attempts=deliveries.MOST_ATTEMPTS - 1, look_at=NOW)
    assert carried(delivery, NOW).state == "failed"
