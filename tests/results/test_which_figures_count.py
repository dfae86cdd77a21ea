"""Which figures count: one fact that the database keeps, and that every reader uses."""

import re
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.bench.toolkit import is_invalid
from apps.results import validity
from apps.results.models import Result, Sample
from tests import rewriting
from tests.campaigns import factories as make
from tests.results import readers
from tests.results.readers import COUNTED, FIGURES, KINDS, LEAST_LEFT_OUT, MEAN, POINTS, World


@pytest.fixture
def world(cast: SimpleNamespace, client: Client) -> World:
    """Return a campaign between two sites with figures of every kind."""
    [a] = make.nodes(cast.team, "kisti01")
    [b] = make.nodes(cast.team, "pnu01", site="Busan")
    make.link(a, b, "WAN")
    return readers.build(cast, [a, b], client)


def counted(metric: str) -> list[float]:
    return sorted(Sample.objects.filter(metric=metric, counts=True).values_list("value", flat=True))


def agrees() -> bool:
    """Say whether each sample counts as its trial and its flags have it, asked one by one."""
    return all(
        sample.counts
        == (
            not sample.trial.is_warmup
            and sample.trial.invalid_at is None
            and not any(is_invalid(flag, sample.metric) for flag in sample.result.flags)
        )
        for sample in Sample.objects.select_related("trial", "result")
    )


def test_the_world_has_every_kind_of_figure(world: World) -> None:
    assert Sample.objects.count() == 2 * POINTS * len(KINDS)
    assert counted("goodput") == [100e6, 100e6, 110e6, 110e6, 120e6, 120e6]
    assert counted("retransmits") == [1.0, 1.0, 3.0, 3.0, 6.0, 6.0]
    assert agrees()


def test_every_reader_has_the_same_figures(world: World) -> None:
    told = {name: reader(world) for name, reader in FIGURES.items()}
    assert told == {name: [(pytest.approx(MEAN), COUNTED)] * POINTS for name in FIGURES}


def test_no_page_shows_a_figure_that_does_not_count(world: World) -> None:
    for name, (address, query) in readers.pages(world).items():
        page = world.text(address, **query)
        assert re.search(r"\b110(\.0+)? Mbit/s", page), name
        assert not re.findall(r"\b[6-9](?:\.0+)? Gbit/s", page), name


def test_a_search_by_a_range_finds_only_what_counts(world: World) -> None:
    def names(query: str) -> list[str]:
        return [hit["name"] for hit in world.json(f"/api/v1/archive/?metric={query}")["results"]]

    assert names(f"goodput:{LEAST_LEFT_OUT:.0f}..") == []
    assert names("goodput:115e6..125e6") == [world.experiment.name]
    # Of the flag that names another metric nothing is left out.
    assert names("goodput:109e6..111e6") == [world.experiment.name]


def test_a_mark_and_its_undoing_are_kept(world: World) -> None:
    trial = Sample.objects.filter(metric="goodput", value=100e6).first().trial
    validity.mark_invalid(trial=trial, user=world.cast.oscar, reason="Loose", now=timezone.now())
    assert not Sample.objects.filter(trial=trial, counts=True).exists()
    assert agrees()
    validity.unmark_invalid(trial=trial, user=world.cast.oscar)
    assert Sample.objects.filter(trial=trial, counts=True).count() == 2
    assert agrees()


def test_what_is_stored_later_follows_its_trial(world: World) -> None:
    trial = world.campaign.trials.filter(invalid_at__isnull=False).first()
    result = trial.results.get()
    Sample.objects.create(result=result, trial=trial, experiment=trial.experiment, metric="rtt", value=1.0)
    # Whoever stores it cannot say otherwise.
    good = Result.objects.filter(flags=[], trial__is_warmup=False).first()
    Sample.objects.create(
        result=good, trial=good.trial, experiment=good.experiment, metric="rtt", value=1.0, counts=False
    )
    assert counted("rtt") == [1.0]
    assert agrees()


def test_other_flags_change_what_counts(world: World) -> None:
    flag = {"name": "cached", "severity": "invalid", "message": {"msgid": "x", "params": {}}, "metrics": ["goodput"]}
    result = Sample.objects.filter(metric="goodput", value=100e6).first().result
    rewriting.update(Result.objects.filter(pk=result.pk), flags=[flag])
    assert agrees() and not result.samples.get(metric="goodput").counts
    for metrics in ([], None):
        rewriting.update(Result.objects.filter(pk=result.pk), flags=[{**flag, "metrics": metrics}])
        assert agrees() and not result.samples.filter(counts=True).exists()
    rewriting.update(Result.objects.filter(pk=result.pk), flags=[{**flag, "severity": "warning"}])
    assert agrees() and result.samples.filter(counts=True).count() == 2


def test_the_index_answers_what_counts(world: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'samples_by_metric'")
        [(definition,)] = cursor.fetchall()
    assert "(experiment_id, metric) INCLUDE (trial_id, value, counts)" in definition


def test_the_trials_page_says_what_is_not_counted(world: World) -> None:
    trial = Sample.objects.get(metric="goodput", value=7e9, trial__point=0).trial
    page = world.text(reverse("results:trial", args=[trial.pk]))
    assert page.count("not counted") == 1
    marked = world.campaign.trials.filter(invalid_at__isnull=False).first()
    assert world.text(reverse("results:trial", args=[marked.pk])).count("not counted") == 2
