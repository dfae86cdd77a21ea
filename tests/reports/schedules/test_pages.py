"""Schedules are kept, looked at and carried out on pages and over REST, by those who may write for the team."""

from types import SimpleNamespace
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.reports.models import Delivery, Schedule
from apps.reports.schedules import deliveries, services
from tests import factories
from tests.factories import signed_in
from tests.reports.schedules.conftest import NOW, schedule

LIST = "/reports/schedules/"
API = "/api/v1/report-schedules/"


def fields(world: SimpleNamespace, **changes: Any) -> dict[str, Any]:
    return {
        "name": "Monthly",
        "report": world.report.pk,
        "series": "",
        "language": "en",
        "cron": "0 7 1 * *",
        "cron_timezone": "Asia/Seoul",
        "formats": ["pdf", "xlsx"],
        "recipients": "lead@example.org\nother@example.org, third@example.org",
        "is_active": "on",
    } | changes


def test_a_schedule_is_made_changed_carried_out_and_deleted(world: SimpleNamespace) -> None:
    client = signed_in(world.cast.oscar)
    assert "No report schedule yet" in client.get(LIST).content.decode()
    page = client.get(f"{LIST}new/?report={world.report.pk}").content.decode()
    assert f'<option value="{world.report.pk}" selected>Quarter</option>' in page
    assert client.post(f"{LIST}new/", fields(world)).status_code == 302
    made = Schedule.objects.get()
    assert made.recipients == ["lead@example.org", "other@example.org", "third@example.org"]
    assert (made.formats, made.saved_by, made.is_active) == (["pdf", "xlsx"], world.cast.oscar, True)
    detail = client.get(made.get_absolute_url()).content.decode()
    assert "Nothing was delivered yet" in detail
    assert "lead@example.org" in detail
    update = reverse("schedules:schedule_update", args=[made.pk])
    assert "other@example.org" in client.get(update).content.decode()
    weekly = fields(world, name="Weekly", report="", series=world.series.pk, language="ko", recipients="", formats=[])
    assert client.post(update, weekly).status_code == 302
    made.refresh_from_db()
    assert (made.series, made.report, made.language, made.recipients) == (world.series, None, "ko", [])
    client.post(reverse("schedules:deliver", args=[made.pk]))
    delivery = Delivery.objects.get()
    polled = reverse("schedules:deliveries", args=[made.pk])
    assert "every 3s" in client.get(polled).content.decode()
    deliveries.carry_on(delivery_id=delivery.pk, now=delivery.look_at)
    text = client.get(polled).content.decode()
    assert "Nothing was measured since the last delivery." in text
    assert "every 3s" not in text
    assert "nothing new" in client.get(LIST).content.decode()
    assert client.post(reverse("schedules:schedule_delete", args=[made.pk])).status_code == 302
    assert not Schedule.objects.exists()


def test_what_is_wrong_is_told_at_its_field(world: SimpleNamespace) -> None:
    client = signed_in(world.cast.oscar)
    schedule(world, name="Taken")
    for changes, said in (
        ({"cron": "often"}, "is no cron expression"),
        ({"recipients": "nobody"}, "is no mail address"),
        ({"series": world.series.pk}, "one of the two"),
        ({"report": ""}, "one of the two"),
        ({"formats": ["exe"]}, "This is not offered here"),
        ({"cron_timezone": "Mars"}, "is no time zone"),
        ({"name": "Taken"}, "choose another name"),
    ):
        answer = client.post(f"{LIST}new/", fields(world, **changes))
        assert answer.status_code == 200
        assert said in answer.content.decode()
    assert Schedule.objects.count() == 1


def test_the_next_dates_are_shown_while_one_types(world: SimpleNamespace) -> None:
    client = signed_in(world.cast.oscar)
    for cron, said in (
        ("0 7 1 * *", "Next dates, in your time zone:"),
        ("* * * * *", "more often than once an hour"),
        ("", "the first of each month"),
    ):
        query = {"cron": cron, "cron_timezone": "Asia/Seoul"}
        assert said in client.get(f"{LIST}dates/", query).content.decode()


def test_viewers_look_and_strangers_see_nothing(world: SimpleNamespace) -> None:
    mail_schedule = schedule(world)
    pages = {
        name: reverse(f"schedules:{name}", args=[mail_schedule.pk]) for name in ("schedule_detail", "deliveries")
    }
    writes = {
        name: reverse(f"schedules:{name}", args=[mail_schedule.pk])
        for name in ("deliver", "schedule_update", "schedule_delete")
    }
    bob, charlie, nobody = signed_in(world.cast.bob), signed_in(world.cast.charlie), Client()
    for address in pages.values():
        assert [client.get(address).status_code for client in (bob, charlie, nobody)] == [200, 404, 302]
    for address in writes.values():
        assert [client.post(address).status_code for client in (bob, charlie, nobody)] == [403, 404, 302]
    assert "Deliver now" not in bob.get(pages["schedule_detail"]).content.decode()
    assert mail_schedule.name not in charlie.get(LIST).content.decode()
    assert not Delivery.objects.exists()


def test_the_list_asks_as_much_for_many_as_for_one(world: SimpleNamespace) -> None:
    client = signed_in(world.cast.oscar)
    schedule(world)
    client.get(LIST)
    with CaptureQueriesContext(connection) as one:
        client.get(LIST)
    for number in range(5):
        mail_schedule = schedule(world, name=f"Number {number}")
        services.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW)
    with CaptureQueriesContext(connection) as many:
        client.get(LIST)
    assert len(many) == len(one) <= 12


def test_rest_does_the_same(world: SimpleNamespace) -> None:
    client, write = Client(), factories.bearer(world.cast.oscar)
    body = {"name": "Monthly", "report": world.report.pk, "cron": "0 7 1 * *", "recipients": ["lead@example.org"]}
    answer = client.post(API, body, "application/json", **write)
    assert answer.status_code == 201
    made = answer.json()
    assert (made["language"], made["cron_timezone"], made["formats"], made["is_active"]) == ("en", "UTC", [], True)
    address = f"{API}{made['id']}/"
    patch = {"formats": ["pdf"], "report": None, "series": world.series.pk, "language": "ko"}
    changed = client.patch(address, patch, "application/json", **write).json()
    assert (changed["formats"], changed["series"], changed["language"]) == (["pdf"], world.series.pk, "ko")
    begun = client.post(f"{address}deliver/", **write)
    assert (begun.status_code, begun.json()["state"]) == (202, "waiting")
    assert client.post(f"{address}deliver/", **write).status_code == 400
    [told] = client.get(f"{address}deliveries/", **write).json()
    assert told["id"] == begun.json()["id"]
    for wrong, field in (
        ({"cron": "x"}, "cron"),
        ({"recipients": ["x"]}, "recipients"),
        ({"formats": ["exe"]}, "formats"),
        ({"report": world.report.pk}, "report"),
    ):
        refused = client.patch(address, wrong, "application/json", **write)
        assert refused.status_code == 400
        assert any(name.startswith(field) for name in refused.json()["fields"])
    assert (
        client.post(API, body | {"name": "x"}, "application/json", **factories.bearer(world.cast.bob)).status_code
        == 403
    )
    assert client.patch(address, {}, "application/json", **factories.bearer(world.cast.bob)).status_code == 403
    assert client.get(address, **factories.bearer(world.cast.charlie)).status_code == 404
    assert client.post(f"{address}deliver/", **factories.bearer(world.cast.charlie)).status_code == 404
    assert client.delete(address, **write).status_code == 204
