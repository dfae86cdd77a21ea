"""A campaign that is deleted takes along what its runs printed, and leaves its nodes free."""

from types import SimpleNamespace

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Model
from django.utils import timezone

from apps.agents import services as agents
from apps.agents.models import Job, JobFile, JobOutput
from apps.campaigns import services
from apps.campaigns.models import Campaign, Run
from apps.campaigns.services import deletion
from apps.results.models import Result, Sample, Series
from apps.testbeds import services as inventory
from apps.testbeds.models import Link, Node

KEPT: list[type[Model]] = [Job, JobOutput, JobFile, Result, Sample, Series]


@pytest.fixture
def collected(measured: Campaign) -> Campaign:
    """Return a measured campaign, one of whose jobs gave a file back."""
    job = Job.objects.filter(run_ref__in=Run.objects.filter(trial__campaign=measured).values("pk")).latest("pk")
    JobFile.objects.create(job=job, name="file", content_z=b"x", size=1)
    return measured


def delete(campaign: Campaign, cast: SimpleNamespace) -> bool:
    return services.delete_campaign(campaign=campaign, user=cast.oscar, now=timezone.now())


def test_all_that_its_jobs_printed_goes_with_it(collected: Campaign, cast: SimpleNamespace, pair: list[Node]) -> None:
    other = Job.objects.create(node=pair[0], run_ref=10**6, role="client", argv=["true"], time_limit_s=1)
    JobOutput.objects.create(job=other, stdout_z=b"", stderr_z=b"")
    assert all(model._default_manager.exists() for model in KEPT)
    assert delete(collected, cast)
    assert {model.__name__: model._default_manager.count() for model in KEPT} == {
        "Job": 1, "JobOutput": 1, "JobFile": 0, "Result": 0, "Sample": 0, "Series": 0,
    }  # fmt: skip
    assert JobOutput.objects.get().job == other


def test_a_large_one_takes_its_jobs_along_batch_by_batch(
    collected: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "AT_ONCE", 1)
    monkeypatch.setattr(deletion, "BATCH", 3)
    monkeypatch.setattr(deletion, "TURN_S", 0.0)
    assert not delete(collected, cast)
    before = Job.objects.count()
    assert services.continue_deletions()
    assert 0 < Job.objects.count() < before
    assert services.continue_deletions()
    assert [model for model in KEPT if model._default_manager.exists()] == []


def test_its_nodes_can_be_deleted_then(collected: Campaign, cast: SimpleNamespace, pair: list[Node]) -> None:
    delete(collected, cast)
    Link.objects.all().delete()
    for node in pair:
        agents.forget_agent(agent=agents.retire_agent(agent=node.agent, now=timezone.now()))
        inventory.delete_item(item=Node.objects.get(pk=node.pk))
    assert not Node.objects.filter(pk__in=[node.pk for node in pair]).exists()


def test_a_deletion_that_fails_keeps_all_of_it(
    collected: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise IntegrityError

    counts = [model._default_manager.count() for model in KEPT]
    monkeypatch.setattr(Campaign, "delete", fail)
    with pytest.raises(IntegrityError), transaction.atomic():
        delete(collected, cast)
    assert [model._default_manager.count() for model in KEPT] == counts
