"""What a worker would store of an import is refused where its team has no room for it, and stored once there is."""

from types import SimpleNamespace
from typing import Any

import pytest

from apps.campaigns.models import Campaign
from apps.core.models import SetAside
from apps.testbeds.models import Node
from tests import factories, limits
from tests.archive.imports import sending
from tests.archive.imports.test_outputs import SWEEP, roles

pytestmark = pytest.mark.django_db


def test_an_import_waits_for_room_for_its_campaign(cast: SimpleNamespace, ends: list[Node], settings: Any) -> None:
    ready = sending.send(cast, SWEEP)
    sending.choose(ready, roles(ends), alike=True)
    limits.bound(settings, -1, "CAMPAIGNS_PER_TEAM")
    refused = sending.store(ready)
    assert (refused.state, refused.claimed_at, refused.items.count()) == ("ready", None, 4)
    assert not Campaign.objects.exists()
    assert not SetAside.objects.exists()
    browser = factories.signed_in(cast.oscar)
    assert "(CAMPAIGNS_PER_TEAM)" in browser.get(refused.get_absolute_url()).content.decode()
    limits.bound(settings, 1, "CAMPAIGNS_PER_TEAM")
    assert sending.store(refused).state == "done"
