"""What a frozen report holds of agents' facts and of notes is read by its own team, at every door of an edition."""

import zipfile
from collections.abc import Iterator
from datetime import timedelta
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation

from apps.accounts.models import Membership, Role
from apps.agents.models import FactSnapshot
from apps.archive.campaigns.writer import archive_of
from apps.bench.comparison import comparability
from apps.campaigns.models import Campaign
from apps.comparison.comparisons.choice import choose
from apps.comparison.comparisons.comparison import compare
from apps.comparison.comparisons.gathering import gather
from apps.comparison.comparisons.sets import ResultSet
from apps.comparison.comparisons.state import ComparisonState
from apps.core import messages, queue
from apps.reports import drafts, serialisation, services
from apps.reports.campaign import inventory as section
from apps.reports.campaign import material
from apps.reports.document import Document, Paragraph, Table, joined, walk
from apps.reports.files import services as files
from apps.reports.files.formats import FORMATS
from apps.reports.models import Delivery, Edition, Rendering, Schedule
from apps.testbeds.models import Cluster, FileSystem, Link, Node, NodeAddress, Site, Switch, Testbed
from tests import factories as people
from tests.campaigns import factories as make
from tests.reports import whole

pytestmark = pytest.mark.django_db
# A word for each thing that only the team reads, which stands in nothing else.
NOTED = {kind: f"zqnote{kind.__name__.lower()}" for kind in (Cluster, FileSystem, Link, Node, Site, Switch, Testbed)}
FACTS = {
    "kernel": {"release": "6.1.0-zqkernel"},
    "os": {"name": "zqos"},
    "cpu": {"model": "zqcpu", "threads": 16, "caches": {"zqcache": 32768}},
    "memory": {"ram_bytes": 2**35},
    "interfaces": [{"name": "zqeth", "mtu": 9000, "driver": "zqdriver", "speed_bps": 10**10, "duplex": "zqduplex"}],
    "congestion_controls": {"current": "zqcontrol"},
    "mounts": [{"target": "/gpfs", "type": "zqtype", "source": "zqsource", "options": "zqoptions"}],
    "tools": {name: {"path": f"/usr/bin/{name}", "version": f"zq{name} 4.1"} for name in ("mpirun", "gcc", "srun")},
    "sysctls": {"net.zqsetting": "zqvalue"},
}
IN_FACTS = {"zqkernel", "zqcache", "zqmpirun", "zqgcc", "zqsrun", "zqsetting", "zqvalue"}
# What only the team reads of how campaigns were measured: every name that facts bear in a comparison.
BEFORE = {
    **FACTS,
    "kernel": {"release": "zqearlier"},
    "sysctls": {"net.zqsetting": "zqvalue before", "net.zqearlier": "zqearlier"},
}
IDLE = "zqidle"
SHOWN = IN_FACTS | {NOTED[kind] for kind in (Cluster, FileSystem, Link, Testbed)} | {IDLE}
SECRETS = IN_FACTS | set(NOTED.values()) | {IDLE, "zqearlier", "zqos", "zqcpu", "zqeth", "zqdriver", "zqduplex"}
SECRETS |= {"zqcontrol", "zqtype", "zqsource", "zqoptions"}


