"""The inventory over REST: who sees and changes what, quantities, and what is refused."""

from typing import Any

import pytest
from django.test import Client

from apps.testbeds import models, queries
from tests import factories as people
from tests.testbeds import factories
from tests.testbeds.rest import ADDRESSES, KINDS, NAMED, Api
from tests.testbeds.test_pages import MAKERS

pytestmark = pytest.mark.django_db


def body_of(kind: str, team) -> dict[str, Any]:
    return {
        "site": lambda: {"name": "new", "place": "Daejeon"},
        "testbed": lambda: {"name": "new", "site": factories.site(team).pk, "ram_bytes": "16 GiB", "nic_bps": 1e9},
        "node": lambda: {
            "name": "new", "testbed": factories.testbed(team).pk,
            "addresses": [{"address": "10.0.0.1", "interface": "eth0"}, {"address": "fd00::1"}],
        },
        "cluster": lambda: {"name": "new", "nodes": [factories.node(team).pk]},
        "switch": lambda: {"name": "new", "site": factories.site(team).pk},
        "link": lambda: {
            "name": "new", "a_node": factories.node(team).pk, "b_switch": factories.switch(team).pk,
            "capacity_bps": "1 Gbit/s", "rtt_s": 0.0048, "mtu": 9000,
        },
        "sitepair": lambda: {
            "site_a": factories.site(team).pk, "site_b": factories.site(team).pk, "rtt_s": "4.8 ms",
        },
        "filesystem": lambda: {
            "name": "new", "kind": "gpfs", "mount_path": "/gpfs", "block_size_bytes": "256 KiB",
            "mounts": [{"cluster": factories.cluster(team).pk, "path": "/elsewhere"}],
        },
    }[kind]()  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_token_there_is_nothing(client: Client, kind: str) -> None:
    item = MAKERS[kind](people.cast().team)
    api, address = Api(client), ADDRESSES[kind]
    api.get(f"{address}/", status=401)
    api.post(f"{address}/", {"name": "x"}, status=401)
    for method in ("get", "put", "patch", "delete"):
        getattr(api, method)(f"{address}/{item.pk}/", status=401)
    if kind in NAMED:
        api.post(f"{address}/{item.pk}/clone/", {"name": "x"}, status=401)
    assert type(item).objects.filter(pk=item.pk).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_another_teams_things_do_not_exist(client: Client, kind: str) -> None:
    cast = people.cast()
    item = MAKERS[kind](cast.team)
    api, address = Api(client, cast.charlie), ADDRESSES[kind]
    assert api.get(f"{address}/")["count"] == 0
    for method in ("get", "put", "patch", "delete"):
        getattr(api, method)(f"{address}/{item.pk}/", status=404)
    if kind in NAMED:
        api.post(f"{address}/{item.pk}/clone/", {"name": "x"}, status=404)
    named = {"name": "x"} if kind in NAMED else {}
    assert "team" in api.post(f"{address}/", {"team": cast.team.slug, **named}, status=400)["fields"]
    assert type(item).objects.filter(pk=item.pk).exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("who", ["viewer", "read-only token"])
def test_viewers_and_read_only_tokens_read_and_change_nothing(client: Client, kind: str, who: str) -> None:
    cast = people.cast()
    item = MAKERS[kind](cast.team)
    api = Api(client, cast.bob) if who == "viewer" else Api(client, cast.alice, scope="read")
    address, body = ADDRESSES[kind], body_of(kind, cast.team)
    assert api.get(f"{address}/{item.pk}/")["id"] == item.pk
    api.post(f"{address}/", body | {"team": cast.team.slug}, status=403)
    for method in ("put", "patch", "delete"):
        getattr(api, method)(f"{address}/{item.pk}/", {} if method == "delete" else body, status=403)
    if kind in NAMED:
        api.post(f"{address}/{item.pk}/clone/", {"name": "x"}, status=403)
    assert type(item).objects.filter(pk=item.pk).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_an_operator_creates_reads_changes_and_deletes(client: Client, kind: str) -> None:
    cast = people.cast()
    api, address = Api(client, cast.oscar), ADDRESSES[kind]
    made = api.post(f"{address}/", body_of(kind, cast.team), status=201)
    assert made["team"] == cast.team.slug
    assert api.get(f"{address}/{made['id']}/") == made
    changed = api.patch(f"{address}/{made['id']}/", {"notes": "changed"})
    assert changed == made | {"notes": "changed", "updated_at": changed["updated_at"]}
    whole = {name: value for name, value in changed.items() if value is not None} | {"notes": "whole"}
    assert api.put(f"{address}/{made['id']}/", whole)["notes"] == "whole"
    assert api.delete(f"{address}/{made['id']}/", status=204) is None
    api.get(f"{address}/{made['id']}/", status=404)


