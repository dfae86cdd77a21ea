"""What a tombstone keeps of series and output is of their contents, however they are stored."""

from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.archive.retention import services
from apps.campaigns.models import Campaign
from apps.results.models import Series
from apps.results.record_digests import record_digests_of
from tests.archive.retention.test_retention import old, rule

pytestmark = pytest.mark.django_db


def test_packing_changes_no_digest_and_dropping_changes_each(measured: Campaign, cast: SimpleNamespace) -> None:
    old(measured)
    before = record_digests_of(measured)
    for kind in ("series", "output"):
        rule(cast, kind, "pack")
    assert services.carry_out(now=timezone.now()) is False
    assert Series.objects.filter(packed_z__isnull=False).exists()
    assert record_digests_of(measured) == before
    for kind in ("series", "output"):
        rule(cast, kind, "drop")
    assert services.carry_out(now=timezone.now()) is False
    after = record_digests_of(measured)
    assert [name for name in before if after[name] == before[name]] == []
