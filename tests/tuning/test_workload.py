"""The page that says which file system serves a workload."""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign
from apps.testbeds.models import FileSystem
from tests import factories
from tests.tuning import published

SIZES = {"pattern": "write", "file_size": "4 GiB", "nodes": "9", "tasks": "1"}


@pytest.fixture
def figures(cast: SimpleNamespace) -> None:
    """Have the published figures of a file system whose aggregate grows with the tasks."""
    published.load(cast.team, published.case("write-grows-with-tasks"))


def ask(client: Client, cast: SimpleNamespace, **texts: str) -> object:
    return client.get(reverse("tuning:workload"), {"team": cast.team.pk, **SIZES, **texts})


def test_the_form_comes_first(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    page = client.get(reverse("tuning:workload")).content.decode()
    assert 'name="file_size"' in page
    assert "is-invalid" not in page


def test_nine_nodes_get_what_nine_tasks_got(client: Client, cast: SimpleNamespace, figures: None) -> None:
    client.force_login(cast.bob)
    fits = ask(client, cast, wanted="90 MB/s", total="1 TiB").context["fits"]
    assert fits[0].rate == pytest.approx(101e6, rel=0.1)
    assert fits[0].seconds == pytest.approx(2**40 / fits[0].rate)


def test_without_measurements_it_leads_to_one(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    page = ask(client, cast).content.decode()
    assert reverse("campaigns:recipe", args=["storage-clients"]) in page


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("file_size", ""), ("file_size", "much"), ("file_size", "0"), ("file_size", "9999999999999 TiB"),
        ("nodes", "0"), ("nodes", "x"), ("tasks", "-1"), ("pattern", "sideways"), ("record_size", "-1 B"),
        ("wanted", "fast"),
        ("file_system", "999"), ("team", "999"),
    ],
)  # fmt: skip
def test_what_is_wrong_stands_at_its_field(client: Client, cast: SimpleNamespace, field: str, text: str) -> None:
    client.force_login(cast.bob)
    answer = ask(client, cast, **{field: text})
    assert answer.status_code == 422
    assert field in answer.context["form"].errors


def test_a_file_system_of_another_team_is_refused(client: Client, cast: SimpleNamespace) -> None:
    other = factories.team("Elsewhere", viewer=cast.bob)
    theirs = FileSystem.objects.create(team=other, name="theirs", kind="nfs", mount_path="/theirs")
    client.force_login(cast.bob)
    assert "file_system" in ask(client, cast, file_system=str(theirs.pk)).context["form"].errors


def test_an_operator_drafts_the_measurement_and_a_viewer_does_not(
    client: Client, cast: SimpleNamespace, figures: None
) -> None:
    client.force_login(cast.oscar)
    fits = ask(client, cast, nodes="2").context["fits"]
    place = next(place for place, fit in enumerate(fits) if fit.proposal)
    query = "&".join(f"{name}={value}" for name, value in {"team": cast.team.pk, **SIZES, "nodes": 2}.items())
    address = f"{reverse('tuning:workload_draft')}?{query}"
    answer = client.post(address, {"fit": place})
    made = Campaign.objects.latest("pk")
    assert answer.url == reverse("campaigns:campaign_detail", args=[made.pk])
    assert made.state == "draft"
    for wrong in ("", "99", "x"):
        assert "choose again" in client.post(address, {"fit": wrong}, follow=True).content.decode()
    client.force_login(cast.bob)
    assert client.post(address, {"fit": place}).status_code == 403
    client.force_login(cast.charlie)
    assert client.post(address, {"fit": place}, follow=True).status_code == 422
    client.logout()
    assert client.post(address, {"fit": place}).status_code == 302
    assert client.get(reverse("tuning:workload")).status_code == 302


def test_it_takes_few_queries(
    client: Client, cast: SimpleNamespace, figures: None, django_assert_max_num_queries: object
) -> None:
    client.force_login(cast.bob)
    with django_assert_max_num_queries(30):
        ask(client, cast)