@pytest.mark.parametrize("kind", NAMED)
def test_an_operator_clones(client: Client, kind: str) -> None:
    cast = people.cast()
    item = MAKERS[kind](cast.team, "original")
    api, address = Api(client, cast.oscar), f"{ADDRESSES[kind]}/{item.pk}/clone/"
    assert api.post(address, {"name": "copy"}, status=201)["name"] == "copy"
    assert "choose another name" in api.post(address, {"name": "copy"}, status=400)["fields"]["name"][0]
    assert "name" in api.post(address, {}, status=400)["fields"]


@pytest.mark.parametrize("kind", NAMED)
def test_a_name_the_team_has_is_refused(client: Client, kind: str) -> None:
    cast = people.cast()
    MAKERS[kind](cast.team, "new")
    answer = Api(client, cast.oscar).post(f"{ADDRESSES[kind]}/", body_of(kind, cast.team), status=400)
    assert "choose another name" in answer["fields"]["name"][0]


def test_quantities_are_read_as_numbers_and_as_texts_and_shown_as_numbers(client: Client) -> None:
    cast = people.cast()
    api = Api(client, cast.oscar)
    body = body_of("link", cast.team)
    made = api.post("links/", body, status=201)
    assert (made["capacity_bps"], made["rtt_s"], made["mtu"]) == (10**9, 0.0048, 9000)
    address = f"links/{made['id']}/"
    assert api.patch(address, {"capacity_bps": "622M", "rtt_s": "135.5 ms"})["capacity_bps"] == 622_000_000
    assert api.patch(address, {"capacity_bps": 2.5e9})["capacity_bps"] == 2_500_000_000
    assert api.patch(address, {"capacity_bps": "", "rtt_s": None}) | {} == {
        **api.get(address), "capacity_bps": None, "rtt_s": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [("capacity_bps", "fast"), ("capacity_bps", True), ("capacity_bps", [1]), ("capacity_bps", -1),
     ("capacity_bps", 0), ("capacity_bps", 10**30), ("capacity_bps", 1.5), ("rtt_s", "1 h 30 min"),
     ("rtt_s", 5e-324), ("rtt_s", "0.5 ns"),
     ("rtt_s", "1 KiB"), ("mtu", 10), ("mtu", "x"), ("mtu", 10**12),
     ("name", ""), ("name", "x" * 101), ("name", "a\0"), ("name", "a\nb"),
     ("a_node", 999_999), ("a_node", "x"), ("team", "none")],
)  # fmt: skip
def test_a_wrong_value_is_named_at_its_field(client: Client, field: str, value: Any) -> None:
    cast = people.cast()
    body = body_of("link", cast.team) | {field: value}
    assert list(Api(client, cast.oscar).post("links/", body, status=400)["fields"]) == [field]
    assert not models.Link.objects.exists()


@pytest.mark.parametrize(
    "body",
    ['{"name": "x", "site": 1.5}', '{"name": "x", "site": 1e400}', '{"name": "x", "site": "\\ud800"}',
     '{"name": "x", "site": %s, "ram_bytes": "\\ud800"}', '{"name": "x", "site": %s, "os": "\\ud800"}'],
)  # fmt: skip
def test_numbers_and_characters_that_nothing_can_hold_are_refused(client: Client, body: str) -> None:
    cast = people.cast()
    text = body % factories.site(cast.team).pk if "%s" in body else body
    headers = people.bearer(cast.oscar)
    answer = client.post("/api/v1/testbeds/", text, content_type="application/json", **headers)
    assert answer.status_code == 400
    assert len(answer.json()["fields"]) == 1


def test_a_link_needs_two_ends_of_one_kind_each(client: Client) -> None:
    cast = people.cast()
    api = Api(client, cast.oscar)
    body = body_of("link", cast.team)
    assert "End A is either" in api.post("links/", body | {"a_node": None}, status=400)["detail"]
    both = body | {"a_switch": factories.switch(cast.team).pk}
    assert "End A is either" in api.post("links/", both, status=400)["detail"]


