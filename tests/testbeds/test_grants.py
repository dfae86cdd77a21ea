"""Which kernel settings a node's owner lets a team change: who allows them, what they cover, who sees them."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.testbeds import queries, services
from apps.testbeds.models import Node, SettingGrant
from apps.testbeds.queries import Wish
from tests import factories as people
from tests.testbeds import factories
from tests.testbeds.rest import Api

pytestmark = pytest.mark.django_db
KEY = "net.ipv4.tcp_congestion_control"


@pytest.fixture
def node(cast: people.Cast) -> Node:
    return factories.node(cast.team, "north")


def grant(cast: people.Cast, node: Node, pattern: str = KEY, *values: str, **more: Any) -> SettingGrant:
    return services.grant_setting(node=node, user=cast.alice, pattern=pattern, values=values, **more)


def may(cast: people.Cast, node: Node, key: str, value: str) -> bool:
    return not queries.not_allowed(cast.team, [Wish(node.pk, key, value)])


def test_nothing_is_allowed_until_somebody_allows_it(cast: people.Cast, node: Node) -> None:
    assert not may(cast, node, KEY, "bbr")
    grant(cast, node)
    assert may(cast, node, KEY, "bbr")
    assert not may(cast, factories.node(cast.team), KEY, "bbr")
    assert not may(cast, node, "net.ipv4.tcp_sack", "0")


def test_only_the_values_named_are_allowed(cast: people.Cast, node: Node) -> None:
    grant(cast, node, KEY, "cubic", " bbr ")
    assert may(cast, node, KEY, "bbr")
    assert not may(cast, node, KEY, "reno")
    grant(cast, node, "net.ipv4.tcp_?mem", "4096  131072 *")
    assert may(cast, node, "net.ipv4.tcp_rmem", "4096 131072\t6291456")
    assert not may(cast, node, "net.ipv4.tcp_rmem", "1 1 1")


def test_a_pattern_covers_what_it_says(cast: people.Cast, node: Node) -> None:
    grant(cast, node, "net.core.*")
    assert may(cast, node, "net.core.rmem_max", "1")
    assert not may(cast, node, "net.ipv4.ip_forward", "1")


def test_it_is_for_one_team(cast: people.Cast, node: Node) -> None:
    grant(cast, node)
    assert queries.not_allowed(cast.other_team, [Wish(node.pk, KEY, "bbr")])


def test_withdrawn_it_no_longer_counts_but_stays_on_record(cast: people.Cast, node: Node) -> None:
    made = grant(cast, node)
    now = timezone.now()
    services.revoke_grant(grant=made, user=cast.alice, now=now)
    services.revoke_grant(grant=made, user=cast.alice, now=timezone.now())
    made.refresh_from_db()
    assert not may(cast, node, KEY, "bbr")
    assert (made.granted_by, made.revoked_by, made.revoked_at) == (cast.alice, cast.alice, now)
    grant(cast, node)
    assert may(cast, node, KEY, "bbr")


def test_only_managers_of_the_node_s_team_allow_and_withdraw(cast: people.Cast, node: Node) -> None:
    made = grant(cast, node)
    for person, refusal in ((cast.oscar, PermissionDenied), (cast.bob, PermissionDenied), (cast.charlie, Http404)):
        with pytest.raises(refusal):
            services.grant_setting(node=node, user=person, pattern="net.core.*")
        with pytest.raises(refusal):
            services.revoke_grant(grant=made, user=person, now=timezone.now())
    assert may(cast, node, KEY, "bbr")


@pytest.mark.parametrize(
    "pattern", ["", "*", "net.core.rmem_max; reboot", "/proc/sys", "a" * 121, "net core", "네트"]
)
def test_what_is_no_key_is_refused(cast: people.Cast, node: Node, pattern: str) -> None:
    with pytest.raises(ValidationError) as refused:
        grant(cast, node, pattern)
    assert list(refused.value.message_dict) == ["pattern"]


def test_what_no_kernel_takes_is_refused(cast: people.Cast, node: Node) -> None:
    for values in (["bbr\x00"], ["x" * 201], ["1"] * 51):
        with pytest.raises(ValidationError) as refused:
            grant(cast, node, KEY, *values)
        assert list(refused.value.message_dict) == ["values"]


def test_the_same_is_not_allowed_twice(cast: people.Cast, node: Node) -> None:
    grant(cast, node, KEY, "cubic")
    with pytest.raises(ValidationError, match="allowed already"):
        grant(cast, node, KEY, "bbr")


def test_many_wishes_are_looked_up_at_once(cast: people.Cast, node: Node, django_assert_num_queries: Any) -> None:
    others = [factories.node(cast.team) for _number in range(5)]
    grant(cast, node)
    wishes = [Wish(item.pk, KEY, value) for item in (node, *others) for value in ("cubic", "bbr")]
    with django_assert_num_queries(1):
        assert queries.not_allowed(cast.team, wishes) == wishes[2:]


def test_a_manager_allows_and_withdraws_in_the_browser(client: Client, cast: people.Cast, node: Node) -> None:
    client.force_login(cast.alice)
    address = reverse("testbeds:node_grants", args=[node.pk])
    wrong = client.post(address, {"pattern": "*", "values": "", "team": cast.team.pk})
    assert wrong.status_code == 422
    assert "pattern of keys" in wrong.content.decode()
    client.post(address, {"pattern": KEY, "values": "cubic\nbbr", "team": cast.team.pk})
    made = SettingGrant.objects.get()
    assert (made.values, made.granted_by) == (["cubic", "bbr"], cast.alice)
    assert KEY in client.get(node.get_absolute_url()).content.decode()
    page = client.get(address).content.decode()
    assert "alice" in page
    client.post(reverse("testbeds:grant_revoke", args=[made.pk]))
    made.refresh_from_db()
    assert made.revoked_by == cast.alice
    assert KEY in client.get(address).content.decode()
    assert KEY not in client.get(node.get_absolute_url()).content.decode()


def test_others_see_it_as_far_as_they_may(client: Client, cast: people.Cast, node: Node) -> None:
    made = grant(cast, node)
    address = reverse("testbeds:node_grants", args=[node.pk])
    revoke = reverse("testbeds:grant_revoke", args=[made.pk])
    for person, seen, written in ((cast.oscar, 200, 403), (cast.bob, 200, 403), (cast.charlie, 404, 404)):
        client.force_login(person)
        assert client.get(address).status_code == seen
        sent = {"pattern": "net.core.*", "team": cast.team.pk}
        assert client.post(address, sent).status_code == written
        assert client.post(revoke).status_code == written
    client.logout()
    assert client.get(address).status_code == 302
    assert SettingGrant.objects.get().revoked_at is None


def test_it_is_done_over_rest(client: Client, cast: people.Cast, node: Node) -> None:
    api = Api(client, cast.alice)
    made = api.post("setting-grants/", {"node": node.pk, "pattern": KEY, "values": ["bbr"]}, status=201)
    assert (made["team"], made["granted_by"], made["revoked_at"]) == ("grid", "alice", None)
    assert "pattern" in api.post("setting-grants/", {"node": node.pk, "pattern": "*"}, status=400)["fields"]
    api.patch(f"setting-grants/{made['id']}/", {"pattern": "net.core.*"}, status=405)
    api.delete(f"setting-grants/{made['id']}/", status=204)
    assert api.get(f"setting-grants/{made['id']}/")["revoked_by"] == "alice"
    assert api.get("setting-grants/", {"in_force": "true"})["count"] == 0
    assert api.get("setting-grants/", {"node": node.pk})["count"] == 1


def test_rest_keeps_others_out(client: Client, cast: people.Cast, node: Node) -> None:
    made = grant(cast, node)
    body = {"node": node.pk, "pattern": "net.core.*"}
    for person, seen, written in ((cast.oscar, 200, 403), (cast.bob, 200, 403), (cast.charlie, 404, 400)):
        api = Api(client, person)
        api.get(f"setting-grants/{made.pk}/", status=seen)
        api.post("setting-grants/", body, status=written)
        api.delete(f"setting-grants/{made.pk}/", status=403 if seen == 200 else 404)
    Api(client).get("setting-grants/", status=401)
    Api(client, cast.alice, scope="read").delete(f"setting-grants/{made.pk}/", status=403)
    assert may(cast, node, KEY, "bbr")
