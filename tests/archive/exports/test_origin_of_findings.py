"""What an archive says was verified or refuted is its word: it is shown as that, and counts for nothing here."""

import json
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.archive.campaigns import form
from apps.campaigns.models import Campaign
from apps.reports import overview
from apps.reports.campaign import build
from apps.reports.claims import checks
from apps.reports.document import Table, walk
from apps.reports.overview.selection import DATES, Selection
from apps.tuning import queries
from apps.tuning.models import Finding, Verification
from tests import factories
from tests.archive.exports.conftest import lines, repacked, unpacked
from tests.archive.exports.test_archives import came_in, packed, wipe
from tests.archive.exports.test_hostile_archives import summed
from tests.reports.texts import lines_of

FAR = "Laboratory <b>far</b> away"


@pytest.fixture
def proved(finished: Campaign) -> Campaign:
    """Return the campaign with a recommendation that was verified, and another finding that was refuted."""
    advice = finished.findings.order_by("pk")[0]
    Finding.objects.filter(pk=advice.pk).update(kind=Finding.Kind.RECOMMENDATION)
    judge(advice, "verified")
    judge(finished.findings.exclude(pk=advice.pk)[0], "refuted")
    return finished


def judge(finding: Finding, verdict: str) -> None:
    """Have a finding verified or refuted here, as predicted."""
    Verification.objects.create(
        finding=finding, proof={}, verdict=verdict, gain=1.2, predicted_gain=1.2, judged_at=timezone.now()
    )
    Finding.objects.filter(pk=finding.pk).update(state=verdict)


def brought(campaign: Campaign, cast: SimpleNamespace, *, origin: str | None = "") -> Campaign:
    """Return what comes of the campaign's archive, whose word of the origin is another, or missing."""
    files = unpacked(packed(campaign))
    if origin != "":
        found: list[dict[str, Any]] = lines(files[form.FINDINGS])
        for record in (*found, *(item for line in found for item in line["verifications"])):
            record.pop("origin")
            if origin:
                record["origin"] = origin
        files[form.FINDINGS] = b"".join(json.dumps(line).encode() + b"\n" for line in found)
    wipe("campaigns_campaign")
    return came_in(repacked(summed(files).items()), cast.team, cast.oscar)


@pytest.mark.parametrize(("origin", "shown"), [("", "grid"), (FAR, FAR), (None, "grid")])
def test_it_is_shown_with_its_origin_and_is_in_no_count_of_ours(
    proved: Campaign, cast: SimpleNamespace, client: Client, origin: str | None, shown: str
) -> None:
    assert queries.calibration_for(cast.alice).judged == 2
    assert b"imported from" not in factories.signed_in(cast.alice).get("/findings/").content
    new = brought(proved, cast, origin=origin)
    assert {"refuted", "verified"} <= set(new.findings.values_list("state", flat=True))
    assert queries.calibration_for(cast.alice) == queries.Calibration(0, 0, 0, 0)
    finding = new.findings.get(state="verified")
    assert finding.judged_elsewhere == shown
    client.force_login(cast.alice)
    told = client.get(f"/api/v1/findings/{finding.pk}/").json()
    assert (told["imported_from"], told["verifications"][0]["imported_from"]) == (shown, shown)
    assert client.get("/api/v1/findings/calibration/").json()["judged"] == 0
    escaped = shown.replace("<", "&lt;").replace(">", "&gt;")
    for page in ("/findings/", f"/findings/{finding.pk}/"):
        assert f"imported from {escaped}" in client.get(page).content.decode()
    assert "verified by measuring elsewhere, imported from" in str(build([new], user=cast.alice, language="en"))


def test_what_is_measured_here_afterwards_counts(proved: Campaign, cast: SimpleNamespace) -> None:
    new = brought(proved, cast)
    finding = new.findings.get(state="verified")
    judge(finding, "verified")
    finding.refresh_from_db()
    assert queries.calibration_for(cast.alice) == queries.Calibration(1, 1, 0, 1)
    assert (finding.imported_from, finding.judged_elsewhere) == ("grid", "")


def words_of(campaign: Campaign, cast: SimpleNamespace) -> str:
    """Return the words of a campaign's report, every sentence of which its tables bear out."""
    document = build([campaign], user=cast.alice, language="en")
    assert checks.check(document) == []
    return " ".join([*lines_of(document.summary), *lines_of(walk(document))])


def test_a_report_counts_as_verified_what_was_measured_here(proved: Campaign, cast: SimpleNamespace) -> None:
    assert ", 1 was verified by measuring." in words_of(proved, cast)
    new = brought(proved, cast)
    words = words_of(new, cast)
    assert "verified by measuring." not in words
    assert ", 1 was verified elsewhere." in words
    assert "gain of ×1.2 realised elsewhere" in words
    assert "Measured again elsewhere in" in words
    judge(new.findings.get(state="verified"), "verified")
    words = words_of(new, cast)
    assert ", 1 was verified by measuring." in words
    assert "was verified elsewhere" not in words


def test_a_management_report_counts_it_apart(proved: Campaign, cast: SimpleNamespace) -> None:
    def states() -> dict[object, object]:
        today = timezone.now().date()
        selection = Selection(DATES, today - timedelta(days=400), today)
        document = overview.build(team=cast.team, selection=selection, language="en", now=timezone.now())
        found = next(block for block in walk(document) if isinstance(block, Table) and block.key == "states")
        return {str(row[0]): row[1] for row in found.rows}

    here = states()
    assert here["verified"] == 1
    assert "verified or refuted elsewhere" not in here
    new = brought(proved, cast)
    there = states()
    assert there["verified"] == 0
    assert there["verified or refuted elsewhere"] >= 1
    judge(new.findings.get(state="verified"), "verified")
    assert states()["verified"] == 1
