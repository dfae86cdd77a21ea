"""A report whose analysis waits or failed says so, and is neither frozen nor mailed meanwhile."""

from datetime import date
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.campaigns.models import Campaign
from apps.core import messages
from apps.reports import drafts, serialisation, services
from apps.reports.campaign import method, swept
from apps.reports.models import Delivery, Edition, Report
from apps.reports.overview.selection import Selection
from apps.reports.schedules import deliveries
from apps.reports.schedules import services as schedules
from apps.tuning import services as tuning
from tests.factories import signed_in
from tests.reports.schedules.conftest import NOW, occurrence, schedule, world  # noqa: F401
from tests.reports.test_report_api import Caller, campaign  # noqa: F401
from tests.tuning.breaking import IN_WORDS, break_rule, ended, failing, later

NOTHING = ("Nothing was found", "No change is recommended", "no change is recommended")


@pytest.fixture
def report(cast: SimpleNamespace, campaign: Campaign) -> Report:  # noqa: F811
    """Return the English report of a campaign that has ended, and is not analysed."""
    return services.begin_report(campaign=ended(campaign, analysed=False), user=cast.oscar, language="en")


def text_of(report: Report, user: object) -> str:
    found = drafts.build(Report.objects.get(pk=report.pk), user)
    return serialisation.canonical(serialisation.as_json(found))


