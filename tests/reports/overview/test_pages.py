"""Management reports are begun and changed in a form and over REST, by those who may write for the team."""

from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.campaigns.models import Campaign
from apps.reports.models import Report
from tests import factories
from tests.campaigns import factories as make
from tests.factories import signed_in

CHOSEN = {"title": "Quarter", "language": "ko", "period": "dates", "first": "2026-01-01", "last": "2026-03-31"}
API = "/api/v1/management-reports/"


def begun(cast: Any) -> Report:
    return Report.objects.create(
        team=cast.team, kind="management", language="en", title="Old", selection={"period": "month", "sites": []}
    )


def test_the_form_begins_a_report_over_what_was_chosen(cast: Any) -> None:
    [node] = make.nodes(cast.team, "kisti01")
    cast.oscar.timezone = "Asia/Seoul"
    cast.oscar.save()
    client = signed_in(cast.oscar)
    address = reverse("management:create")
    page = client.get(address).content.decode()
    assert "Daejeon" in page
    assert "Measurements of grid" in page
    answer = client.post(address, CHOSEN | {"sites": [node.testbed.site_id]})
    report = Report.objects.get()
    assert answer.url == report.get_absolute_url()  # type: ignore[attr-defined]
    assert (report.kind, report.language, report.title, report.team) == ("management", "ko", "Quarter", cast.team)
    assert report.selection == {
        "period": "dates",
        "first": "2026-01-01",
        "last": "2026-03-31",
        "sites": [node.testbed.site_id],
        "timezone": "Asia/Seoul",
    }


def test_a_team_that_began_this_month_is_offered_this_month(cast: Any) -> None:
    def offered() -> str:
        return signed_in(cast.oscar).get(reverse("management:create")).context["form"].initial["period"]

    assert offered() == "this-month"
    campaign = make.campaign(cast)
    for launched, period in ((timezone.now(), "this-month"), (timezone.now() - timedelta(days=31), "month")):
        Campaign.objects.filter(pk=campaign.pk).update(launched_at=launched)
        assert offered() == period


def test_what_is_wrong_is_told_at_its_field(cast: Any) -> None:
    client = signed_in(cast.oscar)
    for changes, said in (
        ({"first": ""}, "Give the day."),
        ({"first": "2026-04-01"}, "It is before the first day"),
        ({"first": "1800-01-01"}, "between 1970 and 2200"),
        ({"first": "no day"}, "This is no date"),
        ({"period": "century"}, "This is not offered here"),
        ({"sites": ["999999"]}, "This is not offered here"),
        ({"title": ""}, "This is needed"),
    ):
        answer = client.post(reverse("management:create"), CHOSEN | changes)
        assert answer.status_code == 200
        assert said in answer.content.decode()
    assert not Report.objects.exists()


def test_a_report_is_changed_but_keeps_its_language(cast: Any) -> None:
    report = begun(cast)
    client, address = signed_in(cast.oscar), reverse("management:update", args=[report.pk])
    assert "Old" in client.get(address).content.decode()
    assert client.post(address, CHOSEN).status_code == 302
    report.refresh_from_db()
    assert (report.title, report.language, report.selection["period"]) == ("Quarter", "en", "dates")


def test_viewers_and_strangers_begin_and_change_nothing(cast: Any) -> None:
    report = begun(cast)
    create, update = reverse("management:create"), reverse("management:update", args=[report.pk])
    for client, statuses in ((Client(), (302, 302)), (signed_in(cast.bob), (403, 403))):
        assert (client.get(create).status_code, client.post(update, CHOSEN).status_code) == statuses
    stranger = signed_in(cast.charlie)
    assert stranger.get(f"{create}?team=grid").status_code == 404
    assert stranger.post(update, CHOSEN).status_code == 404
    campaign_report = Report.objects.create(team=cast.team, language="en")
    other = reverse("management:update", args=[campaign_report.pk])
    assert signed_in(cast.oscar).get(other).status_code == 404
    report.refresh_from_db()
    assert report.title == "Old"


def test_rest_begins_reads_and_changes(cast: Any) -> None:
    [node] = make.nodes(cast.team, "kisti01")
    site = node.testbed.site_id
    client = Client(content_type="application/json")
    write = factories.bearer(cast.oscar)

    def post(body: dict[str, Any], headers: dict[str, Any] = write) -> Any:
        return client.post(API, body, "application/json", **headers)

    made = post(CHOSEN | {"sites": [site], "timezone": "Asia/Seoul"})
    assert made.status_code == 201
    body = made.json()
    wanted = CHOSEN | {"team": "grid", "sites": [site], "timezone": "Asia/Seoul", "created_by": "oscar"}
    assert {name: body[name] for name in wanted} == wanted
    changed = client.patch(f"{API}{body['id']}/", {"period": "3-months"}, "application/json", **write)
    assert (changed.json()["period"], changed.json()["first"], changed.json()["sites"]) == ("3-months", None, [site])
    for wrong, field in (
        ({"first": None}, "first"),
        ({"timezone": "Mars"}, "timezone"),
        ({"sites": [0]}, "sites"),
        ({"period": "x"}, "period"),
        ({"language": "xx"}, "language"),
    ):
        answer = post(CHOSEN | wrong)
        assert answer.status_code == 400
        assert list(answer.json()["fields"]) == [field]
    kept = client.patch(f"{API}{body['id']}/", {"language": "en"}, "application/json", **write)
    assert list(kept.json()["fields"]) == ["language"]
    assert post(CHOSEN, factories.bearer(cast.bob)).status_code == 403
    assert post(CHOSEN, factories.bearer(cast.oscar, "read")).status_code == 403
    assert client.get(f"{API}{body['id']}/", **factories.bearer(cast.charlie)).status_code == 404
    assert (
        client.patch(f"{API}{body['id']}/", {}, "application/json", **factories.bearer(cast.bob)).status_code == 403
    )
    assert [item["id"] for item in client.get(API, **factories.bearer(cast.bob)).json()["results"]] == [body["id"]]
