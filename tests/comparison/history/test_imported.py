"""Histories in which imported campaigns stand beside those that were measured here."""

from types import SimpleNamespace

from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign
from apps.testbeds.models import Node
from tests.comparison.history.conftest import START, WEEK, measured
from tests.comparison.history.test_history_pages import chart_of, newest, pages


def test_what_was_imported_stands_where_it_was_measured_and_is_marked(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, pair: list[Node]
) -> None:
    before = measured(cast, pair, 9.1e8, START - WEEK, name="Shell loop of December")
    Campaign.objects.filter(pk=before.pk).update(origin="imported")
    client.force_login(cast.bob)
    page = client.get(pages(newest(repeated))[0]).content.decode()
    points = chart_of(page)["series"][0]["points"]
    assert points[0]["note"] == "Shell loop of December"
    assert len(points) == 9
    assert page.count("imported</span>") == 1
    assert "History" in client.get(reverse("results:experiment", args=[before.experiments.get().pk])).content.decode()
