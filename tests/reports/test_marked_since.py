"""An edition stays as it was frozen; wherever it is read stands how many of its trials were marked invalid since."""

from datetime import timedelta
from types import SimpleNamespace

from django.utils import timezone

from apps.campaigns.models import Campaign, Trial
from apps.reports import services
from apps.reports.models import Edition, Report
from tests.factories import signed_in
from tests.reports import documents
from tests.reports.test_report_pages import campaign, report

__all__ = ["campaign", "report"]

WORDS = "marked invalid since it was frozen"


def read(cast: SimpleNamespace, edition: Edition) -> tuple[str, str, int, int]:
    """Return the edition's page, the card of its files, and what REST says of it and in the list."""
    client = signed_in(cast.oscar)
    page = client.get(edition.get_absolute_url())
    files = client.get(f"/reports/files/editions/{edition.permanent_id}/")
    one = client.get(f"/api/v1/editions/{edition.permanent_id}/")
    every = client.get("/api/v1/editions/")
    assert [answer.status_code for answer in (page, files, one, every)] == [200] * 4
    (row,) = [item for item in every.json()["results"] if item["id"] == edition.permanent_id]
    return page.content.decode(), files.content.decode(), one.json()["marked_since"], row["marked_since"]


def test_marks_set_after_the_freeze_are_told_beside_it(
    cast: SimpleNamespace, campaign: Campaign, report: Report
) -> None:
    now = timezone.now()
    trials = list(campaign.trials.order_by("position"))
    Trial.objects.filter(pk__in=[trial.pk for trial in trials]).update(state="succeeded")
    Trial.objects.filter(pk=trials[0].pk).update(invalid_at=now - timedelta(minutes=1), invalid_reason="x")
    edition = services.keep_edition(report=report, document=documents.document(), user=cast.oscar, now=now)
    page, files, one, listed = read(cast, edition)
    assert (one, listed) == (0, 0)
    assert WORDS not in page + files
    for trial in trials[1:3]:
        Trial.objects.filter(pk=trial.pk).update(invalid_at=now + timedelta(minutes=1), invalid_reason="wrong node")
    page, files, one, listed = read(cast, edition)
    assert (one, listed) == (2, 2)
    assert f"2 trials that this edition rests on were {WORDS}" in page
    assert f"2 trials that this edition rests on were {WORDS}" in files
    # What is frozen after the marks tells of them itself.
    later = services.keep_edition(
        report=report, document=documents.document(), user=cast.oscar, now=now + timedelta(hours=1)
    )
    assert read(cast, later)[2:] == (0, 0)
    assert Edition.objects.get(pk=edition.pk).is_intact
