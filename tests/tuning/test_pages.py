"""Pages and REST of findings: what they show, and to whom."""

import json
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign
from apps.tuning import services
from apps.tuning.models import Finding
from tests import factories


@pytest.fixture
def finding(swept: Campaign) -> Finding:
    services.refresh_findings(campaign=swept)
    return swept.findings.get(rule="tcp-sysctl")


def addresses(finding: Finding) -> list[str]:
    return [reverse("tuning:detail", args=[finding.pk]), f"/api/v1/findings/{finding.pk}/"]


def test_the_stranger_the_wrong_team_and_the_viewer(client: Client, finding: Finding, cast: SimpleNamespace) -> None:
    page, rest = addresses(finding)
    assert client.get(page).status_code == 302
    assert client.get(rest).status_code == 401
    client.force_login(cast.charlie)
    assert client.get(page).status_code == 404
    assert client.get(rest).status_code == 404
    assert client.get(reverse("tuning:list")).content.decode().count("tcp_rmem") == 0
    client.force_login(cast.bob)
    assert client.get(page).status_code == 200
    assert client.get(rest).status_code == 200
    assert client.post(reverse("tuning:decide", args=[finding.pk]), {"state": "accepted"}).status_code == 403


def test_the_page_shows_lines_formula_and_evidence(client: Client, finding: Finding, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    page = client.get(reverse("tuning:detail", args=[finding.pk])).content.decode()
    assert "net.ipv4.tcp_rmem" in page
    assert reverse("results:trial", args=[finding.trials.first().pk]) in page
    assert "Accept" not in page


def test_the_list_filters_by_state(client: Client, finding: Finding, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    assert f"/findings/{finding.pk}/" in client.get(reverse("tuning:list")).content.decode()
    assert f"/findings/{finding.pk}/" not in client.get(reverse("tuning:list") + "?state=accepted").content.decode()
    assert f"/findings/{finding.pk}/" in client.get(reverse("tuning:list") + "?state=nonsense").content.decode()


def test_an_operator_accepts_and_dismisses_with_a_reason(
    client: Client, finding: Finding, cast: SimpleNamespace
) -> None:
    client.force_login(cast.oscar)
    decide = reverse("tuning:decide", args=[finding.pk])
    client.post(decide, {"state": "accepted"})
    finding.refresh_from_db()
    assert finding.state == "accepted"
    page = client.post(decide, {"state": "dismissed"}, follow=True).content.decode()
    assert "Say why" in page
    page = client.post(decide, {"state": "nonsense"}, follow=True).content.decode()
    assert "Choose accept" in page
    finding.refresh_from_db()
    assert finding.state == "accepted"
    client.post(decide, {"state": "dismissed", "reason": "measured at night"})
    finding.refresh_from_db()
    assert finding.state_reason == "measured at night"


def test_the_campaigns_panel_has_its_findings(client: Client, finding: Finding, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    address = reverse("tuning:campaign_panel", args=[finding.campaign_id])
    assert "tcp_rmem" in client.get(address).content.decode()
    client.force_login(cast.charlie)
    assert "tcp_rmem" not in client.get(address).content.decode()


def test_no_findings_say_what_is_needed(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.charlie)
    assert "No findings yet" in client.get(reverse("tuning:list")).content.decode()


def test_rest_decides_too(client: Client, finding: Finding, cast: SimpleNamespace) -> None:
    path = f"/api/v1/findings/{finding.pk}/decide/"

    def post(body: dict[str, str], person: object) -> int:
        return client.post(path, json.dumps(body), "application/json", **factories.bearer(person)).status_code

    assert post({"state": "accepted"}, cast.bob) == 403
    assert post({"state": "accepted"}, cast.charlie) == 404
    assert post({"state": "loved"}, cast.oscar) == 400
    assert post({"state": "dismissed"}, cast.oscar) == 400
    assert post({"state": "accepted"}, cast.oscar) == 200


def test_a_list_costs_the_same_queries_however_long(
    client: Client, finding: Finding, cast: SimpleNamespace, django_assert_max_num_queries
) -> None:
    client.force_login(cast.bob)
    with django_assert_max_num_queries(13):
        client.get(reverse("tuning:list"))


@pytest.mark.parametrize(("kind", "is_gain"), [("recommendation", True), ("no-change", False)])
def test_what_is_to_stay_is_no_gain(
    kind: str, is_gain: bool, client: Client, finding: Finding, cast: SimpleNamespace
) -> None:
    details = {**finding.details, "predicted": 100e6, "predicted_unit": "bit/s"}
    gain = 1.5 if is_gain else 1.0
    Finding.objects.filter(pk=finding.pk).update(kind=kind, details=details, predicted_gain=gain)
    client.force_login(cast.bob)
    page = client.get(reverse("tuning:detail", args=[finding.pk])).content.decode()
    assert ("figure-gain" in page) is is_gain
