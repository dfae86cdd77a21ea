"""Pages of the inventory: who sees and changes what, for every kind of thing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.testbeds import models, queries
from tests import factories as people
from tests.testbeds import factories

pytestmark = pytest.mark.django_db

MAKERS: dict[str, Callable[..., Any]] = {
    "site": factories.site,
    "testbed": factories.testbed,
    "node": factories.node,
    "cluster": factories.cluster,
    "switch": factories.switch,
    "link": lambda team, name="": factories.link(factories.switch(team), factories.switch(team), name=name or "wan7"),
    "sitepair": lambda team, name="": factories.site_pair(factories.site(team), factories.site(team), 0.1),
    "filesystem": factories.file_system,
}
KINDS = sorted(MAKERS)
NAMED = [kind for kind in KINDS if kind != "sitepair"]


def form_of(kind: str, team) -> dict[str, Any]:
    """Return what a person fills in for a new thing."""
    return {
        "site": lambda: {"name": "new", "place": "Daejeon"},
        "testbed": lambda: {"name": "new", "site": factories.site(team).pk, "ram_bytes": "16 GiB", "nic_bps": "1G"},
        "node": lambda: {"name": "new", "testbed": factories.testbed(team).pk, "addresses": "10.0.0.1 eth0\nfd00::1"},
        "cluster": lambda: {"name": "new", "nodes": factories.node(team).name},
        "switch": lambda: {"name": "new", "site": factories.site(team).pk},
        "link": lambda: {
            "name": "new",
            "a": f"node:{factories.node(team).pk}",
            "b": f"switch:{factories.switch(team).pk}",
            "capacity_bps": "1 Gbit/s",
            "rtt_s": "4.8 ms",
            "mtu": "9000",
        },
        "sitepair": lambda: {
            "site_a": factories.site(team).pk, "site_b": factories.site(team).pk, "rtt_s": "4.8 ms",
        },
        "filesystem": lambda: {
            "name": "new", "kind": "gpfs", "mount_path": "/gpfs", "block_size_bytes": "256 KiB",
            "mounts": [factories.cluster(team).pk],
        },
    }[kind]()  # fmt: skip


def model_of(kind: str) -> Any:
    return type(MAKERS[kind](people.team()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_stranger_is_sent_to_sign_in(client: Client, kind: str) -> None:
    item = MAKERS[kind](people.cast().team)
    for action in ("list", "create"):
        response = client.get(reverse(f"testbeds:{kind}_{action}"))
        assert response.status_code == 302
        assert reverse("accounts:login") in response["Location"]
    for action in ("detail", "update", "delete", *(["clone"] if kind in NAMED else [])):
        assert client.get(reverse(f"testbeds:{kind}_{action}", args=[item.pk])).status_code == 302
        assert client.post(reverse(f"testbeds:{kind}_{action}", args=[item.pk])).status_code in (302, 405)
    assert type(item).objects.filter(pk=item.pk).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_another_teams_things_do_not_exist(client: Client, kind: str) -> None:
    cast = people.cast()
    item = MAKERS[kind](cast.team)
    client.force_login(cast.charlie)
    assert str(item) not in client.get(reverse(f"testbeds:{kind}_list")).content.decode()
    for action in ("detail", "update", "delete", *(["clone"] if kind in NAMED else [])):
        assert client.get(reverse(f"testbeds:{kind}_{action}", args=[item.pk])).status_code == 404
    for action in ("update", "delete", *(["clone"] if kind in NAMED else [])):
        assert client.post(reverse(f"testbeds:{kind}_{action}", args=[item.pk]), {"name": "x"}).status_code == 404
    assert client.get(reverse(f"testbeds:{kind}_create"), {"team": cast.team.slug}).status_code == 404
    assert type(item).objects.filter(pk=item.pk).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_viewer_reads_and_changes_nothing(client: Client, kind: str) -> None:
    cast = people.cast()
    item = MAKERS[kind](cast.team)
    client.force_login(cast.bob)
    assert str(item) in client.get(reverse(f"testbeds:{kind}_list")).content.decode()
    page = client.get(reverse(f"testbeds:{kind}_detail", args=[item.pk])).content.decode()
    assert str(item) in page
    assert reverse(f"testbeds:{kind}_update", args=[item.pk]) not in page
    for action in ("update", "delete", *(["clone"] if kind in NAMED else [])):
        address = reverse(f"testbeds:{kind}_{action}", args=[item.pk])
        assert client.get(address).status_code == 403
        assert client.post(address, {"name": "x"}).status_code == 403
    assert client.post(reverse(f"testbeds:{kind}_create"), form_of(kind, cast.team)).status_code == 403
    assert type(item).objects.filter(pk=item.pk).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_an_operator_creates_changes_and_deletes(client: Client, kind: str) -> None:
    cast = people.cast()
    client.force_login(cast.oscar)
    model = model_of(kind)
    form = form_of(kind, cast.team)
    assert client.get(reverse(f"testbeds:{kind}_create")).status_code == 200
    response = client.post(reverse(f"testbeds:{kind}_create"), form)
    assert response.status_code == 302, response.context["form"].errors
    item = model.objects.get(team=cast.team, notes="") if kind == "sitepair" else model.objects.get(name="new")
    assert response["Location"] == item.get_absolute_url()
    edit = reverse(f"testbeds:{kind}_update", args=[item.pk])
    assert client.get(edit).status_code == 200
    response = client.post(edit, form | {"notes": "changed"})
    assert response.status_code == 302, response.context["form"].errors
    item.refresh_from_db()
    assert item.notes == "changed"
    delete = reverse(f"testbeds:{kind}_delete", args=[item.pk])
    assert "no undo" in client.get(delete).content.decode()
    assert client.post(delete)["Location"] == reverse(f"testbeds:{kind}_list")
    assert not model.objects.filter(pk=item.pk).exists()


@pytest.mark.parametrize("kind", NAMED)
def test_an_operator_clones_and_goes_on_to_the_copys_form(client: Client, kind: str) -> None:
    cast = people.cast()
    item = MAKERS[kind](cast.team, "original")
    client.force_login(cast.oscar)
    address = reverse(f"testbeds:{kind}_clone", args=[item.pk])
    assert "original (copy)" in client.get(address).content.decode()
    response = client.post(address, {"name": "the-copy"})
    copy = type(item).objects.get(name="the-copy")
    assert response["Location"] == reverse(f"testbeds:{kind}_update", args=[copy.pk])
    assert client.post(address, {"name": "original"}).status_code == 200


@pytest.mark.parametrize("kind", NAMED)
def test_a_name_the_team_has_is_refused_at_the_field(client: Client, kind: str) -> None:
    cast = people.cast()
    item = MAKERS[kind](cast.team, "taken")
    client.force_login(cast.oscar)
    response = client.post(reverse(f"testbeds:{kind}_create"), form_of(kind, cast.team) | {"name": "taken"})
    assert response.status_code == 200
    assert "choose another name" in response.context["form"].errors["name"][0]
    assert type(item).objects.filter(name="taken").count() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_lists_take_a_bounded_number_of_queries(client: Client, kind: str, django_assert_max_num_queries) -> None:
    cast = people.cast()
    for number in range(12):
        MAKERS[kind](cast.team, f"item{number}")
    if kind in ("cluster", "node"):
        for number in range(12):
            member = factories.node(cast.team, f"member{number}", f"10.0.0.{number}")
            factories.cluster(cast.team, f"c{number}", member)
    client.force_login(cast.oscar)
    with django_assert_max_num_queries(14):
        assert client.get(reverse(f"testbeds:{kind}_list")).status_code == 200


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_list_says_what_to_do_next(client: Client, kind: str) -> None:
    cast = people.cast()
    client.force_login(cast.oscar)
    page = client.get(reverse(f"testbeds:{kind}_list")).content.decode()
    assert reverse(f"testbeds:{kind}_create") in page
    assert reverse("testbeds:import") in page
    client.force_login(cast.bob)
    page = client.get(reverse(f"testbeds:{kind}_list")).content.decode()
    assert "An operator of your team can add them." in page
    assert reverse("testbeds:example") not in page


def test_pages_of_every_kind_take_a_bounded_number_of_queries(client: Client, django_assert_max_num_queries) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=8)
    cluster = factories.cluster(cast.team, "c", *here.near)
    factories.file_system(cast.team, "f", cluster, server_cluster=cluster)
    client.force_login(cast.oscar)
    for item in (here.near_site, here.near_testbed, here.near[0], here.near_switch, here.line, cluster):
        with django_assert_max_num_queries(20):
            assert client.get(item.get_absolute_url()).status_code == 200


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=kgfs", ["KGFS01", "KGFS02"]),
        ("q=kgfs+02", ["KGFS02"]),
        ("site={near_site}", ["KGFS01", "KGFS02"]),
        ("testbed={far_testbed}", ["PGFS01", "PGFS02"]),
        ("cluster={cluster}", ["KGFS01", "PGFS01"]),
        ("sort=-name", ["PGFS02", "PGFS01", "KGFS02", "KGFS01"]),
        ("sort=password", ["KGFS01", "KGFS02", "PGFS01", "PGFS02"]),
        ("q=nothing", []),
        ("site=999999", None),
        ("team=none", []),
    ],
)
def test_nodes_are_searched_filtered_and_sorted(client: Client, query: str, found: list[str] | None) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team)
    cluster = factories.cluster(cast.team, "c", here.near[0], here.far[0])
    client.force_login(cast.bob)
    ids = {"near_site": here.near_site.pk, "far_testbed": here.far_testbed.pk, "cluster": cluster.pk}
    response = client.get(f"{reverse('testbeds:node_list')}?{query.format(**ids)}")
    assert response.status_code == 200
    if found is not None:
        assert [node.name for node in response.context["object_list"]] == found


def test_filters_offer_and_take_only_what_the_persons_teams_have(client: Client) -> None:
    cast = people.cast()
    theirs = factories.site(cast.other_team, "theirs")
    client.force_login(cast.bob)
    factories.node(cast.team)
    page = client.get(reverse("testbeds:node_list"), {"site": theirs.pk}).content.decode()
    assert "theirs" not in page
    assert "This is not offered here" in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("site={near}", {"KISTI–PNU", "KGFS01 – KISTI"}),
        ("switch={far_switch}", {"KISTI–PNU", "PGFS01 – PNU"}),
        ("capacity_max=1+Gbit/s", {"KISTI–PNU", "KGFS01 – KISTI"}),
        ("capacity_min=2G", {"PGFS01 – PNU"}),
    ],
)
def test_links_are_filtered_by_place_and_capacity(client: Client, query: str, found: set[str]) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=1)
    client.force_login(cast.bob)
    ids = {"near": here.near_site.pk, "far_switch": here.far_switch.pk}
    response = client.get(f"{reverse('testbeds:link_list')}?{query.format(**ids)}")
    assert {link.name for link in response.context["object_list"]} == found


def test_a_wrong_quantity_in_a_filter_is_named(client: Client) -> None:
    cast = people.cast()
    factories.two_sites(cast.team, nodes=1)
    client.force_login(cast.bob)
    page = client.get(reverse("testbeds:link_list"), {"capacity_min": "much"}).content.decode()
    assert "field-errors" in page


def test_other_kinds_are_filtered_by_what_they_belong_to(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team)
    near = factories.cluster(cast.team, "near", *here.near)
    factories.cluster(cast.team, "far", *here.far)
    factories.file_system(cast.team, "gpfs", near, server_cluster=near)
    factories.file_system(cast.team, "nfs", kind="nfs")
    factories.site_pair(here.near_site, here.far_site, 0.1)
    client.force_login(cast.bob)
    for kind, query, found in (
        ("testbed", {"site": here.near_site.pk}, ["KGFS"]),
        ("switch", {"site": here.far_site.pk}, ["PNU"]),
        ("cluster", {"site": here.near_site.pk}, ["near"]),
        ("cluster", {"testbed": here.far_testbed.pk}, ["far"]),
        ("filesystem", {"kind": "nfs"}, ["nfs"]),
        ("filesystem", {"server_cluster": near.pk}, ["gpfs"]),
        ("filesystem", {"mounted_by": near.pk}, ["gpfs"]),
        ("sitepair", {"site": here.far_site.pk}, ["KISTI – PNU"]),
    ):
        response = client.get(reverse(f"testbeds:{kind}_list"), query)
        assert [str(item) for item in response.context["object_list"]] == found
    assert [cluster.node_count for cluster in queries.clusters().filter(name="near")] == [2]


def test_what_others_depend_on_is_not_deleted_and_they_are_linked(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=1)
    cluster = factories.cluster(cast.team, "GPFS_KGFS", here.near[0])
    access = queries.links_at(here.near[0]).get()
    client.force_login(cast.oscar)
    address = reverse("testbeds:node_delete", args=[here.near[0].pk])
    for response, status in ((client.get(address), 200), (client.post(address), 409)):
        page = response.content.decode()
        assert response.status_code == status
        for item in (access, cluster):
            assert f'<a href="{item.get_absolute_url()}">{item}</a>' in page
        assert "no undo" not in page
    assert models.Node.objects.filter(pk=here.near[0].pk).exists()
