"""A database of the version before, with measurements, archives and facts in it, is brought up to this one."""

import io
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from apps.agents.models import Agent, FactSnapshot, Job
from apps.archive.campaigns import form
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.models import IncomingArchive
from apps.campaigns import services
from apps.campaigns.models import Campaign
from apps.tuning import queries
from apps.tuning.models import Finding, Verification
from tests import rewriting
from tests.archive.exports.conftest import lines, repacked, unpacked
from tests.archive.exports.test_archives import packed
from tests.archive.exports.test_hostile_archives import summed

# What the version before had of each room that the last change altered.
BEFORE = [
    ("agents", "0011_people_may_be_gone"),
    ("tuning", "0005_people_may_be_gone"),
    ("results", "0014_former_names"),
    ("reports", "0008_deliveries_that_wait_for_mails"),
    ("core", "0003_last_changes"),
]
TRUE, EARLIER, FORGED, GONE = ({"kernel": {"release": name}} for name in ("true", "earlier", "forged", "gone"))
OTHER, LOST = "7k3m-9qxt-2v4h", "8k3m-9qxt-2v4h"


def migrate(targets: list[tuple[str, str]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    MigrationExecutor(connection).migrate(targets)


@pytest.fixture
def newest() -> Iterator[list[tuple[str, str]]]:
    yield list(MigrationExecutor(connection).loader.graph.leaf_nodes())


def own_facts(campaign: Campaign) -> None:
    """Have each node's agent have told its facts twice before the campaign was measured."""
    now = timezone.now() - timedelta(days=30)
    for agent in Agent.objects.all():
        kept = [
            snapshot(agent.node_id, facts, now + timedelta(days=day)) for day, facts in enumerate((EARLIER, TRUE))
        ]
        agent.facts = kept[-1]
        agent.save(update_fields=["facts"])
        Job.objects.filter(node=agent.node_id).update(facts=kept[-1])


def snapshot(node: int, facts: dict[str, Any], at: datetime) -> FactSnapshot:
    made = FactSnapshot.objects.create(node_id=node, digest=str(facts)[:64], facts=facts)
    FactSnapshot.objects.filter(pk=made.pk).update(created_at=at)
    return made


def brought(campaign: Campaign, cast: SimpleNamespace, permanent_id: str, facts: dict[str, Any], at: str) -> Campaign:
    """Return the campaign as its archive brings it once more, under another id and with facts of its own."""
    files = unpacked(packed(campaign))
    files = {
        name: data.replace(campaign.permanent_id.encode(), permanent_id.encode()) for name, data in files.items()
    }
    changed = [{**line, "facts": facts, "created_at": at} for line in lines(files[form.FACTS])]
    files[form.FACTS] = b"".join(json.dumps(line).encode() + b"\n" for line in changed)
    made = store(
        archive=Archive(io.BytesIO(repacked(summed(files).items()))),
        team=cast.team,
        user=cast.oscar,
        choices=Choices(),
        now=timezone.now(),
    )
    IncomingArchive.objects.create(
        team=cast.team, name="a.zip", size=1, state="done", campaign=made, preview={"team": "Far away"}
    )
    return made


@pytest.mark.parametrize("at", ["2199-01-01T00:00:00+00:00", "1971-01-01T00:00:00+00:00"], ids=["later", "earlier"])
def test_facts_findings_and_archives_of_the_version_before_are_told_apart(
    finished: Campaign, cast: SimpleNamespace, newest: list[tuple[str, str]], at: str
) -> None:
    own_facts(finished)
    finding = finished.findings.order_by("pk")[0]
    Verification.objects.create(finding=finding, proof={}, verdict="verified", gain=1.2, predicted_gain=1.2)
    Finding.objects.filter(pk=finding.pk).update(state="verified")
    archive = brought(finished, cast, OTHER, FORGED, at)
    lost = brought(finished, cast, LOST, GONE, "2199-01-01T00:00:00+00:00")
    services.delete_campaign(campaign=lost, user=cast.alice, now=timezone.now())
    # The version before left what a deleted campaign's archive had brought.
    node = Agent.objects.order_by("pk")[0].node_id
    left = snapshot(node, GONE, datetime.fromisoformat("2199-01-01T00:00:00+00:00"))
    counts = rows()

    migrate(BEFORE)
    assert columns("agents_factsnapshot").isdisjoint({"archive_ref"})
    assert columns("tuning_verification").isdisjoint({"imported_from"})
    assert rows() == counts
    migrate(newest)

    assert rows() == counts
    told = {(item.facts["kernel"]["release"], item.archive_ref) for item in FactSnapshot.objects.all()}
    assert told == {("true", ""), ("earlier", ""), ("forged", OTHER), ("gone", "unknown")}
    assert FactSnapshot.objects.get(pk=left.pk).archive_ref == "unknown"
    for agent in Agent.objects.select_related("facts"):
        assert agent.facts is not None and agent.facts.facts == TRUE
        assert FactSnapshot.objects.own().filter(node=agent.node_id).latest().facts == TRUE
    assert set(finished.findings.values_list("imported_from", flat=True)) == {""}
    assert set(archive.findings.values_list("imported_from", flat=True)) == {"Far away"}
    assert queries.calibration_for(cast.alice).judged == 1
    # What is stored from now on goes as everything does.
    services.delete_campaign(campaign=archive, user=cast.alice, now=timezone.now())
    assert not FactSnapshot.objects.filter(archive_ref=OTHER).exists()
    rewriting.delete(finished)


def columns(table: str) -> set[str]:
    """Return the names of a table's columns."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table} LIMIT 0")
        return {column.name for column in cursor.description}


def rows() -> dict[str, int]:
    """Return how many rows each table has that the last change moved, altered or wrote."""
    tables = (
        "agents_factsnapshot", "agents_job", "campaigns_campaign", "core_setaside", "reports_incomingarchive",
        "results_import", "results_result", "results_sample", "results_searchentry", "results_series",
        "tuning_finding", "tuning_verification",
    )  # fmt: skip
    counted = {}
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"SELECT count(*) FROM {table}")
            counted[table] = cursor.fetchone()[0]
    return counted
