"""Commands, what they printed, what agents told and notes of the inventory are read by their team, at every door."""

import json
import re
import zlib
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.agents.models import FactSnapshot, Job, JobFile, JobOutput
from apps.archive.campaigns import form
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.campaigns.writer import archive_of
from apps.campaigns.models import Campaign, Run
from apps.reports import serialisation
from apps.reports.campaign import build
from apps.testbeds.inventory.sections import SECTIONS
from tests import factories as people
from tests import rewriting
from tests.archive.exports.conftest import lines, unpacked
from tests.archive.exports.test_extremes import own_pages
from tests.campaigns import factories as make
from tests.results.test_conclusions import addresses
from tests.rotation import part_of

MARKS = ("zqargv", "zqprinted", "zqfile", "zqfact", "zqnotes")


@pytest.fixture
def secret(finished: Campaign) -> Campaign:
    """Return a campaign whose jobs, facts and notes of the inventory bear a mark each."""
    for job in Job.objects.all():
        facts = FactSnapshot.objects.create(node=job.node, digest="1", facts={"kernel": {"release": "zqfact"}})
        rewriting.update(Job.objects.filter(pk=job.pk), argv=[*job.argv, "zqargv"], facts=facts)
        rewriting.update(JobOutput.objects.filter(job=job), stdout_z=zlib.compress(b"zqprinted"))
        JobFile.objects.create(job=job, name="zqfile", content_z=zlib.compress(b"zqfile"), size=6)
    for run in Run.objects.all():
        plan = json.dumps(run.plan or {"stages": []}).replace('"argv": [', '"argv": ["zqargv", ')
        rewriting.update(Run.objects.filter(pk=run.pk), plan=json.loads(plan))
    for section in SECTIONS:
        if any(field.name == "notes" for field in section.fields):
            section.model._default_manager.update(notes="zqnotes")
    return finished


def own_doors(campaign: Campaign) -> set[str]:
    """Return the addresses of all that names the campaign or what is its."""
    job = Job.objects.first()
    assert job
    return {
        *own_pages(campaign), f"exports/campaigns/{campaign.pk}/archive.zip",
        f"exports/package.csv.zip?set=campaign:{campaign.pk}",
        f"exports/tables/iperf3-tcp.csv?set=campaign:{campaign.pk}",
        f"api/v1/campaigns/{campaign.pk}/archive/",
        f"api/v1/jobs/?run={job.run_ref}", f"api/v1/jobs/{job.pk}/", f"agents/jobs/{job.pk}/stdout/",
        f"agents/jobs/{job.pk}/files/zqfile/", f"agents/facts/{job.facts_id}/", f"agents/nodes/{job.node_id}/",
        f"compare/?set=campaign:{campaign.pk}&set=campaign:{campaign.pk}", f"api/v1/runs/{job.run_ref}/telemetry/",
        f"api/v1/runs/?trial={campaign.trials.first().pk}", f"api/v1/runs/{job.run_ref}/",
    }  # fmt: skip


def shown(client: Client, doors: set[str], headers: dict[str, str]) -> dict[str, set[str]]:
    """Return {address: marks} of all that shows any."""
    found = {}
    for address in sorted(doors):
        answer: Any = client.get(f"/{address}", **(headers if address.startswith("api/") else {}))
        if answer.status_code != 200:
            continue
        data = b"".join(answer.streaming_content) if answer.streaming else answer.content
        text = str(unpacked(data)) if data[:2] == b"PK" else data.decode(errors="replace")
        if marks := {mark for mark in MARKS if mark in text}:
            found[address] = marks
    return found


@pytest.mark.parametrize("how", ["accepted", "public"])
def test_nobody_else_reads_them_anywhere(client: Client, secret: Campaign, cast: SimpleNamespace, how: str) -> None:
    if how == "accepted":
        make.share(secret, cast.other_team)
    else:
        Campaign.objects.update(visibility="public", redacted=False)
    secret.refresh_from_db()
    own = own_doors(secret)
    everywhere = {*part_of(sorted({*addresses(), *own}))}
    # What was accepted is nothing to who is not signed in: pages that name nothing do not know of it.
    assert shown(client, everywhere if how == "public" else everywhere & own, {}) == {}
    client.force_login(cast.charlie)
    assert shown(client, everywhere, people.bearer(cast.charlie)) == {}
    text = json.dumps(serialisation.as_json(build([secret], user=cast.charlie, language="en")))
    assert not any(mark in text for mark in MARKS)
    client.force_login(cast.bob)
    archives = {f"api/v1/campaigns/{secret.pk}/archive/", f"exports/campaigns/{secret.pk}/archive.zip"}
    page = f"results/trials/{secret.trials.order_by('pk').first().pk}/"
    assert {*archives, page} <= own
    seen = shown(client, {*archives, page}, people.bearer(cast.bob))
    assert [seen[address] for address in archives] == [{*MARKS}, {*MARKS}]
    assert {"zqargv", "zqprinted"} <= seen[page]


@pytest.mark.parametrize("reader", ["charlie", "bob"])
def test_links_are_drawn_where_they_lead(
    client: Client, secret: Campaign, cast: SimpleNamespace, reader: str
) -> None:
    Campaign.objects.update(visibility="public", redacted=False)
    client.force_login(getattr(cast, reader))
    trial = secret.trials.order_by("pk").first()
    assert trial
    page = client.get(f"/results/trials/{trial.pk}/").content.decode()
    links = set(re.findall(r'href="(/(?:agents|testbeds|inventory)/[^"#]+)"', page.partition("<main")[2]))
    assert bool(links) == (reader == "bob")
    assert {link: client.get(link).status_code for link in links} == dict.fromkeys(links, 200)


def test_what_is_left_of_an_archive_is_a_whole_archive(secret: Campaign, cast: SimpleNamespace) -> None:
    Campaign.objects.update(visibility="public", redacted=False)
    data = b"".join(archive_of(secret, now=timezone.now(), reader=cast.charlie))
    files = unpacked(data)
    assert lines(files[form.FACTS]) == []
    assert not [name for name in files if name.startswith("raw/")]
    samples = secret.trials.filter(samples__isnull=False).count()
    rewriting.delete(secret)
    archive = Archive(BytesIO(data), "a.zip")
    archive.verify()
    made = store(archive=archive, team=cast.other_team, user=cast.charlie, choices=Choices(), now=timezone.now())
    assert made.trials.filter(samples__isnull=False).count() == samples > 0
