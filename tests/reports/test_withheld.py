"""What a frozen report holds of agents' facts and of notes is read by its own team, at every door of an edition."""

import zipfile
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import Membership, Role
from apps.archive.campaigns.writer import archive_of
from apps.campaigns.models import Campaign
from apps.core import queue
from apps.reports import drafts, serialisation, services
from apps.reports.campaign import inventory as section
from apps.reports.campaign import material
from apps.reports.document import Document, Table
from apps.reports.files import services as files
from apps.reports.files.formats import FORMATS
from apps.reports.models import Edition, Rendering
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Site, Switch, Testbed
from tests import factories as people
from tests.campaigns import factories as make
from tests.reports import whole

pytestmark = pytest.mark.django_db
# A word for each thing that only the team reads, which stands in nothing else.
NOTED = {kind: f"zqnote{kind.__name__.lower()}" for kind in (Cluster, FileSystem, Link, Node, Site, Switch, Testbed)}
FACTS = {
    "kernel": {"release": "6.1.0-zqkernel"},
    "cpu": {"caches": {"zqcache": 32768}},
    "tools": {name: {"path": f"/usr/bin/{name}", "version": f"zq{name} 4.1"} for name in ("mpirun", "gcc", "srun")},
    "sysctls": {"net.zqsetting": "zqvalue"},
}
IN_FACTS = {"zqkernel", "zqcache", "zqmpirun", "zqgcc", "zqsrun", "zqsetting", "zqvalue"}
IDLE = "zqidle"
SHOWN = IN_FACTS | {NOTED[kind] for kind in (Cluster, FileSystem, Link, Testbed)} | {IDLE}
SECRETS = IN_FACTS | set(NOTED.values()) | {IDLE}


