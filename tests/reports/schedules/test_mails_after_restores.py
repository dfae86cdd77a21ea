"""Numbers begin anew after a restore: no mail and no link of another thing is taken for that of an earlier one."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core import mail, signing
from django.db import connection
from django.db.models import Model

from apps.accounts import consent
from apps.accounts.models import MailAddress, MailConsent, Team
from apps.reports.models import Delivery, Edition, Schedule
from apps.reports.schedules import deliveries, report_mail, services
from tests import rewriting
from tests.reports.schedules.conftest import NOW, schedule

OWNER = "somebody@elsewhere.example"


def begin_anew(model: type[Model], number: int) -> None:
    """Have the next row get a number that was given before, as after a restore of an earlier state."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT setval(pg_get_serial_sequence('{model._meta.db_table}', 'id'), %s, false)", [number])


def carried(delivery: Delivery) -> Delivery:
    deliveries.carry_on(delivery_id=delivery.pk, now=NOW)
    return Delivery.objects.get(pk=delivery.pk)


def delivered(world: SimpleNamespace, mail_schedule: Schedule) -> Delivery:
    delivery = carried(services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW))
    assert carried(delivery).state == "done"
    return delivery


def test_another_edition_is_never_mailed_under_the_id_of_an_earlier_one(
    world: SimpleNamespace, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://fathom.example.org/"
    mail_schedule = schedule(world, formats=[])
    first = delivered(world, mail_schedule)
    number, edition = first.pk, first.edition
    assert edition is not None
    rewriting.delete(first)
    begin_anew(Delivery, number)
    begin_anew(Edition, edition.pk)
    rewriting.delete(Edition.objects.filter(pk=edition.pk))
    second = delivered(world, mail_schedule)
    assert (second.pk, second.edition_id) == (number, first.edition_id)
    ids = [message.extra_headers["Message-ID"] for message in mail.outbox]
    assert len(ids) == len(set(ids)) == 4


def test_a_team_that_got_anothers_number_asks_and_is_answered_for_itself(
    world: SimpleNamespace, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://fathom.example.org/"
    mail_schedule = schedule(world, formats=[], recipients=[OWNER])
    team = mail_schedule.team
    report_mail.ask(OWNER, mail_schedule, NOW)
    links = [consent.confirm_address(OWNER, team), consent.stop_address(OWNER, team)]
    # Another team of the same number, made later.
    Team.objects.filter(pk=team.pk).update(created_at=team.created_at + timedelta(days=1))
    MailConsent.objects.all().delete()
    mail_schedule = Schedule.objects.get(pk=mail_schedule.pk)
    report_mail.ask(OWNER, mail_schedule, NOW)
    ids = [message.extra_headers["Message-ID"] for message in mail.outbox]
    assert len(ids) == len(set(ids)) == 2
    confirm, stop = (parse_qs(urlsplit(link).query)["token"][0] for link in links)
    assert consent.read_confirm(confirm) is None
    stopped = consent.read_stop(stop)
    assert stopped is not None
    assert (stopped.address, stopped.team) == (OWNER, None)
    consent.stop(stopped, NOW, of_all=False)
    # As by the link of a team that is gone, all are stopped: nothing is kept under the number of another.
    assert MailAddress.objects.get(address=OWNER).refused_teams == []


@pytest.mark.parametrize("salt", ["mail.confirm", "mail.stop"])
def test_links_of_earlier_versions_are_still_read(world: SimpleNamespace, salt: str) -> None:
    token = signing.dumps([OWNER, world.cast.team.pk], salt=salt)
    read = consent.read_confirm if salt == "mail.confirm" else consent.read_stop
    assert read(token) == consent.ConsentLink(OWNER, world.cast.team, world.cast.team.pk)