@pytest.fixture
def world(cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return a public campaign with every kind of block, its frozen report beside a baseline, and who may read it."""
    monkeypatch.setattr(queue, "send", lambda *_given: None)
    monkeypatch.setattr(whole, "FACTS", FACTS)
    monkeypatch.setattr(comparability, "MOST_NAMES", 1000)
    baseline, campaign = whole.campaign(cast, name="Before"), whole.campaign(cast)
    told_of(baseline, BEFORE)
    told_of(campaign, BEFORE, FACTS)
    (idle,) = make.nodes(cast.team, IDLE)
    Cluster.objects.get(nodes__name="Whole-a").nodes.add(idle)
    for kind, word in NOTED.items():
        kind._default_manager.update(notes=f"{word} here")
    Campaign.objects.update(visibility=Campaign.Visibility.PUBLIC, redacted=False)
    report = services.begin_report(campaign=campaign, user=cast.oscar, language="en")
    services.set_scope(report=report, user=cast.oscar, baseline=baseline, also=[])
    document = drafts.build(report, cast.oscar)
    edition = services.keep_edition(report=report, document=document, user=cast.oscar, now=timezone.now())
    readers = {"oscar": cast.oscar, "bob": cast.bob, "charlie": cast.charlie, "dora": people.user("dora")}
    schedule = Schedule.objects.create(
        team=cast.team, report=report, name="Weekly", cron="0 7 * * *", saved_by=cast.oscar, language="en"
    )
    Delivery.objects.create(schedule=schedule, edition=edition, due_at=timezone.now(), look_at=timezone.now())
    return SimpleNamespace(
        baseline=baseline, campaign=campaign, report=report, edition=edition, readers=readers, schedule=schedule
    )


def told_of(campaign: Campaign, *facts: dict[str, Any]) -> None:
    """Have the agent of each node tell facts before the campaign, and others between its repetitions."""
    now = timezone.now()
    campaign.trials.filter(repetition=1).update(finished_at=now - timedelta(hours=2))
    for node in Node.objects.filter(name__startswith=campaign.name):
        address = NodeAddress.objects.get(node=node).address
        for number, told_then in enumerate(facts):
            (interface,) = told_then["interfaces"]
            interfaces = [{**interface, "mtu": 9000 - number, "addresses": [f"{address}/24"]}]
            whole_facts = {**told_then, "interfaces": interfaces}
            snapshot = FactSnapshot.objects.create(node=node, digest=f"{number}", facts=whole_facts)
            at = now - timedelta(hours=3 if number == 0 else 1)
            FactSnapshot.objects.filter(pk=snapshot.pk).update(created_at=at)


def names_of(world: SimpleNamespace, reader: str) -> set[str]:
    """Return what a reader's own comparison of both campaigns, and of the one alone, says that differs."""
    sets = [ResultSet(numbers=(("campaign", item.pk),)) for item in (world.baseline, world.campaign)]
    states = ComparisonState(sets=tuple(sets)), ComparisonState(sets=(sets[1],))
    compared = [compare(gather(choose(state, world.readers[reader]))) for state in states]
    return {item.name for comparison in compared for item in comparison.deviations}


def remarks_in(canonical: str) -> list[str]:
    """Return what a document's remarks and warnings say."""
    blocks = walk(serialisation.from_text(canonical))
    return [joined(item.parts) for item in blocks if isinstance(item, Paragraph) and item.style != "statement"]


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
        schedule = world.schedule.pk
        addresses += ["/api/v1/report-schedules/", f"/api/v1/report-schedules/{schedule}/deliveries/"]
        addresses += [world.schedule.get_absolute_url()]
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
    names = names_of(world, "bob") - names_of(world, "charlie")
    assert {"Kernel (Client)", "net.zqsetting (Client)", "MTU (Client)"} <= names
    assert {name for name in names if name not in own[f"/reports/editions/{world.edition.permanent_id}/"]} == set()
    secrets = SECRETS | names
    for name in ("charlie", "dora", "nobody"):
        words_by_door = told(world, name)
        assert {
            address: words for address, text in words_by_door.items() if (words := {w for w in secrets if w in text})
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
    assert differing == ["testbed", "results", "baseline"]
    # Those remarks say what a comparison with the rights of others does: as many things, of the same names.
    state = ComparisonState(
        sets=tuple(
            ResultSet(numbers=(("experiment", item.experiments.get(name="windows").pk),), label=item.name)
            for item in (world.baseline, world.campaign)
        ),
        metric="goodput",
    )
    by_reader = [
        [messages.render(remark.message) for remark in compare(gather(choose(state, reader))).remarks]
        for reader in (world.readers["bob"], world.readers["charlie"])
    ]
    (own, others) = ([text for text in texts if "things that were recorded differ" in text] for texts in by_reader)
    assert own != others
    assert others[0] in remarks_in(edition.canonical)
    assert own[0] in remarks_in(world.edition.canonical)
    changed = Edition.objects.get(pk=world.edition.pk)
    changed.canonical += " "
    assert not changed.for_others().is_intact
    assert "zqkernel" not in changed.for_others().canonical


def test_what_was_frozen_before_blocks_were_marked_is_withheld_by_its_words(world: SimpleNamespace) -> None:
    for language in ("en", "ko"):
        world.report.language = language
        data = serialisation.as_json(drafts.build(world.report, world.readers["oscar"]))
        del data["is_marked"]
        for part in _sections(data):
            for block in part["blocks"]:
                block.pop("others", None)
        edition = Edition(canonical=serialisation.canonical(data))
        with translation.override(language):
            names = names_of(world, "bob") - names_of(world, "charlie")
        assert {name for name in names if name not in edition.canonical} == set()
        secrets = SECRETS | names | {"iperf3 -w 256K", "The window fills no path."}
        assert {word for word in secrets if word in edition.for_others().canonical} == set()


def _sections(whole_part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for part in whole_part["sections"]:
        yield part
        yield from _sections(part)


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
