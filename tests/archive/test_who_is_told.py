"""Whatever tells of a campaign is told to who may see it, at every door, also when the campaign is gone."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.archive.campaigns.writer import archive_of
from apps.archive.models import Import, ImportItem, IncomingArchive
from apps.bench.text import Message
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Outliving
from apps.comparison.models import SavedView
from apps.reports import drafts
from apps.reports import services as reporting
from apps.reports.document import Document
from apps.reports.models import Report
from apps.tuning.models import Finding, Verification
from tests import factories as people
from tests.archive.exports.conftest import unpacked
from tests.campaigns import factories as make
from tests.rotation import part_of

pytestmark = pytest.mark.django_db
V = Campaign.Visibility
TEAM = {"alice", "oscar", "bob"}
EVERYBODY = {*TEAM, "charlie", "dora", "anybody"}
# Oscar made the campaign; Charlie's team may accept it; Dora's team never does.
CASES = {
    (V.PRIVATE, True): {"oscar"},
    (V.TEAM, True): TEAM,
    (V.SHARED, True): {*TEAM, "charlie"},
    (V.PUBLIC, False): EVERYBODY,
    (V.PUBLIC, True): TEAM,
}
WORD, GAIN, FIGURE = "zqsecret", "1.2389", "77381945"


@dataclass(frozen=True)
class Door:
    """Where something is read: `words` stand there for who may see the campaign and is among `scope`."""

    address: str
    scope: set[str]
    words: str = WORD


@pytest.fixture
def world(cast: SimpleNamespace, pair: list[Any]) -> SimpleNamespace:
    """Return a campaign, and another one that everybody sees whose report, finding and verification tell of it."""
    now = timezone.now()
    dora = people.user("dora")
    people.team("far", manager=dora)
    secret, shown = (make.campaign(cast, name=name) for name in (WORD, "Shown"))
    make.experiment(secret, *pair)
    Campaign.objects.update(state=Campaign.State.FINISHED, launched_at=now, finished_at=now, analysed_at=now)
    Campaign.objects.filter(pk=shown.pk).update(visibility=V.PUBLIC, redacted=False)
    secret.refresh_from_db()
    shown.refresh_from_db()
    own = Report.objects.create(team=cast.team, campaign=secret, language="en", title=WORD)
    other = Report.objects.create(team=cast.team, campaign=shown, language="en", title="Shown", baseline=secret)
    Report.objects.filter(pk=other.pk).update(selection={"also": [secret.permanent_id]})

    def frozen(report: Report, *told: Campaign) -> Any:
        refs = tuple(f"campaign:{campaign.permanent_id}" for campaign in told)
        # A report is called after its own campaign.
        document = Document("campaign", told[0].name, WORD, "en", (), rests_on=refs)
        return reporting.keep_edition(report=report, document=document, user=cast.oscar, now=now, note=WORD)

    editions = frozen(own, secret), frozen(other, shown, secret)
    finding = Finding.objects.create(
        team=cast.team, campaign=shown, rule="tcp-window-knee", title=Message("Finding").as_json(), confidence=0.9,
        details={"evidence": []},
    )  # fmt: skip
    verification = Verification.objects.create(
        finding=finding, campaign=secret, proof={}, verdict="verified", gain=float(GAIN), predicted_gain=1.2
    )
    finding.decisions.create(
        earlier="new", state="verified", verification=verification, note=Message(f"×{GAIN}").as_json()
    )
    imported = Import.objects.create(
        team=cast.team, name=WORD, kind="outputs", state="done", campaign=secret, created_by=cast.oscar
    )
    ImportItem.objects.create(source=imported, position=0, file=WORD, values={"goodput": float(FIGURE)})
    IncomingArchive.objects.create(
        team=cast.team, name=f"{WORD}.zip", size=1, created_by=cast.oscar, campaign=secret, state="done"
    )
    return SimpleNamespace(
        secret=secret, shown=shown, own=own, other=other, editions=editions, finding=finding, imported=imported,
        people={"alice": cast.alice, "oscar": cast.oscar, "bob": cast.bob, "charlie": cast.charlie, "dora": dora},
        team=cast.other_team, node=pair[0],
    )  # fmt: skip


def doors(world: SimpleNamespace) -> Iterator[Door]:
    known = EVERYBODY - {"anybody"}
    for edition in world.editions:
        yield Door(f"/reports/editions/{edition.permanent_id}/", EVERYBODY)
        yield Door(f"/reports/editions/{edition.permanent_id}/document.json", EVERYBODY)
        yield Door(f"/api/v1/editions/{edition.permanent_id}/", known)
        yield Door(f"/api/v1/editions/{edition.permanent_id}/document/", known)
        yield Door("/api/v1/editions/", known, edition.permanent_id)
    yield Door(f"/reports/{world.own.pk}/", TEAM)
    yield Door(f"/api/v1/reports/{world.own.pk}/", TEAM)
    yield Door("/api/v1/reports/", TEAM)
    yield Door("/reports/", TEAM)
    yield Door(f"/reports/{world.other.pk}/", TEAM, f"{world.editions[1].permanent_id}")
    yield Door(f"/api/v1/imports/{world.imported.pk}/", TEAM)
    yield Door("/api/v1/imports/", TEAM)
    yield Door("/imports/", TEAM)
    yield Door("/api/v1/campaign-archives/", TEAM)
    yield Door(f"/findings/{world.finding.pk}/", known, GAIN)
    yield Door(f"/api/v1/findings/{world.finding.pk}/", known, GAIN)
    yield Door(f"/api/v1/findings/{world.finding.pk}/history/", known, GAIN)
    yield Door(f"/api/v1/findings/?campaign={world.shown.pk}", known, GAIN)


def living_doors(world: SimpleNamespace) -> Iterator[Door]:
    """Yield those that tell of the campaign itself, and so of nothing once it is gone."""
    known = EVERYBODY - {"anybody"}
    yield Door(f"/campaigns/{world.secret.pk}/", known)
    yield Door(f"/api/v1/campaigns/{world.secret.pk}/", known)
    yield Door("/api/v1/campaigns/", known)
    yield Door(f"/api/v1/imports/{world.imported.pk}/items/", TEAM, FIGURE)
    yield Door(f"/api/v1/reports/{world.other.pk}/", TEAM, world.secret.permanent_id)
    yield Door("/api/v1/reports/", TEAM, f'"baseline":"{world.secret.permanent_id}"')
    yield Door(f"/inventory/nodes/{world.node.pk}/delete/", {"alice", "oscar"})


def answers(world: SimpleNamespace, addresses: Iterable[str], names: set[str]) -> dict[str, dict[str, str]]:
    """Return {address: {name: what is answered}} of those of `names` who are answered; nothing changes meanwhile."""
    readers = {name: people.signed_in(person) for name, person in world.people.items()} | {"anybody": Client()}
    readers = {name: client for name, client in readers.items() if name in names}
    found: dict[str, dict[str, str]] = {address: {} for address in addresses}
    for address, told in found.items():
        for name, client in readers.items():
            answer = client.get(address)
            assert answer.status_code in (200, 302, 401, 403, 404, 405), (address, answer.status_code)
            if answer.status_code == 200:
                told[name] = answer.content.decode()
    return found


def reading(door: Door, told: dict[str, str]) -> set[str]:
    """Return who reads the words at a door, of what each is answered there."""
    return {name for name, text in told.items() if door.words in text}


def show(world: SimpleNamespace, visibility: str, redacted: bool) -> None:
    world.secret.shares.all().delete()
    if visibility == V.SHARED:
        make.share(world.secret, world.team)
    Campaign.objects.filter(pk=world.secret.pk).update(visibility=visibility, redacted=redacted)


def wrong_at(world: SimpleNamespace, asked: Iterable[tuple[Door, set[str]]], names: set[str]) -> dict[str, Any]:
    """Return {door: (who reads its words, who should)} where these are not the same, of people with these names."""
    asked = list(asked)
    told = answers(world, dict.fromkeys(door.address for door, _seen in asked), names)
    found = [(door, reading(door, told[door.address]), seen & door.scope & names) for door, seen in asked]
    return {
        f"{door.address} {door.words}": (sorted(names), sorted(wanted))
        for door, names, wanted in found
        if names != wanted
    }


def turn_of(case: tuple[V, bool], all_doors: Iterable[Door]) -> list[Door]:
    """Return the doors that a run asks in a case: each door in one case at least, others in other cases."""
    return [door for door, other in part_of(product(all_doors, CASES)) if other == case]


def readers(visibility: str, redacted: bool) -> set[str]:
    """Return who stands for all others: people whose teams are alike to a campaign read the same.

    Where nothing is shared, Dora's team is to it what Charlie's is; where the team sees it, Bob's role is no other
    than Alice's, which may more: he is asked where it is seen by the team alone.
    """
    alike = set() if visibility == V.SHARED else {"dora"}
    return EVERYBODY - alike - (set() if visibility == V.TEAM else {"bob"})


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_each_door_asks_who_may_see_the_campaign_also_when_it_is_gone(
    world: SimpleNamespace, case: tuple[V, bool]
) -> None:
    show(world, *case)
    seen, names = CASES[case], readers(*case)
    lasting, living = turn_of(case, doors(world)), turn_of(case, living_doors(world))
    assert not wrong_at(world, [(door, seen) for door in (*lasting, *living)], names)
    campaigns.delete_campaign(
        campaign=Campaign.objects.get(pk=world.secret.pk), user=world.people["oscar"], now=timezone.now()
    )
    assert not wrong_at(world, [(door, seen) for door in lasting], names)
    # Who saw most before asks for what is gone.
    told = seen & {"oscar", "charlie", "anybody"}
    assert not wrong_at(world, [(door, set()) for door in living], told)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_an_archive_holds_what_its_reader_sees(world: SimpleNamespace, case: tuple[V, bool]) -> None:
    show(world, *case)
    for name, person in world.people.items():
        files = unpacked(b"".join(archive_of(world.shown, now=timezone.now(), reader=person)))
        held = {path for path, data in files.items() if WORD.encode() in data or GAIN.encode() in data}
        wanted = {"findings.jsonl", "reports.jsonl", f"reports/{world.editions[1].permanent_id}.json"}
        assert held == (wanted if name in CASES[case] else set()), name


def test_over_rest_what_stands_in_the_way_has_a_name_for_who_sees_it(world: SimpleNamespace) -> None:
    show(world, V.PRIVATE, True)
    for name, is_told in (("alice", False), ("oscar", True)):
        headers = people.bearer(world.people[name])
        answer = Client().delete(f"/api/v1/nodes/{world.node.pk}/", **headers)
        assert (answer.status_code, WORD in answer.content.decode()) == (409, is_told), name
        assert any("campaign" in text for text in answer.json()["dependents"])


@pytest.mark.parametrize("address", ["/api/v1/editions/", "/api/v1/reports/", "/reports/", "/api/v1/imports/"])
def test_lists_ask_as_often_however_long_they_are(world: SimpleNamespace, address: str) -> None:
    client = people.signed_in(world.people["oscar"])

    def asked() -> int:
        with CaptureQueriesContext(connection) as found:
            assert client.get(address).status_code == 200
        return len(found)

    asked()
    few = asked()
    for number in range(4):
        campaign = make.campaign(SimpleNamespace(team=world.own.team, oscar=world.people["oscar"]), name=f"{number}")
        report = Report.objects.create(
            team=world.own.team, campaign=campaign, language="en", title="x", baseline=world.secret,
            selection={"also": [world.secret.permanent_id]},
        )  # fmt: skip
        document = Document("campaign", "x", "", "en", (), rests_on=(f"campaign:{world.secret.permanent_id}",))
        reporting.keep_edition(report=report, document=document, user=world.people["oscar"], now=timezone.now())
        Import.objects.create(team=world.own.team, name="x", kind="outputs", state="done", campaign=campaign)
    assert asked() <= few


def test_what_a_report_compares_in_saved_views_is_told_of_by_its_editions(world: SimpleNamespace) -> None:
    team, oscar = world.own.team, world.people["oscar"]
    view = SavedView.objects.create(
        team=team, name="Both", query=f"set=campaign:{world.shown.pk}&set=campaign:{world.secret.pk}"
    )
    Report.objects.filter(pk=world.other.pk).update(baseline=None, selection={}, edits={"views": [view.pk]})
    world.other.refresh_from_db()
    show(world, V.PRIVATE, True)
    told = {person: drafts.build(world.other, world.people[person]).rests_on for person in ("oscar", "bob")}
    assert f"campaign:{world.secret.permanent_id}" in told["oscar"]
    assert f"campaign:{world.secret.permanent_id}" not in told["bob"]
    edition = reporting.freeze_report(report=world.other, user=oscar, now=timezone.now())
    door = Door(f"/reports/editions/{edition.permanent_id}/", EVERYBODY, edition.permanent_id)
    assert reading(door, answers(world, [door.address], EVERYBODY)[door.address]) == {"oscar"}


def test_what_outlives_its_campaign_keeps_its_permanent_id() -> None:
    # A series and what a copy was made of are campaigns themselves; a baseline is another campaign's.
    spared = {"campaigns.Campaign.series", "campaigns.Campaign.cloned_from", "reports.Report.baseline"}
    outliving = {
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey)
        and field.related_model is Campaign
        and field.remote_field.on_delete is models.SET_NULL
        and not (issubclass(model, Outliving) and field.name == "campaign")
    }
    assert outliving == spared


def test_what_a_campaign_gave_an_import_goes_with_it(world: SimpleNamespace) -> None:
    assert ImportItem.objects.filter(source=world.imported).exists()
    campaigns.delete_campaign(campaign=world.secret, user=world.people["oscar"], now=timezone.now())
    assert not ImportItem.objects.filter(source=world.imported).exists()
    world.imported.refresh_from_db()
    assert (world.imported.campaign, world.imported.of_campaign) == (None, world.secret.permanent_id)
