"""Facts that an archive brings are told of its runs only, and never as what the node's own agent said."""

import json
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.agents import queries as agents
from apps.agents.models import FactSnapshot, Job
from apps.archive.campaigns import form
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.campaigns.writer import archive_of
from apps.campaigns import services
from apps.campaigns.models import Campaign, Run
from apps.comparison.comparisons.choice import choose
from apps.comparison.comparisons.comparison import compare
from apps.comparison.comparisons.gathering import gather
from apps.comparison.comparisons.sets import read_set
from apps.comparison.comparisons.state import ComparisonState
from apps.reports.campaign import build
from apps.tuning import evidence
from tests import rewriting
from tests.archive.exports.conftest import lines, repacked, unpacked
from tests.archive.exports.test_hostile_archives import summed

TRUE = {"kernel": {"release": "6.8-true"}, "sysctls": {"net.core.rmem_max": "4194304"}}
FORGED = {"kernel": {"release": "9.9-forged"}, "sysctls": {"net.core.rmem_max": "32768"}}
OTHER = "7k3m-9qxt-2v4h"


@pytest.fixture
def told(finished: Campaign) -> Campaign:
    """Return the campaign, of whose nodes the agents told facts before they measured."""
    before = timezone.now().replace(year=2026, month=1, day=1)
    for job in Job.objects.all():
        own = FactSnapshot.objects.filter(node=job.node).first()
        if own is None:
            own = FactSnapshot.objects.create(node=job.node, digest="0" * 64, facts=TRUE)
            FactSnapshot.objects.filter(pk=own.pk).update(created_at=before)
        Job.objects.filter(pk=job.pk).update(facts=own)
    return finished


def forged(campaign: Campaign, cast: SimpleNamespace, facts: dict[str, Any], at: str) -> Campaign:
    """Return the campaign as somebody sends it once more, under another permanent id, with facts of their own."""
    files = unpacked(b"".join(archive_of(campaign, now=timezone.now())))
    files = {name: data.replace(campaign.permanent_id.encode(), OTHER.encode()) for name, data in files.items()}
    changed = [{**line, "facts": facts, "created_at": at} for line in lines(files[form.FACTS])]
    files[form.FACTS] = b"".join(json.dumps(line).encode() + b"\n" for line in changed)
    archive = Archive(BytesIO(repacked(summed(files).items())), "a.zip")
    archive.verify()
    return store(archive=archive, team=cast.team, user=cast.oscar, choices=Choices(), now=timezone.now())


@pytest.mark.parametrize(
    "at", ["2199-01-01T00:00:00+00:00", "2026-11-01T00:00:00+00:00", "1971-01-01T00:00:00+00:00"]
)
def test_what_is_known_of_a_node_is_what_its_agent_said(
    client: Client, told: Campaign, cast: SimpleNamespace, at: str
) -> None:
    nodes = sorted({job.node_id for job in Job.objects.all()})
    brought = forged(told, cast, FORGED, at)
    assert agents.latest_facts(nodes) == dict.fromkeys(nodes, TRUE)
    client.force_login(cast.alice)
    for node in nodes:
        assert b"9.9-forged" not in client.get(f"/agents/nodes/{node}/").content
    for campaign, facts in ((told, TRUE), (brought, FORGED)):
        for found in (evidence.of_campaign(campaign), *evidence.by_ends(campaign).values()):
            assert list(found.facts.values()) == [facts] * len(found.facts)
            assert found.facts
        text = str(build([campaign], user=cast.alice, language="en"))
        assert ("9.9-forged" in text, "6.8-true" in text) == (campaign == brought, campaign == told)
    runs = Run.objects.filter(trial__campaign=told)
    assert agents.facts_of_runs(nodes, runs) == dict.fromkeys(nodes, TRUE)
    sets = tuple(read_set(f"campaign:{item.pk}") for item in (told, brought))
    differing = compare(gather(choose(ComparisonState(sets=sets), cast.alice))).deviations
    told_of = [item.values for item in differing if item.name.startswith("Kernel (")]
    kernels = [set().union(*values) for values in zip(*told_of, strict=True)]
    # Facts that were told after it was measured say nothing of a figure.
    assert kernels == [{"6.8-true"}, set() if at.startswith("2199") else {"9.9-forged"}]


def test_they_are_marked_and_go_with_their_campaign(client: Client, told: Campaign, cast: SimpleNamespace) -> None:
    brought = forged(told, cast, FORGED, "2199-01-01T00:00:00+00:00")
    assert {item.archive_ref for item in FactSnapshot.objects.filter(facts=FORGED)} == {brought.permanent_id}
    client.force_login(cast.alice)
    page = client.get(f"/agents/facts/{FactSnapshot.objects.filter(facts=FORGED).first().pk}/").content.decode()
    assert "came with the archive of a campaign" in page
    services.delete_campaign(campaign=brought, user=cast.alice, now=timezone.now())
    assert not FactSnapshot.objects.exclude(archive_ref="").exists()
    assert FactSnapshot.objects.own().exists()


@pytest.mark.parametrize(
    "facts", [{"interfaces": 5}, {"sysctls": [1, 2]}, {"kernel": "x"}, {"mounts": 7}, {"cpu": [9]}, {"tools": 3}]
)
def test_malformed_facts_do_not_come_in_and_break_nothing(
    client: Client, told: Campaign, cast: SimpleNamespace, facts: dict[str, Any]
) -> None:
    with pytest.raises(ArchiveError):
        forged(told, cast, facts, "2026-11-01T00:00:00+00:00")
    # Those that came in before they were checked.
    rewriting.update(FactSnapshot.objects.all(), facts=facts)
    snapshot = FactSnapshot.objects.first()
    assert snapshot
    client.force_login(cast.alice)
    for address in (f"/agents/nodes/{snapshot.node_id}/", f"/agents/facts/{snapshot.pk}/", "/agents/"):
        assert client.get(address).status_code == 200
    trial = told.trials.first()
    assert trial
    assert client.get(f"/results/trials/{trial.pk}/").status_code == 200
    assert client.get(f"/compare/?set=campaign:{told.pk}").status_code == 200
    assert evidence.of_campaign(told).points
    build([told], user=cast.alice, language="en")
