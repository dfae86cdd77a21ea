"""The page that imports published figures, and how pages mark what was not measured here."""

from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Team
from apps.campaigns.models import Campaign, Trial
from tests import factories
from tests.campaigns import factories as make
from tests.tuning import published

ADDRESS = "/published/import/"


def send(client: Client, team: Team, text: str, facts: str = "") -> object:
    """Send the form with a file, and a second one if given."""
    files = {"published": SimpleUploadedFile("published.json", text.encode())}
    files |= {"facts": SimpleUploadedFile("facts.json", facts.encode())} if facts else {}
    return client.post(ADDRESS, {"team": team.pk, **files})


def test_the_stranger_and_the_viewer_import_nothing(client: Client, cast: SimpleNamespace) -> None:
    assert client.get(ADDRESS).status_code == 302
    client.force_login(cast.bob)
    assert client.get(ADDRESS).status_code == 403
    assert send(client, cast.team, published.TEXT).status_code == 403
    assert not Campaign.objects.exists()


def test_the_wrong_team_is_no_choice(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.charlie)
    answer = send(client, cast.team, published.TEXT)
    assert answer.status_code == 422
    assert not Campaign.objects.exists()


def test_an_operator_imports_and_sees_cases_and_slips(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.oscar)
    assert 'type="file"' in client.get(ADDRESS).content.decode()
    answer = send(client, cast.team, published.TEXT, published.FACTS)
    page = answer.content.decode()
    assert answer.status_code == 200
    for campaign in Campaign.objects.all():
        assert campaign.get_absolute_url() in page
    assert "its list names 10" in page
    assert Campaign.objects.filter(created_by=cast.oscar, findings__isnull=False).exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [("{", "this is not JSON"), ('{"cases": [{"id": "btio"}]}', "cases[0].given: this is needed")],
)
def test_a_wrong_file_is_refused_on_the_page(client: Client, cast: SimpleNamespace, text: str, problem: str) -> None:
    client.force_login(cast.oscar)
    answer = send(client, cast.team, text)
    assert answer.status_code == 422
    assert problem in answer.content.decode()
    answer = send(client, cast.team, published.TEXT, facts='{"facts": [{}]}')
    assert "facts[0].id: this is needed" in answer.content.decode()
    assert client.post(ADDRESS, {"team": cast.team.pk}).status_code == 422


def test_pages_say_that_figures_are_published(client: Client, cast: SimpleNamespace) -> None:
    campaign = published.load(cast.team, published.CASES["window-limited"]).created[0]
    measured = make.campaign(cast, name="measured")
    client.force_login(cast.bob)
    trial = Trial.objects.filter(experiment__tool="iperf2").first()
    experiment = reverse("results:experiment", args=[trial.experiment_id])
    for address in (campaign.get_absolute_url(), reverse("results:trial", args=[trial.pk]), experiment):
        assert "published figures" in client.get(address).content.decode()
    assert "the TCP window is the limit (160.74" in client.get(campaign.get_absolute_url()).content.decode()
    assert "cases[0].given.measured" in client.get(reverse("results:trial", args=[trial.pk])).content.decode()
    assert "published figures" not in client.get(measured.get_absolute_url()).content.decode()


def test_a_campaigns_page_shows_what_is_printed_without_figures(client: Client, cast: SimpleNamespace) -> None:
    names = ("lan-client-saturation", "gridftp-streams")
    lan, gridftp = published.load(cast.team, *(published.CASES[name] for name in names)).created
    client.force_login(cast.bob)
    page = client.get(lan.get_absolute_url()).content.decode()
    assert "write(clients)" in page
    assert "saturates" in page
    assert "∞" in client.get(gridftp.get_absolute_url()).content.decode()


def test_the_list_tells_them_apart(client: Client, cast: SimpleNamespace) -> None:
    published.load(cast.team, published.CASES["bdp-10ms"])
    make.campaign(cast, name="measured one")
    client.force_login(cast.oscar)
    page = client.get(reverse("campaigns:campaign_list") + "?origin=published").content.decode()
    assert "bdp-10ms" in page
    assert "measured one" not in page
    assert ADDRESS in page
    client.force_login(factories.user("nobody"))
    assert ADDRESS not in client.get(reverse("campaigns:campaign_list")).content.decode()


def test_rest_tells_them_apart(client: Client, cast: SimpleNamespace) -> None:
    published.load(cast.team, published.CASES["bdp-10ms"])
    make.campaign(cast, name="measured one")
    client.force_login(cast.bob)
    found = client.get("/api/v1/campaigns/?origin=published").json()["results"]
    assert [(item["name"], item["origin"]) for item in found] == [("bdp-10ms", "published")]
    client.force_login(cast.charlie)
    assert client.get("/api/v1/campaigns/?origin=published").json()["results"] == []
