"""What a finding says of how nodes are set is for their team, at every door; others get what there is to do."""

import json
from types import SimpleNamespace

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Membership, Role
from apps.agents.models import FactSnapshot
from apps.archive.campaigns.writer import archive_of
from apps.campaigns.models import Campaign
from apps.reports import drafts, serialisation
from apps.reports import services as reports
from apps.reports.campaign import build
from apps.testbeds.models import Node
from apps.tuning import services
from tests import factories as people
from tests.campaigns import factories as make
from tests.reports.test_withheld import read_in
from tests.tuning.breaking import ended

# The least of a triple, and a maximum, which stand in nothing else.
SECRETS = ("4093 87383 174763", "131077", "87383")
SYSCTLS = {
    "net.core.rmem_max": "131077",
    "net.core.wmem_max": "131077",
    "net.ipv4.tcp_rmem": "4093 87383 174763",
    "net.ipv4.tcp_wmem": "4093 87383 174763",
}


@pytest.fixture
def world(swept: Campaign, pair: list[Node], cast: SimpleNamespace) -> SimpleNamespace:
    """Return a campaign that is public with its names, its findings of told settings, and its frozen report."""
    for node in pair:
        snapshot = FactSnapshot.objects.create(node=node, digest="set", facts={"sysctls": SYSCTLS})
        FactSnapshot.objects.filter(pk=snapshot.pk).update(created_at=timezone.now())
    services.refresh_findings(campaign=swept)
    ended(swept)
    Campaign.objects.update(visibility=Campaign.Visibility.PUBLIC, redacted=False)
    finding = swept.findings.get(rule="tcp-sysctl")
    finding.verifications.create(proof=finding.details["proof"])
    report = reports.begin_report(campaign=swept, user=cast.oscar, language="en")
    document = drafts.build(report, cast.oscar)
    edition = reports.keep_edition(report=report, document=document, user=cast.oscar, now=timezone.now())
    return SimpleNamespace(campaign=Campaign.objects.get(), finding=finding, edition=edition, cast=cast)


def told(world: SimpleNamespace, name: str) -> dict[str, str]:
    """Return {door: what it answers} of all doors of findings that a reader may open."""
    person = getattr(world.cast, name)
    client, pk = people.signed_in(person), world.finding.pk
    edition = world.edition.permanent_id
    addresses = [
        reverse("tuning:detail", args=[pk]),
        reverse("tuning:verifications", args=[pk]),
        reverse("tuning:campaign_panel", args=[world.campaign.pk]),
        f"/api/v1/findings/{pk}/",
        f"/api/v1/findings/?campaign={world.campaign.pk}",
        f"/api/v1/findings/{pk}/history/",
        f"/api/v1/findings/{pk}/proposals/",
        f"/reports/editions/{edition}/",
        f"/reports/editions/{edition}/document.json",
    ]
    words_by_door = {}
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 200, address
        words_by_door[address] = answer.content.decode()
    words_by_door["archive"] = read_in(b"".join(archive_of(world.campaign, now=timezone.now(), reader=person)))
    words_by_door["list"] = client.get(reverse("tuning:list")).content.decode()
    return words_by_door


def test_no_door_tells_other_teams_how_nodes_are_set(world: SimpleNamespace) -> None:
    own = told(world, "bob")
    silent = [door for door, text in own.items() if not any(secret in text for secret in SECRETS)]
    assert [door.strip("/").rpartition("/")[2] for door in silent] == [
        "verifications",
        "history",
        "proposals",
        "list",
    ]
    others = told(world, "charlie")
    assert {door: text for door, text in others.items() if any(secret in text for secret in SECRETS)} == {}
    assert "limits of" in others[f"/api/v1/findings/{world.finding.pk}/"]


def test_no_door_tells_other_teams_what_a_title_brings_and_does_not_say(world: SimpleNamespace) -> None:
    title = world.finding.title | {"params": world.finding.title["params"] | {"size": "zqsize"}}
    world.campaign.findings.filter(rule="tcp-sysctl").update(
        title=title, details=world.finding.details | {"title": title}
    )
    own, others = (
        [door for door, text in told(world, name).items() if "zqsize" in text] for name in ("bob", "charlie")
    )
    assert "archive" in own
    assert others == []


def test_others_get_the_conclusion_with_its_figures(world: SimpleNamespace) -> None:
    address = f"/api/v1/findings/{world.finding.pk}/"
    own, other = (people.signed_in(person).get(address).json() for person in (world.cast.bob, world.cast.charlie))
    differing = {name for name in own if own[name] != other[name]}
    assert differing == {"change", "undo", "details", "verifications"}
    assert own["details"]["present"] == other["details"]["present"]
    assert other["details"]["proof"]["now"] == {"window": 0, "streams": 1}


def test_a_report_of_another_team_tells_of_its_own_nodes_only(world: SimpleNamespace) -> None:
    cast = world.cast
    Membership.objects.create(team=cast.other_team, user=cast.oscar, role=Role.OPERATOR)
    theirs = make.campaign(SimpleNamespace(team=cast.other_team, oscar=cast.charlie), name="Theirs")
    document = build([theirs, world.campaign], user=cast.oscar, language="en")
    text = serialisation.canonical(serialisation.as_json(document))
    assert "limits of" in text
    assert not [secret for secret in SECRETS if secret in text]


def test_what_others_read_of_a_report_is_sound(world: SimpleNamespace) -> None:
    canonical = world.edition.for_others().canonical
    assert serialisation.canonical(serialisation.as_json(serialisation.from_text(canonical))) == canonical
    assert "others" not in json.dumps([list(section) for section in json.loads(canonical)["sections"]])
