"""A campaign leaves as an archive, and the same campaign comes of it elsewhere."""

import json
import subprocess
import zlib
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from apps.accounts.models import Membership, Role, Team, User
from apps.agents.compression import unpack
from apps.agents.models import FactSnapshot, Job, JobFile, JobOutput
from apps.archive.campaigns import form
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.campaigns.writer import archive_of
from apps.bench.toolkit import Reading
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.campaigns.models.annotations import Note
from apps.campaigns.references import reference
from apps.reports import serialisation
from apps.reports import services as reports
from apps.reports.campaign import build
from apps.reports.models import Edition
from apps.results import queries as results
from apps.results import validity
from apps.results.models import Result, StageTiming, Superseded
from apps.toolbox import queries as toolbox
from apps.tuning import services as tuning
from apps.tuning.models import Finding, Verification
from tests import factories, rewriting
from tests.archive.exports.conftest import unpacked
from tests.campaigns import factories as make
from tests.tuning import published

WIPED = (
    "campaigns_campaign", "agents_job", "agents_factsnapshot", "testbeds_site", "testbeds_cluster", "reports_report",
)  # fmt: skip


def packed(campaign: Campaign) -> bytes:
    return b"".join(archive_of(campaign, now=timezone.now()))


def came_in(data: bytes, team: Team, user: User, **choices: Any) -> Campaign:
    archive = Archive(BytesIO(data), "a.zip")
    archive.verify()
    told: list[int] = []
    made = store(
        archive=archive, team=team, user=user, choices=Choices(**choices), now=timezone.now(), progress=told.append
    )
    total = archive.counts["trials"] + archive.counts["results"]
    assert told == sorted(told)
    assert told[-1:] == ([total] if total else [])
    return made


def wipe(*tables: str) -> None:
    """Leave nobody's measurements, inventory and reports; numbers go on from where they were."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"TRUNCATE {', '.join(tables or WIPED)} CASCADE")


@pytest.fixture
def rich(finished: Campaign, cast: SimpleNamespace) -> Campaign:
    """Return the campaign with all that a campaign can have: facts, files, marks, notes, decisions, reports."""
    now = timezone.now()
    trial = finished.trials.order_by("pk").last()
    assert trial
    job = Job.objects.filter(run_ref=trial.runs.get().pk).order_by("pk").last()
    assert job
    job.facts = FactSnapshot.objects.create(node=job.node, digest="0" * 64, facts={"sysctls": {"a": "1 2 3"}})
    job.save()
    rewriting.update(JobOutput.objects.filter(job=job), telemetry_z=zlib.compress(b'{"version": 1}'))
    JobFile.objects.create(job=job, name="log.txt", content_z=zlib.compress(b"\x00\xff raw"), size=6)
    StageTiming.objects.create(run=trial.runs.get(), stage=0, name="measure", commands=2, started=2, skew_s=0.001)
    validity.mark_invalid(trial=trial, user=cast.oscar, reason="The switch was replaced.", now=now)
    result = Result.objects.get(trial=trial)
    reading = Reading((), requested={"a": 1}).as_json()
    Superseded.objects.create(
        result=result,
        edition=1,
        reading_z=zlib.compress(json.dumps(reading).encode()),
        made_at=now,
        superseded_at=now,
    )
    rewriting.update(
        Result.objects.filter(pk=result.pk), edition=2, edition_reason="A mended parser.", edition_at=now
    )
    Note.objects.create(campaign=finished, text="Seen =1+1 <script>", created_by=cast.bob)
    finding = finished.findings.order_by("pk").first()
    assert finding
    Verification.objects.create(finding=finding, proof=finding.details["proof"] or {}, verdict="verified", gain=1.2)
    tuning.decide_finding(finding=finding, user=cast.oscar, state=Finding.State.ACCEPTED, reason="Do it.")
    Campaign.objects.filter(pk=finished.pk).update(tags=["wan"], licence="CC-BY-4.0", goal="To know.")
    finished.refresh_from_db()
    for language in ("en", "ko"):
        report = reports.begin_report(campaign=finished, user=cast.oscar, language=language)
        document = build([finished], user=cast.oscar, language=language)
        reports.keep_edition(report=report, document=document, user=cast.oscar, now=now)
    return finished


def figures(campaign: Campaign) -> list[Any]:
    """Return all that the campaign's table says, but for numbers of the database."""
    found = []
    for experiment in campaign.experiments.all():
        for metric in toolbox.get_tool(experiment.tool).metrics:
            table = results.table_of(experiment, metric=metric)
            found.append((metric.name, table.reasons, [(group.x, group.summary) for group in table.groups]))
    return found


def rebuilt(campaign: Campaign, user: User) -> list[str]:
    documents = [build([campaign], user=user, language=language) for language in ("en", "ko")]
    return [
        serialisation.checksum(serialisation.canonical(serialisation.as_json(document))) for document in documents
    ]


