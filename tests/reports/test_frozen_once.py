"""A form that freezes is sent more than once easily: it makes one edition, for that stays for ever."""

import re
from types import SimpleNamespace

import pytest
from django.test import Client

from apps.reports import services
from apps.reports.models import Edition, Report
from tests.comparison.comparisons import conftest as measured
from tests.factories import signed_in
from tests.tuning.breaking import ended

HIDDEN = re.compile(r'<input type="hidden" name="latest" value="(\d+)"')


@pytest.fixture
def report(cast: SimpleNamespace) -> Report:
    """Return the report of a campaign of two trials."""
    a, b = measured.make.nodes(cast.team, "kisti01", "pnu01")
    measured.make.link(a, b, "WAN")
    factors = [{"name": "window", "expression": "64KiB, 128KiB"}]
    campaign = ended(measured.swept(cast, [a, b], "Windows", factors=factors, fixed={"streams": "1"}))
    return services.begin_report(campaign=campaign, user=cast.oscar, language="en")


def sent(client: Client, report: Report, form: dict[str, str]) -> str:
    """Return what is said after a form was sent."""
    return client.post(f"{report.get_absolute_url()}freeze/", form, follow=True).content.decode()


def form_of(client: Client, report: Report, **values: str) -> dict[str, str]:
    """Return what the form on a report's page sends."""
    [latest] = HIDDEN.findall(client.get(report.get_absolute_url()).content.decode())
    return {"note": "The first", "latest": latest, **values}


def test_the_same_form_sent_three_times_makes_one_edition(cast: SimpleNamespace, report: Report) -> None:
    client = signed_in(cast.oscar)
    form = form_of(client, report)
    assert "is frozen" in sent(client, report, form)
    for _again in range(2):
        assert "This form has frozen edition 1 already" in sent(client, report, form)
    assert Edition.objects.count() == 1
    # The page as it is now freezes another, also under the same words.
    assert "is frozen" in sent(client, report, form_of(client, report))
    assert Edition.objects.count() == 2


def test_what_another_froze_meanwhile_is_not_taken_for_ones_own(cast: SimpleNamespace, report: Report) -> None:
    form = form_of(signed_in(cast.oscar), report)
    sent(signed_in(cast.alice), report, form)
    assert "is frozen" in sent(signed_in(cast.oscar), report, form)
    assert list(Edition.objects.order_by("number").values_list("created_by__username", flat=True)) == [
        "alice",
        "oscar",
    ]
