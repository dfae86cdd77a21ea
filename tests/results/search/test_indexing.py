"""When an experiment is indexed, and again: whenever something that is searched for has changed."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.db.models import F

from apps.campaigns.models import Campaign, Note, Trial
from apps.core import queue
from apps.results.models import SearchEntry
from apps.results.search import indexing
from apps.testbeds.models import Node, Site
from tests.campaigns import factories as make
from tests.results.search.conftest import START, add, index, names
from workers import tasks

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("search")]


def test_what_has_not_changed_is_not_indexed_again(archive: SimpleNamespace) -> None:
    assert index() == 0


def test_a_draft_is_not_in_the_archive_until_it_is_launched(archive: SimpleNamespace) -> None:
    draft = make.campaign(archive.cast, name="Planned")
    make.experiment(draft, archive.kisti, archive.pnu)
    assert index() == 0
    make.services.launch_campaign(campaign=draft, user=archive.cast.oscar, now=START)
    assert index() == 1
    assert names(archive, "q=planned") == ["Planned"]


def test_names_tags_and_notes_are_found_as_they_are_now(archive: SimpleNamespace) -> None:
    node, site = Node.objects.get(name="knu01"), Site.objects.get(name="Busan")
    node.name, site.name = "knu99", "Pusan"
    node.save()
    site.save()
    Note.objects.create(campaign=archive.third, text="the amplifier was broken", created_by=archive.cast.oscar)
    campaign = Campaign.objects.get(pk=archive.third.pk)
    campaign.tags = ["night"]
    campaign.save()
    assert index() == 3
    assert names(archive, "q=pusan") == ["Way back", "Window sweep"]
    assert names(archive, "q=knu01") == []
    assert names(archive, "q=amplifier") == names(archive, "q=night") == names(archive, "q=knu99") == ["대구 회선"]
    assert index() == 0


def test_a_campaign_under_way_is_looked_at_every_few_minutes(archive: SimpleNamespace) -> None:
    campaign = make.launched(archive.cast, archive.kisti, archive.pnu, name="Going on")
    now = datetime.now(UTC)
    assert indexing.index_due(now=now) == 1
    add(campaign.trials.first(), now, goodput=7e8)
    assert indexing.index_due(now=now + indexing.WHILE_OPEN / 2) == 0
    assert names(archive, "metric=goodput:700M") == []
    assert indexing.index_due(now=now + indexing.WHILE_OPEN + timedelta(seconds=1)) == 1
    assert names(archive, "metric=goodput:700M") == ["Going on"]


def test_a_worker_comes_back_while_a_full_batch_is_due(
    archive: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(queue, "send", lambda task, *_args: sent.append(task))
    monkeypatch.setattr(indexing, "BATCH", 5)
    tasks.index_archive()
    assert sent == []
    SearchEntry.objects.update(of=F("of") - timedelta(seconds=1))
    tasks.index_archive()
    assert sent == [queue.INDEX]
    assert index() == 0


def test_an_experiment_without_results_or_with_a_tool_that_is_gone_is_found_all_the_same(
    archive: SimpleNamespace,
) -> None:
    experiment = archive.third.experiments.get()
    experiment.tool = "gone.v3"
    experiment.save()
    Trial.objects.filter(experiment=experiment).update(state="failed")
    Campaign.objects.filter(pk=archive.third.pk).update(created_by=None)
    assert index() == 1
    assert names(archive, "q=gone&tool=gone.v3") == ["대구 회선"]
    assert names(archive, "since=2020-01-01&tool=gone.v3") == []