def test_exported_wiped_and_imported_elsewhere_it_is_the_same(
    rich: Campaign, cast: SimpleNamespace, tmp_path: Path
) -> None:
    data = packed(rich)
    before = (
        figures(rich),
        sorted(map(reference, rich.findings.all())),
        [(item.permanent_id, item.checksum) for item in Edition.objects.order_by("pk")],
        rebuilt(rich, cast.oscar),
    )
    wipe()
    assert not Campaign.objects.exists()
    # Another team that is called the same, for a report names the team.
    for team, name in ((cast.team, "was"), (cast.other_team, "grid")):
        Team.objects.filter(pk=team.pk).update(name=name)
    cast.other_team.refresh_from_db()
    for person in (cast.oscar, cast.bob):
        Membership.objects.create(team=cast.other_team, user=person, role=Role.VIEWER)
    new = came_in(data, cast.other_team, cast.charlie, keeps_ids=True)
    assert (new.team, new.created_by) == (cast.other_team, cast.charlie)
    first, second = unpacked(data), unpacked(packed(new))
    # But for where it is from: it was measured here no more.
    assert new.origin_text == "measured, as an archive says"
    Campaign.objects.filter(pk=new.pk).update(brought_in={})
    new.refresh_from_db()
    assert before == (
        figures(new),
        sorted(map(reference, new.findings.all())),
        [(item.permanent_id, item.checksum) for item in Edition.objects.order_by("pk")],
        rebuilt(new, cast.charlie),
    )
    assert all(item.is_intact for item in Edition.objects.all())
    # To the last byte, but for when it was made.
    differing = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
    # And who made the reports here, and the names of people who are told of only.
    assert differing == {"fathom.json", "SHA256SUMS", "campaign.json", "events.jsonl", "reports.jsonl"}
    # People can look at it without us.
    for name, content in first.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    done = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=False)
    assert done.returncode == 0


def test_what_has_not_ended_does_not_leave(cast: SimpleNamespace, finished: Campaign) -> None:
    Campaign.objects.filter(pk=finished.pk).update(state="running")
    finished.refresh_from_db()
    with pytest.raises(ArchiveError, match="state"):
        archive_of(finished, now=timezone.now())


@pytest.mark.parametrize("what", ["entries", "total_bytes"])
def test_what_no_reader_takes_is_refused_before_anything_is_written(
    finished: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    for output in JobOutput.objects.all():
        output.stdout_bytes, output.stderr_bytes = (len(unpack(text)) for text in (output.stdout_z, output.stderr_z))
        rewriting.update(
            JobOutput.objects.filter(pk=output.pk),
            **{name: getattr(output, name) for name in ("stdout_bytes", "stderr_bytes")},
        )
    files = unpacked(packed(finished))
    raw = sum(len(content) for path, content in files.items() if path.startswith("raw/") and "telemetry" not in path)
    size = {"entries": len(files), "total_bytes": raw}[what]
    assert size > 1
    address = f"/api/v1/campaigns/{finished.pk}/archive/"
    monkeypatch.setattr(form, "LIMITS", replace(form.LIMITS, **{what: size}))
    assert factories.signed_in(cast.alice).get(address).status_code == 200
    monkeypatch.setattr(form, "LIMITS", replace(form.LIMITS, **{what: size - 1}))
    with pytest.raises(ArchiveError, match="size"):
        archive_of(finished, now=timezone.now())
    refused = factories.signed_in(cast.alice).get(address)
    assert refused.status_code == 409 and "export the results as tables" in refused.content.decode()
    page = factories.signed_in(cast.alice).get(f"/exports/campaigns/{finished.pk}/archive.zip", follow=True)
    assert "export the results as tables" in page.content.decode()


def test_after_deletion_it_comes_back_with_its_reports_and_twice_it_does_not(
    rich: Campaign, cast: SimpleNamespace
) -> None:
    data = packed(rich)
    editions = list(Edition.objects.values_list("pk", "report"))
    jobs = Job.objects.count()
    campaigns.delete_campaign(campaign=rich, user=cast.oscar, now=timezone.now())
    back = came_in(data, cast.team, cast.oscar)
    assert back.permanent_id == rich.permanent_id
    assert list(Edition.objects.values_list("pk", "report")) == editions
    assert {item.report.campaign for item in Edition.objects.all()} == {back}
    assert Job.objects.count() == jobs
    with pytest.raises(ArchiveError, match="known"):
        came_in(data, cast.team, cast.oscar)
    assert Campaign.objects.count() == 1


def test_nodes_become_others_if_chosen_so(rich: Campaign, cast: SimpleNamespace) -> None:
    data = packed(rich)
    wipe("campaigns_campaign")
    new = came_in(data, cast.team, cast.oscar)
    lane = new.experiments.get().lanes.get()
    assert results.lane_names(new.experiments.get()) == {lane.pk: "kisti01 → pnu01"}
    wipe("campaigns_campaign")
    (other,) = make.nodes(cast.team, "newcomer")
    again = came_in(data, cast.team, cast.oscar, nodes={"kisti01": "newcomer"})
    lane = again.experiments.get().lanes.get()
    assert lane.roles["client"] == [other.pk]
    assert again.findings.filter(ends__contains=[["client", other.pk]]).exists()
    wipe("campaigns_campaign")
    for choices in (
        {"nodes": {"kisti01": "nobody"}},
        {"nodes": {"kisti01": "pnu01"}},
    ):
        with pytest.raises(ArchiveError, match="choice"):
            came_in(data, cast.team, cast.oscar, **choices)
    assert not Campaign.objects.exists()
    assert Experiment.objects.count() == Trial.objects.count() == 0


def test_published_figures_come_back_with_their_clusters_and_file_systems(cast: SimpleNamespace) -> None:
    campaign = published.load(cast.team, published.CASES["lan-client-saturation"]).created[0]
    data = packed(campaign)
    before = figures(campaign), sorted(map(reference, campaign.findings.all()))
    wipe()
    new = came_in(data, cast.team, cast.oscar, keeps_ids=True)
    assert (new.origin, new.publication["case"]) == ("published", "lan-client-saturation")
    assert before == (figures(new), sorted(map(reference, new.findings.all())))
    first, second = unpacked(data), unpacked(packed(new))
    changed = {name for name in first if first[name] != second.get(name)}
    assert changed == {"fathom.json", "SHA256SUMS", "campaign.json", "events.jsonl"}
    assert new.experiments.filter(file_system__server_cluster__isnull=False).exists()
