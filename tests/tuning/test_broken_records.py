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

BROKEN: tuple[Any, ...] = (7, "x", [7], [[1]], {"a": 7}, True, HOSTILE[1], [HOSTILE[7]], [HOSTILE[-1]])


@pytest.fixture
def finding(measured: Campaign) -> Finding:  # noqa: F811
    tuning.refresh_findings(campaign=measured)
    found = measured.findings.filter(details__proof__isnull=False).first() or measured.findings.first()
    assert found
    return found


def look(client: Client, cast: people.Cast, finding: Finding) -> None:
    """Ask every page and answer that shows a finding."""
    client.force_login(cast.oscar)
    headers = people.bearer(cast.oscar)
    for address in (
        "/findings/",
        f"/findings/{finding.pk}/",
        f"/findings/campaigns/{finding.campaign_id}/",
        "/api/v1/findings/",
        f"/api/v1/findings/{finding.pk}/",
    ):
        answer = client.get(address, **(headers if address.startswith("/api") else {}))
        assert answer.status_code == 200, address
        assert len(answer.content) < 1_000_000, address


@pytest.mark.parametrize("name", [item.name for item in fields(FindingDraft)])
def test_a_broken_member_of_a_record(client: Client, cast: people.Cast, finding: Finding, name: str) -> None:
    for value in BROKEN:
        Finding.objects.filter(pk=finding.pk).update(details={**finding.details, name: value})
        look(client, cast, finding)


def test_a_record_or_a_title_that_is_none(client: Client, cast: people.Cast, finding: Finding) -> None:
    for value in BROKEN:
        Finding.objects.filter(pk=finding.pk).update(details=value)
        look(client, cast, finding)
    Finding.objects.filter(pk=finding.pk).update(details=finding.details)
    for value in HOSTILE:
        Finding.objects.filter(pk=finding.pk).update(title=value)
        look(client, cast, finding)
