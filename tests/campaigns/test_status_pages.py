"""A campaign's page while it runs: the button that stops all traffic, and who is busy now."""

from types import SimpleNamespace

import pytest
from django.test import Client

from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import address, browser
from tests.campaigns.factories import take


@pytest.fixture
def oscar(cast: SimpleNamespace) -> Client:
    """Return the operator's browser."""
    return browser(cast.oscar)


def test_one_button_stops_all_traffic(oscar: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    take()
    page = oscar.get(address("campaign_detail", campaign.pk)).content.decode()
    assert page.count("data-stop") == 1
    assert '<dialog class="card" id="stop-dialog"' in page
    asked = oscar.get(address("cancel", campaign.pk)).content.decode()
    assert "1 trial under way is stopped within two seconds." in asked
    assert "3 that wait will not be measured." in asked
    viewer = browser(cast.bob).get(address("campaign_detail", campaign.pk)).content.decode()
    assert "data-stop" not in viewer
    assert "stop-dialog" not in viewer
    oscar.post(address("cancel", campaign.pk))
    assert "data-stop" not in oscar.get(address("campaign_detail", campaign.pk)).content.decode()


def test_the_drawing_alone_shows_who_is_busy_now(oscar: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    idle = oscar.get(address("campaign_drawing", campaign.pk)).content.decode()
    take()
    busy = oscar.get(address("campaign_drawing", campaign.pk)).content.decode()
    assert idle.startswith("<svg")
    assert busy != idle
    assert browser(cast.charlie).get(address("campaign_drawing", campaign.pk)).status_code == 404
    assert browser(None).get(address("campaign_drawing", campaign.pk)).status_code == 302
