"""The furthest times and the largest figures that are taken break no page, in no time zone, of no other team."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import models
from django.test import Client
from django.utils import timezone

from apps.agents.models import FactSnapshot, Job
from apps.archive.search.entries import index_due
from apps.bench.rules.base import MOST_FIGURE
from apps.campaigns.models import Campaign, Event, Experiment, Run, Trial
from apps.core import moments
from apps.core.templatetags import fathom
from apps.results.models import Result, Sample, Series
from apps.tuning.models import Finding
from tests import factories as people
from tests import rewriting
from tests.results.test_conclusions import addresses
from tests.rotation import part_of

KINDS: tuple[Any, ...] = (Campaign, Experiment, Trial, Run, Job, Result, Event, Finding, FactSnapshot)
ZONES = ("Asia/Seoul", "Pacific/Kiritimati", "Etc/GMT+12")
# Each where it is further still, once to a stranger and once to who measured.
FURTHEST = ((moments.EARLIEST, "Etc/GMT+12", "charlie"), (moments.LATEST, "Pacific/Kiritimati", "oscar"))


def own_pages(campaign: Campaign) -> Iterator[str]:
    """Yield the addresses of the pages and answers that name the campaign or what is its."""
    for path in (
        "campaigns/{campaign}/", "campaigns/{campaign}/status/", "campaigns/{campaign}/events/", "c/{permanent}/",
        "findings/campaigns/{campaign}/", "compare/?set=campaign:{campaign}", "results/trials/{trial}/",
        "results/campaigns/{campaign}/trials/", "results/experiments/{experiment}/",
        "api/v1/campaigns/{campaign}/", "api/v1/campaigns/{campaign}/events/", "api/v1/trials/?campaign={campaign}",
        "api/v1/findings/?campaign={campaign}", "api/v1/permanent-ids/{permanent}/",
        "api/v1/experiments/{experiment}/results/", "api/v1/experiments/{experiment}/samples.json",
    ):  # fmt: skip
        trial = campaign.trials.order_by("pk").first()
        assert trial
        values = {"campaign": campaign.pk, "permanent": campaign.permanent_id, "trial": trial.pk}
        yield path.format(**values, experiment=trial.experiment_id)


def walk(client: Client, campaign: Campaign, reader: Any, zone: str) -> None:
    """Ask every page as somebody of another team, in a time zone."""
    type(reader).objects.filter(pk=reader.pk).update(timezone=zone)
    reader.refresh_from_db()
    client.force_login(reader)
    for address in part_of(sorted({*addresses(), *own_pages(campaign)})):
        answer: Any = client.get(f"/{address}")
        assert answer.status_code < 500, f"{address} in {zone}"
        if answer.streaming:
            b"".join(answer.streaming_content)
    client.logout()
    assert client.get(f"/c/{campaign.permanent_id}/").status_code < 500


def times_of(model: Any) -> list[str]:
    return [item.name for item in model._meta.concrete_fields if isinstance(item, models.DateTimeField)]


@pytest.mark.parametrize(("moment", "zone", "reader"), FURTHEST)
def test_no_time_that_is_taken_breaks_a_page(
    client: Client, cast: people.Cast, finished: Campaign, moment: Any, zone: str, reader: str
) -> None:
    Campaign.objects.update(visibility="public", redacted=False)
    for model in KINDS:
        for name in times_of(model):
            rows = model.objects.filter(**{f"{name}__isnull": False})
            rewriting.update(rows, **{name: moment})
    index_due(now=timezone.now())
    walk(client, finished, getattr(cast, reader), zone)


@pytest.mark.parametrize(("figure", "name"), [(MOST_FIGURE, "charlie"), (-MOST_FIGURE, "oscar"), (0.0, "charlie")])
def test_no_figure_that_is_taken_breaks_a_page(
    client: Client, cast: people.Cast, finished: Campaign, figure: float, name: str
) -> None:
    Campaign.objects.update(visibility="public", redacted=False)
    rewriting.update(Sample.objects.all(), value=figure)
    for series in Series.objects.all():
        rewriting.update(Series.objects.filter(pk=series.pk), values=[figure] * len(series.values))
    index_due(now=timezone.now())
    walk(client, finished, getattr(cast, name), "UTC")


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize("zone", ZONES)
def test_what_shows_a_time_shows_any(year: int, zone: str) -> None:
    month, day, hour = (1, 1, 0) if year == 1 else (12, 31, 23)
    far = moments.EARLIEST.replace(year=year, month=month, day=day, hour=hour)
    with timezone.override(zone):
        assert str(day) in fathom.when(far)


@pytest.mark.parametrize("value", ["x", [1], {"a": 1}, 10**400, object()])
def test_filters_show_something_for_whatever_is_stored(value: Any) -> None:
    for show in (fathom.quantity, fathom.percent, fathom.gain, fathom.duration, fathom.when, fathom.message):
        assert isinstance(show(value), str)
    for unit in ("B", "bit/s", "s", "%", "fraction", "1"):
        assert isinstance(fathom.quantity(value, unit), str)
    assert isinstance(fathom.translated(value), str)
    fathom.get_item(value, "a")


def test_nobody_plans_for_a_year_that_no_zone_can_show(client: Client, cast: SimpleNamespace) -> None:
    headers = people.bearer(cast.oscar)
    for start in ("9999-12-31T23:59:59Z", "2200-01-02T00:00:00Z"):
        answer = client.post(
            "/api/v1/campaigns/", {"name": "far", "start_at": start}, content_type="application/json", **headers
        )
        assert (answer.status_code, list(answer.json()["fields"])) == (400, ["start_at"])
