"""What pages and REST say of an analysis that waits or failed, to whom, and who may ask for it again."""

import io
import json
import zipfile
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.archive.campaigns.writer import archive_of
from apps.campaigns.models import Campaign
from apps.tuning import services
from apps.tuning.models import Analysis
from apps.tuning.sites import queries as sites
from apps.tuning.workloads import queries as workloads
from tests import factories
from tests.factories import signed_in
from tests.reports.test_report_api import Caller
from tests.tuning import published
from tests.tuning.breaking import IN_WORDS, break_rule, ended, failing
from tests.tuning.test_site_layers import sites as sites_of
from tests.tuning.test_workload import SIZES

RETRY = "Retry the analysis"


@pytest.fixture
def failed(swept: Campaign, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """Return a campaign that has ended, on which a rule failed."""
    with monkeypatch.context() as patch:
        break_rule(patch, "tcp-bdp")
        services.draw_conclusions(campaign=ended(swept), now=timezone.now())
    return Campaign.objects.get(pk=swept.pk)


def panel(user: object, campaign: Campaign) -> str:
    return signed_in(user).get(reverse("tuning:campaign_panel", args=[campaign.pk])).content.decode()


def test_the_campaigns_page_says_pending_until_conclusions_are_drawn(cast: SimpleNamespace, swept: Campaign) -> None:
    assert "conclusions are drawn once the campaign has ended" in panel(cast.bob, swept)
    waiting = ended(swept, analysed=False)
    page = panel(cast.oscar, waiting)
    assert "Analysis pending: no conclusions were drawn" in page
    assert "No finding yet" not in page
    assert RETRY not in page
    assert "Analysis" not in panel(cast.bob, ended(swept))


def test_the_campaigns_page_names_the_rule_and_offers_a_retry_to_operators(
    cast: SimpleNamespace, failed: Campaign
) -> None:
    page = panel(cast.oscar, failed)
    assert f"Analysis failed: rule {IN_WORDS}: ValueError: math domain error" in page
    assert "What the other rules say is complete." in page
    assert "tcp_rmem" in page
    assert RETRY in page
    assert RETRY not in panel(cast.bob, failed)


def test_the_findings_page_names_it_to_those_who_may_see_it(cast: SimpleNamespace, failed: Campaign) -> None:
    address = reverse("tuning:list")
    page = signed_in(cast.bob).get(address).content.decode()
    assert "Not all conclusions are here" in page
    assert "rule tcp-bdp" in page
    assert "rule tcp-bdp" not in signed_in(cast.charlie).get(address).content.decode()


def test_a_retry_on_the_page_is_for_operators(client: Client, cast: SimpleNamespace, failed: Campaign) -> None:
    address = reverse("tuning:analyse", args=[failed.pk])
    assert client.post(address).status_code == 302
    assert "/login" in client.post(address).url or "accounts" in client.post(address).url
    assert signed_in(cast.charlie).post(address).status_code == 404
    assert signed_in(cast.bob).post(address).status_code == 403
    assert signed_in(cast.oscar).get(address).status_code == 405
    assert Campaign.objects.get().analysed_at
    answer = signed_in(cast.oscar).post(address, follow=True)
    assert "analysed again" in answer.content.decode()
    assert Campaign.objects.get().analysed_at is None
    again = signed_in(cast.oscar).post(address, follow=True).content.decode()
    assert "wait a moment" in again


def test_rest_tells_and_retries(client: Client, cast: SimpleNamespace, failed: Campaign) -> None:
    one, retry = f"/api/v1/analyses/{failed.pk}/", f"/api/v1/analyses/{failed.pk}/retry/"
    for address in ("/api/v1/analyses/", one):
        assert client.get(address).status_code == 401
    assert client.post(retry).status_code == 401
    charlie, bob, oscar = Caller(cast.charlie), Caller(cast.bob), Caller(cast.oscar)
    charlie("GET", one, status=404)
    charlie("POST", retry, status=404)
    assert charlie("GET", "/api/v1/analyses/", status=200) == []
    told = bob("GET", one, status=200)
    assert (told["state"], told["attempts"], told["error"]) == ("failed", 1, "")
    assert [(item["rule"], item["error"]) for item in told["failures"]] == [
        ("tcp-bdp", "ValueError: math domain error")
    ]
    assert bob("GET", "/api/v1/analyses/", status=200) == [told]
    bob("POST", retry, status=403)
    assert oscar("POST", retry, status=200)["state"] == "pending"
    assert "wait a moment" in oscar("POST", retry, status=409)["detail"]
    Campaign.objects.update(state="running")
    assert "has not ended" in oscar("POST", retry, status=409)["detail"]
    assert Analysis.objects.get().attempts == 0


@pytest.fixture
def layers(cast: SimpleNamespace) -> tuple[str, str]:
    """Return the page of two measured sites, and its REST twin."""
    published.load(cast.team, published.case("pdaisy-server-polarised"))
    pair = [site.pk for site in sites_of(cast.team)]
    return reverse("tuning:site_layers", args=pair), "/api/v1/site-layers/{}/{}/".format(*pair)


def test_layers_between_sites_stand_although_a_rule_fails(
    cast: SimpleNamespace, layers: tuple[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    page, rest = layers
    whole = Caller(cast.bob)("GET", rest, status=200)
    assert whole["failures"] == []
    break_rule(monkeypatch, "storage-gpfs-client")
    text = signed_in(cast.bob).get(page).content.decode()
    assert "Rule storage-gpfs-client failed: ValueError: math domain error" in text
    assert "The others are complete." in text
    told = Caller(cast.bob)("GET", rest, status=200)
    assert told["tables"] == whole["tables"]
    assert [item["rule"] for item in told["failures"]] == ["storage-gpfs-client"]
    rest_of = [item for item in whole["findings"] if item["rule"] != "storage-gpfs-client"]
    assert [item["rule"] for item in told["findings"]] == [item["rule"] for item in rest_of]
    assert 0 < len(rest_of) < len(whole["findings"])
    assert "Rule storage-gpfs-client failed between" in caplog.text


def test_findings_stand_although_the_tables_fail(
    cast: SimpleNamespace, layers: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page, rest = layers
    monkeypatch.setattr(sites.layers, "table", failing)
    text = signed_in(cast.bob).get(page).content.decode()
    assert "Rule layers-table failed" in text
    assert "No file system was measured between" not in text
    told = Caller(cast.bob)("GET", rest, status=200)
    assert told["tables"] == []
    assert told["findings"]
    Caller(cast.oscar)("POST", f"{rest}draft/", {"table": 0}, status=400)


def test_a_fit_that_fails_is_said(cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    published.load(cast.team, published.case("write-grows-with-tasks"))
    monkeypatch.setattr(workloads.workloads, "fit", failing)
    asked = {"team": cast.team.pk, **SIZES}
    text = signed_in(cast.bob).get(reverse("tuning:workload"), asked).content.decode()
    assert "The fit of a workload could not be computed (ValueError: math domain error)" in text
    assert "No file system was measured for this" not in text
    answer = Client().get("/api/v1/workload/", asked | {"team": "grid"}, **factories.bearer(cast.bob, "read"))
    assert answer.status_code == 409, answer.content
    assert "math domain error" in answer.json()["detail"]


def test_an_archive_has_a_failed_analysis_carried_out_anew(failed: Campaign) -> None:
    def about() -> dict:
        pieces = b"".join(archive_of(Campaign.objects.get(), now=timezone.now()))
        with zipfile.ZipFile(io.BytesIO(pieces)) as archive:
            return json.loads(archive.read("campaign.json"))["campaign"]

    assert about()["analysed_at"] is None
    services.draw_conclusions(campaign=failed, now=timezone.now())
    assert about()["analysed_at"]