def test_things_of_another_team_can_not_be_referred_to(client: Client) -> None:
    cast = people.cast()
    theirs = factories.two_sites(cast.other_team, nodes=1)
    api = Api(client, cast.oscar)
    for address, body, field in (
        ("testbeds/", {"name": "x", "site": theirs.near_site.pk}, "site"),
        ("nodes/", {"name": "x", "testbed": theirs.near_testbed.pk}, "testbed"),
        ("clusters/", {"name": "x", "nodes": [theirs.near[0].pk]}, "nodes"),
    ):
        assert list(api.post(address, body, status=400)["fields"]) == [field]


def test_a_member_of_two_teams_can_not_mix_them_nor_move_things(client: Client) -> None:
    cast = people.cast()
    second = people.team("second", operator=cast.oscar)
    site, testbed = factories.site(second, "theirs"), factories.testbed(cast.team)
    api = Api(client, cast.oscar)
    body = {"name": "x", "site": site.pk, "team": cast.team.slug}
    assert "belongs to another team" in api.post("testbeds/", body, status=400)["fields"]["site"][0]
    assert api.post("sites/", {"name": "x"}, status=201)["team"] == cast.team.slug
    assert "team" in api.patch(f"testbeds/{testbed.pk}/", {"team": "second"}, status=400)["fields"]
    assert api.get("sites/", {"team": "second"})["count"] == 1


@pytest.mark.parametrize(
    "addresses", [[{"address": "10.0.0.300"}], [{"address": "a"}, {"address": "a"}], [{"ip": "x"}], "10.0.0.1", [1]]
)
def test_wrong_addresses_are_refused(client: Client, addresses: Any) -> None:
    cast = people.cast()
    body = body_of("node", cast.team) | {"addresses": addresses}
    answer = Api(client, cast.oscar).post("nodes/", body, status=400)
    assert all(field.startswith("addresses") for field in answer["fields"])
    assert not models.Node.objects.exists()


def test_addresses_nodes_and_mounts_are_changed_as_a_whole(client: Client) -> None:
    cast = people.cast()
    api = Api(client, cast.oscar)
    node = factories.node(cast.team, "n", "10.0.0.1")
    cluster = factories.cluster(cast.team, "c", node)
    item = factories.file_system(cast.team, "f", cluster)
    (row,) = api.patch(f"nodes/{node.pk}/", {"addresses": [{"address": "10.0.0.2"}]})["addresses"]
    assert (row["address"], row["interface"]) == ("10.0.0.2", "")
    assert api.patch(f"clusters/{cluster.pk}/", {"nodes": []})["node_count"] == 0
    assert api.patch(f"file-systems/{item.pk}/", {"mounts": []})["mounts"] == []


def test_what_others_depend_on_is_not_deleted_and_they_are_listed_with_their_pages(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=1)
    cluster = factories.cluster(cast.team, "GPFS_KGFS", here.near[0])
    answer = Api(client, cast.oscar).delete(f"nodes/{here.near[0].pk}/", status=409)
    assert answer["dependents"] == ["cluster: GPFS_KGFS", "link: KGFS01 – KISTI"]
    assert answer["links"][0] == {
        "text": "cluster: GPFS_KGFS", "url": f"http://testserver{cluster.get_absolute_url()}",
    }  # fmt: skip
    assert answer["detail"]
    assert models.Node.objects.filter(pk=here.near[0].pk).exists()


def test_nodes_are_added_by_pattern(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=1)
    address = f"testbeds/{here.near_testbed.pk}/add-nodes/"
    body = {"names": "KGFS[02-04]", "addresses": "10.0.1.[2-4]", "switch": here.near_switch.pk, "capacity_bps": "1G"}
    made = Api(client, cast.oscar).post(address, body, status=201)
    assert [(row["name"], row["addresses"][0]["address"]) for row in made] == [
        ("KGFS02", "10.0.1.2"), ("KGFS03", "10.0.1.3"), ("KGFS04", "10.0.1.4"),
    ]  # fmt: skip
    assert queries.links_at(models.Node.objects.get(name="KGFS04")).get().capacity_bps == 10**9
    assert "names" in Api(client, cast.oscar).post(address, body, status=400)["fields"]
    Api(client, cast.bob).post(address, body, status=403)
    Api(client, cast.charlie).post(address, body, status=404)
    Api(client).post(address, body, status=401)
