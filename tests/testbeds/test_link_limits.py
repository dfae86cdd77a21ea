"""What a link's owner allows campaigns: read, shown and carried in files."""

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from apps.testbeds import inventory, services
from apps.testbeds.models import Link
from tests import factories as people
from tests.testbeds import factories
from tests.testbeds.rest import Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def link(cast: people.Cast) -> Link:
    return factories.link(factories.node(cast.team, "a"), factories.switch(cast.team, "s"), 457 * 10**6, name="WAN")


def test_unless_its_owner_says_otherwise_udp_may_fill_it(link: Link) -> None:
    assert (link.most_udp_bps, link.streams_limit) == (457e6, 64)


def test_a_share_or_a_rate_is_allowed(link: Link) -> None:
    link.udp_share_limit = 0.5
    assert link.most_udp_bps == 228.5e6
    link.udp_limit_bps = 10**8
    assert link.most_udp_bps == 1e8
    link.capacity_bps, link.udp_limit_bps = None, None
    assert link.most_udp_bps is None


@pytest.mark.parametrize(
    ("field", "value"),
    [("udp_share_limit", -0.1), ("udp_share_limit", 11.0), ("udp_share_limit", float("nan")), ("streams_limit", 0),
     ("streams_limit", 70_000), ("udp_limit_bps", 0), ("udp_share_limit", None), ("streams_limit", None)],
)  # fmt: skip
def test_what_is_no_limit_is_refused(link: Link, field: str, value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        services.update_item(item=link, values={field: value})
    assert list(refused.value.message_dict) == [field]


def test_it_is_set_in_the_browser(client: Client, cast: people.Cast, link: Link) -> None:
    client.force_login(cast.oscar)
    form = {"a": f"node:{link.a_node_id}", "b": f"switch:{link.b_switch_id}", "capacity_bps": "457M",
            "udp_limit_bps": "400 Mbit/s", "udp_share_limit": "0.8", "streams_limit": "16"}  # fmt: skip
    client.post(reverse("testbeds:link_update", args=[link.pk]), form)
    link.refresh_from_db()
    assert (link.udp_limit_bps, link.udp_share_limit, link.streams_limit) == (400_000_000, 0.8, 16)
    page = client.get(link.get_absolute_url()).content.decode()
    assert "400 Mbit/s" in page
    client.post(reverse("testbeds:link_update", args=[link.pk]), form | {"udp_limit_bps": "", "streams_limit": ""})
    link.refresh_from_db()
    assert (link.udp_limit_bps, link.streams_limit) == (None, 64)
    assert "0.8 times the capacity" in client.get(link.get_absolute_url()).content.decode()


def test_viewers_and_strangers_do_not_set_it(client: Client, cast: people.Cast, link: Link) -> None:
    Api(client, cast.bob).patch(f"links/{link.pk}/", {"streams_limit": 1000}, status=403)
    Api(client, cast.charlie).patch(f"links/{link.pk}/", {"streams_limit": 1000}, status=404)
    link.refresh_from_db()
    assert link.streams_limit == 64


def test_it_is_set_over_rest(client: Client, cast: people.Cast, link: Link) -> None:
    api = Api(client, cast.oscar)
    changed = api.patch(f"links/{link.pk}/", {"udp_limit_bps": "400 Mbit/s", "streams_limit": 8})
    assert (changed["udp_limit_bps"], changed["udp_share_limit"], changed["streams_limit"]) == (4e8, 1.0, 8)
    assert "udp_share_limit" in api.patch(f"links/{link.pk}/", {"udp_share_limit": 99}, status=400)["fields"]


def test_it_goes_into_a_file_and_comes_back(cast: people.Cast, link: Link) -> None:
    assert "limit" not in inventory.export_inventory(team=cast.team)
    values = {"udp_limit_bps": 400_000_000, "udp_share_limit": 0.8, "streams_limit": 16}
    services.update_item(item=link, values=values)
    text = inventory.export_inventory(team=cast.team)
    assert "udp_limit: 400 Mbit/s" in text
    inventory.import_inventory(team=cast.other_team, text=text)
    assert Link.objects.filter(team=cast.other_team, **values).exists()
    assert inventory.export_inventory(team=cast.other_team) == text


def test_a_wrong_limit_in_a_file_is_named_by_its_line(cast: people.Cast, link: Link) -> None:
    text = inventory.export_inventory(team=cast.team).replace("name: WAN", "name: WAN\n  streams_limit: many")
    with pytest.raises(ValidationError) as refused:
        inventory.import_inventory(team=cast.other_team, text=text)
    assert "streams_limit" in refused.value.messages[0]


def test_a_clone_keeps_it(link: Link) -> None:
    services.update_item(item=link, values={"streams_limit": 16})
    assert services.clone_item(item=link, name="again").streams_limit == 16