@pytest.fixture
def world(cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return a public campaign with every kind of block, its frozen report, and whoever may read it."""
    monkeypatch.setattr(queue, "send", lambda *_given: None)
    monkeypatch.setattr(whole, "FACTS", FACTS)
    campaign = whole.campaign(cast)
    (idle,) = make.nodes(cast.team, IDLE)
    Cluster.objects.first().nodes.add(idle)
    for kind, word in NOTED.items():
        kind._default_manager.update(notes=f"{word} here")
    Campaign.objects.filter(pk=campaign.pk).update(visibility=Campaign.Visibility.PUBLIC, redacted=False)
    report = services.begin_report(campaign=campaign, user=cast.oscar, language="en")
    document = drafts.build(report, cast.oscar)
    edition = services.keep_edition(report=report, document=document, user=cast.oscar, now=timezone.now())
    readers = {"oscar": cast.oscar, "bob": cast.bob, "charlie": cast.charlie, "dora": people.user("dora")}
    return SimpleNamespace(campaign=campaign, report=report, edition=edition, readers=readers)


def read_in(content: bytes) -> str:
    """Return what a file holds, whatever its format: of a zip the text of all parts."""
    if content.startswith(b"PK"):
        with zipfile.ZipFile(BytesIO(content)) as packed:
            return "".join(read_in(packed.read(name)) for name in packed.namelist())
    return content.decode(errors="replace")


def told(world: SimpleNamespace, name: str) -> dict[str, str]:
    """Return {door: what it answers} of all doors of an edition that a reader may open."""
    person: Any = world.readers.get(name)
    client = people.signed_in(person) if person else Client()
    permanent_id, report = world.edition.permanent_id, world.report.pk
    page = f"/reports/editions/{permanent_id}/"
    addresses = [page, f"{page}document.json", f"/archive/?q={world.campaign.name}"]
    if person:
        addresses += [f"/api/v1/editions/{permanent_id}/", f"/api/v1/editions/{permanent_id}/document/"]
        addresses += ["/api/v1/editions/", "/api/v1/renderings/", "/reports/", "/api/v1/reports/"]
    rows = Rendering.objects.filter(edition=world.edition)
    addresses += [
        address for row in rows for address in (row.get_absolute_url(), f"/api/v1/renderings/{row.pk}/content/")
    ]
    addresses += [f"/reports/{report}/", f"/api/v1/reports/{report}/document/"]
    words_by_door = {}
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code in (200, 302, 401, 404), (address, answer.status_code)
        if answer.status_code == 200:
            content = b"".join(answer) if answer.streaming else answer.content
            words_by_door[address] = read_in(content)
    if person:
        archive = b"".join(archive_of(world.campaign, now=timezone.now(), reader=person))
        # Its inventory has the clusters as they are.
        words_by_door["archive"] = read_in(archive).replace(IDLE, "" if name in ("charlie", "dora") else IDLE)
    return words_by_door


def test_no_door_tells_others_what_agents_and_the_inventory_remark(world: SimpleNamespace) -> None:
    for person in (world.readers["oscar"], world.readers["charlie"]):
        for name in FORMATS:
            files.request_rendering(
                report=world.report, edition=world.edition, name=name, user=person, now=timezone.now()
            )
    while Rendering.objects.filter(state__in=Rendering.OPEN_STATES).exists():
        files.carry_out_next(now=timezone.now())
    assert set(Rendering.objects.values_list("state", flat=True)) == {Rendering.State.DONE}
    # The letters of a PDF are packed: what it is made of is read.
    for row in Rendering.objects.all():
        text = serialisation.canonical(serialisation.as_json(files._document_of(row)[0]))
        assert {word for word in SHOWN if word in text} == (set() if row.for_others else SHOWN), row.format
    own = told(world, "bob")
    for address in (f"/reports/editions/{world.edition.permanent_id}/document.json", "archive"):
        assert {word for word in SHOWN if word not in own[address]} == set(), address
    for name in ("charlie", "dora", "nobody"):
        words_by_door = told(world, name)
        assert {
            address: words for address, text in words_by_door.items() if (words := {w for w in SECRETS if w in text})
        } == {}
        # As many files as there are formats, each at its page's address.
        assert len([address for address in words_by_door if address.startswith("/reports/files/")]) == len(FORMATS), (
            words_by_door.keys()
        )


def test_what_others_get_is_a_document_with_its_own_checksum(world: SimpleNamespace) -> None:
    edition = world.edition.for_others()
    assert edition.is_intact
    assert edition.checksum != world.edition.checksum
    assert "are read by the team" in edition.canonical
    assert edition.checksum in told(world, "nobody")[f"/reports/editions/{edition.permanent_id}/"]
    before = serialisation.as_json(world.edition.document)
    after = serialisation.as_json(edition.document)
    differing = [one["key"] for one, other in zip(before["sections"], after["sections"], strict=True) if one != other]
    assert differing == ["testbed"]
    changed = Edition.objects.get(pk=world.edition.pk)
    changed.canonical += " "
    assert not changed.for_others().is_intact
    assert "zqkernel" not in changed.for_others().canonical


def test_a_table_that_the_section_gets_is_withheld_until_it_is_named(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table("of-tomorrow", "zqcaption", (), (), note="zqnote")
    monkeypatch.setattr(section.hosts, "tables_of", lambda _material: [table])
    document = drafts.build(world.report, world.readers["oscar"])
    edition = services.keep_edition(report=world.report, document=document, user=None, now=timezone.now())
    assert "zqcaption" in edition.canonical
    assert "zqcaption" not in edition.for_others().canonical


def test_a_report_tells_facts_and_notes_of_its_own_teams_nodes_only(
    world: SimpleNamespace, cast: SimpleNamespace
) -> None:
    Membership.objects.create(team=cast.other_team, user=cast.oscar, role=Role.OPERATOR)
    other = make.campaign(SimpleNamespace(team=cast.other_team, oscar=cast.charlie), name="Other")
    read = material.read([other, world.campaign], cast.oscar)
    text = serialisation.canonical(
        serialisation.as_json(Document("campaign", "", "", "en", (section.section(read),)))
    )
    assert not {word for word in SECRETS - {IDLE} if word in text}
