"""Several clients of one measurement: what each of them reached."""

from types import SimpleNamespace

from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign
from apps.results.models import Result
from tests import rewriting


def test_the_trials_page_shows_each_clients_own_figures(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    result = Result.objects.first()
    address = reverse("results:trial", args=[result.trial_id])
    rows = [{"node": "kgfs01", "goodput": 4e8}, {"node": "kgfs02", "goodput": 5e8, "odd_name": "yes"}]
    rewriting.update(Result.objects.filter(pk=result.pk), observed={**result.observed, "clients": rows})
    page = client.get(address).content.decode()
    assert "kgfs02" in page
    assert "500.0 Mbit/s" in page
    assert "Odd name" in page
    rewriting.update(Result.objects.filter(pk=result.pk), observed={**result.observed, "clients": rows[:1]})
    assert "kgfs01" not in client.get(address).content.decode()


def test_what_was_observed_has_the_unit_that_its_name_tells(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    result = Result.objects.first()
    seen = {"working_set": 2**27, "together_s": 3.75, "start_skew": 0.000324}
    rewriting.update(Result.objects.filter(pk=result.pk), observed={**result.observed, **seen})
    page = client.get(reverse("results:trial", args=[result.trial_id])).content.decode()
    for text in ("128 MiB", "3.75 s", "324 µs"):
        assert text in page, text
