"""The page of two sites: each layer alone beside the file system, the limit named, and a draft of what is missing."""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Team
from apps.campaigns.models import Campaign
from apps.testbeds.models import Site
from apps.tuning.sites import queries
from tests import factories
from tests.tuning import published


@pytest.fixture
def team(cast: SimpleNamespace) -> Team:
    """Return the team with the published figures of the polarised writes: network, disks, NFS and GPFS."""
    published.load(cast.team, published.case("pdaisy-server-polarised"))
    return cast.team


@pytest.fixture
def address(team: Team) -> str:
    """Return the address of the page of the two sites that were measured."""
    return reverse("tuning:site_layers", args=[site.pk for site in sites(team)])


def sites(team: Team) -> list[Site]:
    return [Site.objects.get(team=team, name=name) for name in ("KISTI", "PNU")]


def test_the_list_leads_to_the_sites_that_were_measured(client: Client, cast: SimpleNamespace, address: str) -> None:
    client.force_login(cast.bob)
    assert address in client.get(reverse("tuning:sites")).content.decode()


def test_an_empty_list_says_what_to_do(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    assert reverse("campaigns:campaign_list") in client.get(reverse("tuning:sites")).content.decode()


def test_layers_stand_side_by_side_and_the_faulty_one_is_named(
    client: Client, cast: SimpleNamespace, team: Team, address: str
) -> None:
    client.force_login(cast.bob)
    page = client.get(address).content.decode()
    assert "the limit" in page
    tables = [table for table in queries.layers_of(*sites(team)).tables if table.layer == "file-system"]
    assert tables, "no table names the file system"
    layers = {row.layer for table in tables for row in table.rows}
    assert {"network", "disk", "file-system"} <= layers


def test_sites_of_nobodys_files_lead_to_a_measurement(client: Client, cast: SimpleNamespace) -> None:
    site = Site.objects.create(team=cast.team, name="Alone")
    client.force_login(cast.bob)
    page = client.get(reverse("tuning:site_layers", args=[site.pk, site.pk])).content.decode()
    assert reverse("campaigns:recipe", args=["storage-clients"]) in page


def test_an_operator_drafts_what_is_missing(client: Client, cast: SimpleNamespace, team: Team, address: str) -> None:
    found = queries.layers_of(*sites(team))
    place = next(place for place, table in enumerate(found.tables) if table.proposals)
    client.force_login(cast.oscar)
    answer = client.post(f"{address}draft/", {"table": place})
    made = Campaign.objects.latest("pk")
    assert answer.url == reverse("campaigns:campaign_detail", args=[made.pk])
    assert made.state == "draft"
    assert made.experiments.count() == len(found.tables[place].proposals)


def test_a_table_that_is_not_there_is_told(client: Client, cast: SimpleNamespace, address: str) -> None:
    client.force_login(cast.oscar)
    before = Campaign.objects.count()
    for table in ("", "999", "-1", "²", "x", "9" * 5000):
        answer = client.post(f"{address}draft/", {"table": table}, follow=True)
        assert "look at the tables again" in answer.content.decode(), table
    assert Campaign.objects.count() == before


def test_strangers_and_other_teams_see_nothing_and_viewers_draft_nothing(
    client: Client, cast: SimpleNamespace, team: Team, address: str
) -> None:
    assert client.get(address).status_code == 302
    client.force_login(cast.charlie)
    assert client.get(address).status_code == 404
    assert client.post(f"{address}draft/", {"table": "0"}).status_code == 404
    assert address not in client.get(reverse("tuning:sites")).content.decode()
    client.force_login(cast.bob)
    place = next(n for n, table in enumerate(queries.layers_of(*sites(team)).tables) if table.proposals)
    assert client.post(f"{address}draft/", {"table": place}).status_code == 403


def test_sites_of_two_teams_have_no_page(client: Client, cast: SimpleNamespace, team: Team) -> None:
    other = factories.team("Elsewhere")
    theirs = Site.objects.create(team=other, name="Theirs")
    other.memberships.create(user=cast.bob, role="viewer")
    client.force_login(cast.bob)
    assert client.get(reverse("tuning:site_layers", args=[sites(team)[0].pk, theirs.pk])).status_code == 404


def test_the_pages_take_few_queries(
    client: Client, cast: SimpleNamespace, address: str, django_assert_max_num_queries: object
) -> None:
    client.force_login(cast.bob)
    for page in (address, reverse("tuning:sites")):
        with django_assert_max_num_queries(30):
            client.get(page)
