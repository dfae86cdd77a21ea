"""A finding whose row is broken is shown as far as it can be, and takes no list or page along."""

from dataclasses import fields
from typing import Any

import pytest
from django.test import Client

from apps.bench.rules.base import FindingDraft
from apps.campaigns.models import Campaign
from apps.tuning import services as tuning
from apps.tuning.models import Finding
from tests import factories as people
from tests.core.test_messages import HOSTILE
from tests.results.conftest import measured, pair  # noqa: F401  (fixtures)
from tests.rotation import part_of

BROKEN: tuple[Any, ...] = (7, "x", [7], [[1]], {"a": 7}, True, HOSTILE[1], [HOSTILE[7]], [HOSTILE[-1]])


@pytest.fixture
def finding(measured: Campaign) -> Finding:  # noqa: F811
    tuning.refresh_findings(campaign=measured)
    found = measured.findings.filter(details__proof__isnull=False).first() or measured.findings.first()
    assert found
    return found


def look(
    client: Client,
    cast: people.Cast,
    finding: Finding,
    broken: list[dict[str, Any]],
    *,
    each: int = 1,
    first: int = 0,
) -> None:
    """Ask every list of findings about copies of one with broken values in their rows, and every page and answer
    that shows one about each so-manyth of them.
    """
    client.force_login(cast.oscar)
    headers = people.bearer(cast.oscar)
    Finding.objects.all().delete()
    own = {item.attname: getattr(finding, item.attname) for item in Finding._meta.concrete_fields}
    rows = Finding.objects.bulk_create(
        Finding(**{**own, "id": None, "subject": f"copy {number}", **values}) for number, values in enumerate(broken)
    )
    for address in (
        "/findings/",
        f"/findings/campaigns/{finding.campaign_id}/",
        "/api/v1/findings/",
        *(f"{start}/findings/{row.pk}/" for row in rows[first % each :: each] for start in ("", "/api/v1")),
    ):
        answer = client.get(address, **(headers if address.startswith("/api") else {}))
        assert answer.status_code == 200, address
        assert len(answer.content) < 1_000_000, address


def test_a_broken_member_of_a_record(client: Client, cast: people.Cast, finding: Finding) -> None:
    for number, item in part_of(enumerate(fields(FindingDraft)), 8):
        broken = [{"details": {**finding.details, item.name: value}} for value in BROKEN]
        look(client, cast, finding, broken, each=3, first=number)


def test_a_record_or_a_title_that_is_none(client: Client, cast: people.Cast, finding: Finding) -> None:
    look(client, cast, finding, [{"details": value} for value in part_of(BROKEN, 2)])
    look(client, cast, finding, [{"title": value} for value in part_of(HOSTILE)])
