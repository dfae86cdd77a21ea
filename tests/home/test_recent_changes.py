"""Changes of level of the last days on the first page."""

from datetime import timedelta
from types import SimpleNamespace

from django.urls import reverse
from django.utils import timezone

from apps.campaigns.models import Campaign, Trial
from apps.results.models import Result
from apps.testbeds.models import Node
from tests import factories, rewriting
from tests.campaigns import factories as make
from tests.results.factories import measure_all

LEVELS = [*(938e6 + 1e6 * (number % 3) for number in range(8)), *(741e6 + 1e6 * (number % 3) for number in range(8))]


def measured(cast: SimpleNamespace, pair: list[Node], *, days_ago: float, window: str = "1MiB") -> None:
    """Measure a night for each level, the last of them so many days ago."""
    for place, level in enumerate(LEVELS):
        campaign = make.launched(cast, *pair, name=f"night {place}", repetitions=1,
                                 factors=[{"name": "window", "expression": window}])  # fmt: skip
        trials = list(Trial.objects.filter(campaign=campaign))
        at = timezone.now() - timedelta(days=days_ago + len(LEVELS) - place)
        Trial.objects.filter(campaign=campaign).update(state="succeeded")
        Campaign.objects.filter(pk=campaign.pk).update(launched_at=at, state="finished", finished_at=at)
        for result in measure_all((trial, {"goodput": level}) for trial in trials):
            rewriting.update(Result.objects.filter(pk=result.pk), recorded_at=at)


def page_of(person: object) -> str:
    answer = factories.signed_in(person).get(reverse("start:changes"))
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_level_that_fell_is_told_with_its_history(cast: SimpleNamespace, pair: list[Node]) -> None:
    measured(cast, pair, days_ago=0)
    page = page_of(cast.oscar)
    assert "−21 %" in page
    assert "kisti01" in page
    assert "/history/" in page
    assert "need-bad" in page
    assert "kisti01" not in page_of(cast.charlie)


def test_a_change_at_a_setting_that_was_measured_less_often_is_told(cast: SimpleNamespace, pair: list[Node]) -> None:
    measured(cast, pair, days_ago=0, window="64KiB")
    for night in range(len(LEVELS) + 2):
        steady = make.launched(cast, *pair, name=f"steady {night}", repetitions=1,
                               factors=[{"name": "window", "expression": "1MiB"}])  # fmt: skip
        at = timezone.now() - timedelta(days=20 - night)
        Campaign.objects.filter(pk=steady.pk).update(launched_at=at, state="finished", finished_at=at)
        Trial.objects.filter(campaign=steady).update(state="succeeded")
        for result in measure_all((trial, {"goodput": 938e6 + night}) for trial in steady.trials.all()):
            rewriting.update(Result.objects.filter(pk=result.pk), recorded_at=at)
    page = page_of(cast.oscar)
    assert "−21 %" in page
    assert page.count("panel-row ") == 1


def test_what_changed_long_ago_is_told_no_more(cast: SimpleNamespace, pair: list[Node]) -> None:
    measured(cast, pair, days_ago=30)
    assert "changed within the last 14 days" in page_of(cast.oscar)