def break_one(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    with monkeypatch.context() as patch:
        break_rule(patch, "tcp-bdp")
        tuning.draw_conclusions(campaign=campaign, now=timezone.now())


def test_a_pending_analysis_stands_in_summary_problems_findings_and_conclusion(
    cast: SimpleNamespace, report: Report
) -> None:
    text = text_of(report, cast.oscar)
    assert text.count("Analysis pending: no conclusions were drawn from the results yet.") == 3
    assert "Whether a change is to be recommended is not known yet." in text
    assert not any(word in text for word in NOTHING)
    tuning.draw_conclusions(campaign=report.campaign, now=timezone.now())
    text = text_of(report, cast.oscar)
    assert "Analysis pending" not in text
    assert any(word in text for word in NOTHING)


def test_a_failed_analysis_names_the_rule_and_never_says_nothing(
    cast: SimpleNamespace, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_one(report.campaign, monkeypatch)
    text = text_of(report, cast.oscar)
    assert text.count(f"Analysis failed: rule {IN_WORDS}: ValueError: math domain error") == 3
    assert not any(word in text for word in NOTHING)


def test_no_edition_is_frozen_meanwhile(
    client: Client, cast: SimpleNamespace, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, page = f"/api/v1/reports/{report.pk}/freeze/", reverse("reports:freeze", args=[report.pk])
    refused = Caller(cast.oscar)("POST", address, status=409)["detail"]
    assert refused == (
        "No edition can be frozen now. Windows: Analysis pending: no conclusions were drawn from the results yet."
        " Wait a moment: a worker draws them."
    )
    break_one(report.campaign, monkeypatch)
    refused = Caller(cast.oscar)("POST", address, status=409)["detail"]
    assert "rule tcp-bdp" in refused
    assert "Retry the analysis on the campaign's page" in refused
    assert "rule tcp-bdp" in signed_in(cast.oscar).post(page, follow=True).content.decode()
    html = signed_in(cast.oscar).get(report.get_absolute_url()).content.decode()
    assert "Retry the analysis" in html
    assert page not in html
    # Who may not freeze at all is told that first.
    assert client.post(address).status_code == 401
    Caller(cast.charlie)("POST", address, status=404)
    Caller(cast.bob)("POST", address, status=403)
    assert not Edition.objects.exists()
    tuning.draw_conclusions(campaign=report.campaign, now=timezone.now())
    Caller(cast.oscar)("POST", address, status=201)


def test_a_campaign_that_goes_on_is_not_concluded(cast: SimpleNamespace, report: Report) -> None:
    Campaign.objects.update(state="running", analysed_at=timezone.now())
    assert "once the campaign has ended" in text_of(report, cast.oscar)
    detail = Caller(cast.oscar)("POST", f"/api/v1/reports/{report.pk}/freeze/", status=409)["detail"]
    assert "Wait for the campaign's end, or cancel it." in detail


def test_a_schedule_waits_for_the_analysis_and_then_delivers(world: SimpleNamespace) -> None:  # noqa: F811
    latest = occurrence(world, later(NOW, hours=-3))
    Campaign.objects.filter(pk=latest.pk).update(analysed_at=None)
    mail_schedule = schedule(world, report=None, series=world.series, recipients=[])
    delivery = schedules.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW)
    deliveries.carry_on(delivery_id=delivery.pk, now=NOW)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("waiting", 1)
    assert messages.render(delivery.note).startswith("It waits: No edition can be frozen now.")
    assert not Edition.objects.exists()
    Campaign.objects.filter(pk=latest.pk).update(analysed_at=NOW)
    deliveries.carry_on(delivery_id=delivery.pk, now=later(NOW, minutes=2))
    assert Edition.objects.get().report.campaign == latest


def test_a_schedule_gives_up_with_the_reason(world: SimpleNamespace) -> None:  # noqa: F811
    latest = occurrence(world, later(NOW, hours=-3))
    Campaign.objects.filter(pk=latest.pk).update(analysed_at=None)
    mail_schedule = schedule(world, report=None, series=world.series)
    delivery = schedules.deliver_now(schedule=mail_schedule, user=world.cast.oscar, now=NOW)
    for attempt in range(deliveries.MOST_ATTEMPTS):
        deliveries.carry_on(delivery_id=delivery.pk, now=later(NOW, days=attempt))
    delivery = Delivery.objects.get()
    assert delivery.state == "failed"
    assert "Analysis pending" in messages.render(delivery.note)
    assert not Edition.objects.exists()


def test_a_management_report_names_what_is_not_concluded(
    world: SimpleNamespace,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = occurrence(world, later(NOW, hours=-3))
    march = Selection(period="dates", first=date(2026, 3, 1), last=date(2026, 3, 31))
    Report.objects.filter(pk=world.report.pk).update(selection=march.as_json())
    freeze = f"/api/v1/reports/{world.report.pk}/freeze/"
    Campaign.objects.filter(pk=done.pk).update(analysed_at=None)
    text = text_of(world.report, world.cast.oscar)
    assert f"campaign:{done.permanent_id}" in text
    assert ": Analysis pending: no conclusions were drawn" in text
    assert "Analysis pending" in Caller(world.cast.oscar)("POST", freeze, status=409)["detail"]
    break_one(done, monkeypatch)
    text = text_of(world.report, world.cast.oscar)
    assert f": Analysis failed: rule {IN_WORDS}" in text
    assert "Of 1 campaign not all conclusions are drawn: see the findings." in text
    assert "No change is recommended by what was measured" not in text
    assert "rule tcp-bdp" in Caller(world.cast.oscar)("POST", freeze, status=409)["detail"]
    # What goes on is no part of what a management report concludes.
    Campaign.objects.filter(pk=done.pk).update(state="running")
    Caller(world.cast.oscar)("POST", freeze, status=201)


@pytest.mark.parametrize("part", [(swept.points, "table_of"), (method, "section")])
def test_a_section_that_cannot_be_computed_is_named_and_the_others_stand(
    cast: SimpleNamespace, report: Report, monkeypatch: pytest.MonkeyPatch, part: tuple[object, str]
) -> None:
    tuning.draw_conclusions(campaign=report.campaign, now=timezone.now())
    monkeypatch.setattr(*part, failing)
    shown = signed_in(cast.oscar).get(report.get_absolute_url())
    assert shown.status_code == 200
    text = shown.content.decode()
    assert "could not be computed (ValueError: math domain error); the other parts are complete." in text
    assert "What was measured on" in text
    detail = Caller(cast.oscar)("POST", f"/api/v1/reports/{report.pk}/freeze/", status=409)["detail"]
    assert "could not be computed" in detail
    assert not Edition.objects.exists()
