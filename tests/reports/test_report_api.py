"""Reports and editions over REST."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from apps.campaigns.models import Campaign
from apps.reports import serialisation
from apps.reports.models import Report
from tests import factories
from tests.comparison.comparisons import conftest as measured
from tests.tuning.breaking import ended

REPORTS, EDITIONS = "/api/v1/reports/", "/api/v1/editions/"


class Caller:
    """Calls as a person does with a token."""

    def __init__(self, user: Any, scope: str = "write") -> None:
        self._client, self._headers = Client(), factories.bearer(user, scope)

    def __call__(self, method: str, address: str, data: object = None, *, status: int) -> Any:
        answer = self._client.generic(
            method, address, json.dumps(data or {}), content_type="application/json", **self._headers
        )
        assert answer.status_code == status, answer.content[:500]
        return json.loads(answer.content) if answer.content else None


@pytest.fixture
def campaign(cast: SimpleNamespace) -> Campaign:
    """Return a campaign of 4 trials."""
    factors = [{"name": "window", "expression": "64KiB, 128KiB"}]
    a, b = measured.make.nodes(cast.team, "kisti01", "pnu01")
    return ended(measured.swept(cast, [a, b], "Windows", factors=factors, fixed={"streams": "1"}, repetitions=2))


def test_a_report_is_begun_changed_frozen_and_its_edition_read(cast: SimpleNamespace, campaign: Campaign) -> None:
    oscar, bob = Caller(cast.oscar), Caller(cast.bob)
    wish = {"campaign": campaign.permanent_id, "language": "en"}
    made = oscar("POST", REPORTS, wish, status=201)
    assert oscar("POST", REPORTS, wish, status=201)["id"] == made["id"]
    own = f"{REPORTS}{made['id']}/"
    other = ended(Campaign.objects.create(team=cast.team, name="Other"))
    change = {
        "edits": {"words": {"purpose": "To see."}},
        "baseline": other.permanent_id,
        "also": [other.permanent_id],
    }
    assert oscar("PATCH", own, change, status=200)["also"] == [other.permanent_id]
    # What is left out stays.
    kept = oscar("PATCH", own, {"baseline": None}, status=200)
    assert (kept["baseline"], kept["also"], kept["edits"]) == (None, [other.permanent_id], change["edits"])
    document = bob("GET", f"{own}document/", status=200)
    assert serialisation.from_json(document).title == "Windows"
    assert document["sections"][0]["blocks"][0]["parts"] == ["To see."]
    edition = oscar("POST", f"{own}freeze/", {"note": "One", "after": 0}, status=201)
    # Sent again, for the answer was lost: it is the same edition.
    again = oscar("POST", f"{own}freeze/", {"note": "One", "after": 0}, status=200)
    assert again["id"] == edition["id"]
    assert (edition["number"], edition["note"], edition["created_by"]) == (1, "One", "oscar")
    again = bob("GET", f"{EDITIONS}{edition['id']}/", status=200)
    assert again == edition
    text = bob._client.get(f"{EDITIONS}{edition['id']}/document/", **bob._headers).content.decode()
    assert serialisation.checksum(text) == edition["checksum"]
    assert bob("GET", f"{EDITIONS}?report={made['id']}", status=200)["count"] == 1
    assert "editions" in oscar("DELETE", own, status=409)["detail"]


def test_strangers_viewers_and_reading_tokens_change_nothing(cast: SimpleNamespace, campaign: Campaign) -> None:
    report = Report.objects.create(team=cast.team, campaign=campaign, language="en", title="x")
    wish, own = {"campaign": campaign.permanent_id, "language": "ko"}, f"{REPORTS}{report.pk}/"
    bob, charlie, reader = Caller(cast.bob), Caller(cast.charlie), Caller(cast.oscar, "read")
    bob("POST", REPORTS, wish, status=403)
    reader("POST", REPORTS, wish, status=403)
    assert "campaign" in charlie("POST", REPORTS, wish, status=400)["fields"]
    for method, address in (("PATCH", own), ("DELETE", own), ("POST", f"{own}freeze/")):
        bob(method, address, {"edits": {}} if method == "PATCH" else {}, status=403)
        reader(method, address, status=403)
        charlie(method, address, status=404)
    charlie("GET", own, status=404)
    assert charlie("GET", REPORTS, status=200)["count"] == 0
    charlie("GET", f"{EDITIONS}r-none/", status=404)


def test_what_is_wrong_is_named(cast: SimpleNamespace, campaign: Campaign) -> None:
    report = Report.objects.create(team=cast.team, campaign=campaign, language="en", title="x")
    oscar = Caller(cast.oscar)
    for wish, field in (
        ({"edits": {"words": []}}, "edits.words"),
        ({"edits": "x"}, "edits"),
        ({"baseline": "nothing"}, "baseline"),
        ({"also": ["nothing"]}, "also"),
    ):
        answer = oscar("PATCH", f"{REPORTS}{report.pk}/", wish, status=400)
        assert list(answer["fields"]) == [field]
