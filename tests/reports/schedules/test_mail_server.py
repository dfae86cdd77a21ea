"""A report is mailed over SMTP to a server; what the server refuses or puts off is told, and nothing is lost."""

from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from apps.accounts.models import MailUsage
from apps.core import messages
from apps.reports import services as reports
from apps.reports.files import services as rendering
from apps.reports.models import Delivery, Edition, Rendering
from apps.reports.overview.selection import Selection
from apps.reports.schedules import deliveries, services
from tests.reports.schedules import smtp
from tests.reports.schedules.conftest import NOW, schedule

LEAD, OTHER = "lead@example.org", "other@example.org"


@pytest.fixture
def post(settings: Any) -> Iterator[smtp.Post]:
    """Return a mail server, which is the service's."""
    with smtp.serving() as post:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", post.port
        settings.DEFAULT_FROM_EMAIL = "Fathom <fathom@example.org>"
        yield post


def begun(world: SimpleNamespace, **changes: Any) -> Delivery:
    """Return a delivery whose report is frozen; no files unless `changes` name formats."""
    mail_schedule = schedule(world, **({"formats": []} | changes))
    delivery = services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW)
    return carried(delivery)


def carried(delivery: Delivery, minutes: float = 0) -> Delivery:
    deliveries.carry_on(delivery_id=delivery.pk, now=NOW + timedelta(minutes=minutes))
    return Delivery.objects.get(pk=delivery.pk)


def counted() -> set[int]:
    """Return how many mails stand on the accounts."""
    return set(MailUsage.objects.values_list("recipients", flat=True))


def note_of(delivery: Delivery) -> str:
    return messages.render(delivery.note)


def test_a_mail_arrives_with_its_korean_subject_its_summary_and_its_files_to_the_byte(
    world: SimpleNamespace, post: smtp.Post
) -> None:
    report = reports.begin_management_report(
        team=world.cast.team,
        user=world.cast.oscar,
        language="ko",
        title="분기 보고: 대전과 부산 사이의 네트워크와 파일 시스템",
        selection=Selection().as_json(),
    )
    delivery = begun(world, report=report, formats=["pdf", "json"])
    while rendering.carry_out_next(now=NOW):
        pass
    assert carried(delivery).state == "done"
    edition = Edition.objects.get()
    assert [(taken.sender, taken.recipients) for taken in post.taken] == [
        ("fathom@example.org", [LEAD]),
        ("fathom@example.org", [OTHER]),
    ]
    mail = post.taken[0].mail
    # A long subject may begin on a line of its own.
    assert mail["Subject"].strip() == f"{report.title} (1판)"
    assert (mail["From"], mail["To"], mail["Auto-Submitted"]) == (
        "Fathom <fathom@example.org>",
        LEAD,
        "auto-generated",
    )
    assert not mail.defects
    body = mail.get_body()
    assert body is not None
    for said in (report.title, edition.permanent_id, edition.checksum, "“Daily”"):
        assert said in body.get_content()
    files = {part.get_filename(): part for part in mail.iter_attachments()}
    kept = {item.format: item.path.read_bytes() for item in Rendering.objects.all()}
    assert {name: part.get_content_type() for name, part in files.items()} == {
        f"{edition.permanent_id}.pdf": "application/pdf",
        f"{edition.permanent_id}.json": "application/json",
    }
    for name, content in kept.items():
        assert files[f"{edition.permanent_id}.{name}"].get_payload(decode=True) == content
    assert kept["pdf"].startswith(b"%PDF-1.7")


def test_an_address_that_is_refused_for_good_is_named_and_the_others_get_theirs(
    world: SimpleNamespace, post: smtp.Post
) -> None:
    post.rcpt[LEAD] = "550 5.1.1 No such user"
    post.data["third@example.org"] = "552 5.3.4 Too large"
    delivery = carried(begun(world, recipients=[LEAD, OTHER, "third@example.org"]))
    assert (delivery.state, delivery.mailed, delivery.attempts) == ("done", [OTHER], 0)
    assert f"refused these addresses: {LEAD} (550 5.1.1 No such user); third@example.org (552" in note_of(delivery)
    assert [taken.recipients for taken in post.taken] == [[OTHER]]
    # Addresses that there are not use up what may be sent, too.
    assert counted() == {3}


def test_nobody_reached_is_a_failure_whose_edition_stays(world: SimpleNamespace, post: smtp.Post) -> None:
    post.rcpt |= {LEAD: "550 5.7.1 Not here", OTHER: "553 5.1.3 No"}
    delivery = carried(begun(world))
    assert (delivery.state, delivery.mailed) == ("failed", [])
    assert OTHER in note_of(delivery)
    assert Edition.objects.get() == delivery.edition


def test_what_is_put_off_is_tried_again_beside_what_was_taken(world: SimpleNamespace, post: smtp.Post) -> None:
    post.rcpt[LEAD] = "451 4.7.1 Greylisted,\ttry later"
    delivery = carried(begun(world))
    assert (delivery.state, delivery.mailed, delivery.attempts) == ("rendering", [OTHER], 1)
    assert delivery.look_at == NOW + deliveries.WAIT
    assert note_of(delivery) == (
        f"It could not be mailed, and is tried again: {LEAD} (451 4.7.1 Greylisted, try later)."
    )
    assert counted() == {1}
    post.rcpt.clear()
    delivery = carried(delivery, minutes=2)
    assert (delivery.state, delivery.note) == ("done", None)
    assert [taken.recipients for taken in post.taken] == [[OTHER], [LEAD]]
    assert counted() == {2}


def test_a_server_that_takes_mail_from_nobody_is_tried_again_and_then_given_up(
    world: SimpleNamespace, post: smtp.Post
) -> None:
    post.sender = "530 5.7.0 Sign in first"
    delivery = begun(world)
    for attempt in range(1, deliveries.MOST_ATTEMPTS):
        delivery = carried(delivery, minutes=60 * attempt)
        assert (delivery.state, delivery.attempts) == ("rendering", attempt)
    delivery = carried(delivery, minutes=60 * 24)
    assert (delivery.state, delivery.edition) == ("failed", Edition.objects.get())
    assert f"127.0.0.1:{post.port}: 530 5.7.0 Sign in first" in note_of(delivery)
    assert "Look at the mail settings" in note_of(delivery)
    assert counted() == {0}


def test_a_server_that_is_away_is_told_and_gets_the_mail_once_it_is_back(
    world: SimpleNamespace, settings: Any
) -> None:
    with smtp.serving() as gone:
        pass
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", gone.port
    delivery = carried(begun(world))
    assert (delivery.state, delivery.mailed) == ("rendering", [])
    assert f"127.0.0.1:{gone.port}: Connection refused" in note_of(delivery)
    assert counted() == {0}
    with smtp.serving() as back:
        settings.EMAIL_PORT = back.port
        delivery = carried(delivery, minutes=2)
    assert (delivery.state, delivery.note) == ("done", None)
    assert [taken.recipients for taken in back.taken] == [[LEAD], [OTHER]]
