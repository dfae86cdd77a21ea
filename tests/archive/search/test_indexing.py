"""When an experiment is indexed, and again: whenever something that is searched for has changed."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db.models import F

from apps.archive.models import SearchEntry
from apps.archive.search import entries
from apps.campaigns.models import Campaign, Experiment, Note, Trial
from apps.core import lost_work, queue
from apps.core.models import SetAside
from apps.testbeds.models import Node, Site
from tests import factories, rows
from tests.archive.search.conftest import START, add, index, names
from tests.campaigns import factories as make
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


def test_of_notes_no_more_are_read_than_an_entry_has_room_for(
    archive: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "MOST_BYTES", 1000)
    for number in range(4):
        text = f"amplifier{number} " + "x" * 450
        Note.objects.create(campaign=archive.third, text=text, created_by=archive.cast.oscar)
    Campaign.objects.get(pk=archive.third.pk).save()
    assert [note.text[:10] for note in entries._first_notes()] == ["amplifier0", "amplifier1"]
    assert index() == 1
    assert names(archive, "q=amplifier0") == ["대구 회선"]
    assert names(archive, "q=amplifier3") == []


def test_a_campaign_under_way_is_looked_at_every_few_minutes(archive: SimpleNamespace) -> None:
    campaign = make.launched(archive.cast, archive.kisti, archive.pnu, name="Going on")
    now = datetime.now(UTC)
    assert entries.index_due(now=now) == 1
    add(campaign.trials.first(), now, goodput=7e8)
    assert entries.index_due(now=now + entries.WHILE_OPEN / 2) == 0
    assert names(archive, "metric=goodput:700M") == []
    assert entries.index_due(now=now + entries.WHILE_OPEN + timedelta(seconds=1)) == 1
    assert names(archive, "metric=goodput:700M") == ["Going on"]


def test_a_worker_comes_back_while_a_full_batch_is_due(
    archive: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(queue, "send", lambda task, *_args: sent.append(task))
    monkeypatch.setattr(entries, "BATCH", 5)
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


def test_a_goal_of_very_many_words_stops_nobody_and_is_found_by_its_names_and_first_words(
    archive: SimpleNamespace,
) -> None:
    goal = " ".join(f"w{number:x}" for number in range(200_000))
    # As one that was stored before goals had a limit.
    Campaign.objects.filter(pk=archive.third.pk).update(goal=goal, updated_at=datetime.now(UTC))
    Note.objects.create(campaign=archive.third, text="too late", created_by=archive.cast.oscar)
    other = Campaign.objects.get(name="Way back")
    other.tags = ["neighbour"]
    other.save()
    assert index() >= 2
    assert not SetAside.objects.exists()
    assert names(archive, f"q={archive.third.name}") == names(archive, "q=w1f") == [archive.third.name]
    assert names(archive, "q=w30d3f") == []
    assert names(archive, "q=neighbour") == ["Way back"]
    assert index() == 0


def test_one_that_cannot_be_indexed_is_told_of_where_it_is_searched_for_and_tried_again_when_it_changes(
    archive: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = archive.third.experiments.get()
    campaign = Campaign.objects.get(pk=archive.third.pk)
    campaign.tags = ["broken"]
    campaign.save()
    texts = entries._texts

    def stumble(of: Experiment, nodes: Any) -> Any:
        if of == experiment:
            raise ValueError("no words")
        return texts(of, nodes)

    with monkeypatch.context() as patch:
        patch.setattr(entries, "_texts", stumble)
        assert index() == 1
        assert index() == 0
    kept = SetAside.objects.get(work=entries.INDEX_DUE)
    assert (kept.row_id, kept.reason) == (experiment.pk, "ValueError: no words")
    # It keeps the entry that it has.
    assert names(archive, "q=broken") == []
    assert names(archive, "q=대구") == ["대구 회선"]
    client = factories.signed_in(archive.cast.oscar)
    page = client.get("/archive/").content.decode()
    assert "could not be indexed as they are now" in page and experiment.name in page
    stranger = factories.signed_in(factories.user("nobody-of-theirs"))
    assert "could not be indexed" not in stranger.get("/archive/").content.decode()
    assert campaign.events.filter(level="error", message__params__work="index_due").count() == 1
    campaign.save()
    assert index() == 1
    assert names(archive, "q=broken") == ["대구 회선"]
    assert not SetAside.objects.exists()
    assert "could not be indexed" not in client.get("/archive/").content.decode()


def test_ends_that_did_not_change_are_not_written_anew(archive: SimpleNamespace) -> None:
    nodes = make.nodes(archive.cast.team, *(f"end{number}" for number in range(6)))
    sides = (
        make.cluster(archive.cast.team, "here", *nodes[:3]),
        make.cluster(archive.cast.team, "there", *nodes[3:]),
    )
    make.launched(archive.cast, *sides, name="Pairs")
    tables = ("results_searchend", "results_searchentry_nodes")
    assert rows.of(index, *tables).written == 9 + 6
    SearchEntry.objects.update(of=F("of") - timedelta(seconds=1))
    assert rows.of(index, *tables).written == 0
    # One is missing, and one is of nodes that were never measured with each other.
    entry = SearchEntry.objects.get(experiment__campaign__name="Pairs")
    entry.ends.filter(a=nodes[0], b=nodes[4]).update(b=nodes[1])
    SearchEntry.objects.update(of=F("of") - timedelta(seconds=1))
    assert rows.of(index, *tables).written == 2
    assert entry.ends.filter(a=nodes[0], b=nodes[4]).count() == 1


def test_experiments_of_many_lanes_are_indexed_in_turns(
    archive: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "MOST_LANES", 1)
    SearchEntry.objects.update(of=F("of") - timedelta(seconds=1))
    due = entries.due(datetime.now(UTC)).count()
    assert due > 1
    for left in range(due - 1, 0, -1):
        assert entries.index_due(now=datetime.now(UTC)) == entries.BATCH
        assert entries.due(datetime.now(UTC)).count() == left
    assert entries.index_due(now=datetime.now(UTC)) == 1


class Killed(BaseException):
    """What ends a worker that took too much memory."""


def test_an_experiment_that_takes_its_worker_along_is_set_aside_and_the_others_are_done(
    archive: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison = archive.third.experiments.get()
    Campaign.objects.update(tags=["later"], updated_at=datetime.now(UTC))
    texts = entries._texts

    def kill(of: Experiment, nodes: Any) -> Any:
        if of == poison:
            raise Killed
        return texts(of, nodes)

    @contextmanager
    def noted(work: str, pks: list[int], *, now: datetime) -> Any:
        # Who is killed takes no note back.
        notes_of = lost_work._NOTED + work
        notes = SetAside.objects.filter(work=notes_of, row_id__in=pks)
        for pk in pks:
            SetAside.objects.create(work=notes_of, row_id=pk, first_at=now, last_at=now, retry_at=now)
        yield
        notes.delete()

    monkeypatch.setattr(entries, "_texts", kill)
    monkeypatch.setattr(lost_work, "noted", noted)
    now, lost = datetime.now(UTC), 0
    for _look in range(4):
        try:
            entries.index_due(now=now)
        except Killed:
            lost += 1
    assert lost == 2
    assert names(archive, "q=later") == ["Way back", "Window sweep", "Disks"]
    row = SetAside.objects.get(work=entries.INDEX_DUE)
    assert (row.row_id, row.attempts) == (poison.pk, 1)
    assert "LostWorkerError" in row.reason
    assert archive.third.events.filter(level="error", message__params__work="index_due").count() == 1
