"""What people fill in: quantities with units, addresses by line, nodes by pattern, ends and mounts."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.testbeds import models, queries
from tests import factories as people
from tests.pages import flat
from tests.testbeds import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client: Client) -> people.Cast:
    found = people.cast()
    client.force_login(found.oscar)
    return found


def errors(response) -> dict[str, list[str]]:
    assert response.status_code == 200, response["Location"]
    return response.context["form"].errors


def test_quantities_are_read_with_units_and_shown_with_them(client: Client, cast: people.Cast) -> None:
    site = factories.site(cast.team)
    form = {"name": "t", "site": site.pk, "ram_bytes": "16 GiB", "nic_bps": "622M", "mtu": "9000"}
    client.post(reverse("testbeds:testbed_create"), form)
    testbed = models.Testbed.objects.get()
    assert (testbed.ram_bytes, testbed.nic_bps, testbed.mtu) == (16 * 2**30, 622_000_000, 9000)
    page = client.get(reverse("testbeds:testbed_update", args=[testbed.pk])).content.decode()
    assert 'value="16 GiB"' in page
    assert 'value="622 Mbit/s"' in page


@pytest.mark.parametrize(
    ("field", "value"),
    [("capacity_bps", "much"), ("capacity_bps", "-1G"), ("capacity_bps", "1 ms"), ("rtt_s", "2 h"), ("mtu", "12"),
     ("mtu", "x"), ("a", "node:999999"), ("a", "switch:x"), ("b", "")],
)  # fmt: skip
def test_a_wrong_value_of_a_link_is_named_at_its_field(client: Client, cast: people.Cast, field, value) -> None:
    ends = {"a": f"switch:{factories.switch(cast.team).pk}", "b": f"switch:{factories.switch(cast.team).pk}"}
    response = client.post(reverse("testbeds:link_create"), {**ends, "name": "l", field: value})
    assert list(errors(response)) == [field]
    assert not models.Link.objects.exists()


def test_a_link_without_a_name_is_called_after_its_ends(client: Client, cast: people.Cast) -> None:
    a, b = factories.node(cast.team, "n1"), factories.switch(cast.team, "s1")
    ends = {"a": f"node:{a.pk}", "b": f"switch:{b.pk}"}
    assert client.post(reverse("testbeds:link_create"), ends).status_code == 302
    link = models.Link.objects.get()
    assert (link.name, link.end_a, link.end_b) == ("n1 – s1", a, b)
    assert "choose another name" in errors(client.post(reverse("testbeds:link_create"), ends))["name"][0]


def test_a_link_from_a_thing_to_itself_is_refused(client: Client, cast: people.Cast) -> None:
    end = f"switch:{factories.switch(cast.team).pk}"
    response = client.post(reverse("testbeds:link_create"), {"a": end, "b": end, "name": "l"})
    assert "two different things" in errors(response)["b"][0]


def test_a_links_ends_are_shown_and_can_be_changed(client: Client, cast: people.Cast) -> None:
    line = factories.two_sites(cast.team, nodes=1).line
    node = models.Node.objects.get(name="KGFS01")
    address = reverse("testbeds:link_update", args=[line.pk])
    assert f'value="switch:{line.a_switch_id}" selected' in client.get(address).content.decode()
    form = {"a": f"node:{node.pk}", "b": f"switch:{line.b_switch_id}", "name": "direct"}
    assert client.post(address, form).status_code == 302
    line.refresh_from_db()
    assert (line.end_a, line.a_switch, line.capacity_bps) == (node, None, None)


def test_another_teams_things_are_not_offered_nor_taken(client: Client, cast: people.Cast) -> None:
    theirs = factories.two_sites(cast.other_team, nodes=1)
    ours = factories.switch(cast.team)
    link = {"a": f"node:{theirs.near[0].pk}", "b": f"switch:{ours.pk}", "name": "l"}
    assert list(errors(client.post(reverse("testbeds:link_create"), link))) == ["a"]
    testbed = {"name": "t", "site": theirs.near_site.pk}
    assert list(errors(client.post(reverse("testbeds:testbed_create"), testbed))) == ["site"]
    cluster = {"name": "c", "nodes": "KGFS01"}
    assert "no nodes called KGFS01" in errors(client.post(reverse("testbeds:cluster_create"), cluster))["nodes"][0]
    foreign = factories.cluster(cast.other_team, "foreign")
    mounted = {"name": "f", "kind": "nfs", "mount_path": "/nfs", "mounts": [foreign.pk]}
    assert client.post(reverse("testbeds:filesystem_create"), mounted).status_code == 302
    assert not models.Mount.objects.exists()


def test_addresses_are_read_by_line(client: Client, cast: people.Cast) -> None:
    testbed = factories.testbed(cast.team)
    form = {"name": "n", "testbed": testbed.pk, "addresses": " 10.0.0.1  eth0\r\n\r\nfd00::1\r\n"}
    client.post(reverse("testbeds:node_create"), form)
    node = models.Node.objects.get()
    assert [(row.address, row.interface) for row in node.addresses.all()] == [("10.0.0.1", "eth0"), ("fd00::1", "")]
    page = client.get(reverse("testbeds:node_update", args=[node.pk])).content.decode()
    assert "10.0.0.1 eth0\nfd00::1" in page


@pytest.mark.parametrize(
    ("addresses", "said"),
    [("10.0.0.1 eth0 up", "Line 1: write an address"), ("10.0.0.300", "neither an IP address nor a host name"),
     ("10.0.0.1\n10.0.0.1", "stands here twice"), ("x" * 10_001, "at most 10000 characters")],
)  # fmt: skip
def test_a_wrong_address_is_named_at_the_field(client: Client, cast: people.Cast, addresses, said) -> None:
    form = {"name": "n", "testbed": factories.testbed(cast.team).pk, "addresses": addresses}
    assert said in errors(client.post(reverse("testbeds:node_create"), form))["addresses"][0]
    assert not models.Node.objects.exists()


def test_a_clusters_nodes_are_named_by_pattern(client: Client, cast: people.Cast) -> None:
    here = factories.two_sites(cast.team, nodes=4)
    form = {"name": "c", "nodes": "KGFS[01-03], PGFS04"}
    client.post(reverse("testbeds:cluster_create"), form)
    cluster = models.Cluster.objects.get()
    assert set(cluster.nodes.all()) == {*here.near[:3], here.far[3]}
    address = reverse("testbeds:cluster_update", args=[cluster.pk])
    assert "KGFS[01-03], PGFS04" in client.get(address).content.decode()
    client.post(address, {"name": "c", "nodes": ""})
    assert not cluster.nodes.exists()


@pytest.mark.parametrize(
    ("nodes", "said"), [("KGFS[01-", "a bracket is open"), ("KGFS[01-99]", "no nodes called KGFS[05-24]:")]
)
def test_a_wrong_pattern_of_a_cluster_is_named_at_the_field(client: Client, cast: people.Cast, nodes, said) -> None:
    factories.two_sites(cast.team, nodes=4)
    response = client.post(reverse("testbeds:cluster_create"), {"name": "c", "nodes": nodes})
    assert said in errors(response)["nodes"][0]


def test_mounts_are_ticked_each_with_its_own_path(client: Client, cast: people.Cast) -> None:
    a, b, c = (factories.cluster(cast.team, name) for name in "abc")
    form = {
        "name": "f", "kind": "gpfs", "mount_path": "/gpfs", "server_cluster": a.pk, "mounts": [b.pk, c.pk],
        f"mounts-path-{c.pk}": "/elsewhere", f"mounts-path-{a.pk}": "/not-ticked",
    }  # fmt: skip
    client.post(reverse("testbeds:filesystem_create"), form)
    item = models.FileSystem.objects.get()
    assert [str(mount) for mount in item.mounts.all()] == ["b: /gpfs", "c: /elsewhere"]
    page = flat(client.get(reverse("testbeds:filesystem_update", args=[item.pk])).content.decode())
    assert f'value="{b.pk}" id="id_mounts_{b.pk}" checked' in page
    assert 'value="/elsewhere"' in page
    wrong = form | {"name": "g", f"mounts-path-{c.pk}": "relative"}
    assert "c: Write the whole path" in errors(client.post(reverse("testbeds:filesystem_create"), wrong))["mounts"][0]


def test_a_second_rtt_of_two_sites_is_refused(client: Client, cast: people.Cast) -> None:
    a, b = factories.site(cast.team), factories.site(cast.team)
    factories.site_pair(a, b, 0.1)
    form = {"site_a": b.pk, "site_b": a.pk, "rtt_s": "1 ms"}
    assert (
        "already have an end-to-end RTT"
        in errors(client.post(reverse("testbeds:sitepair_create"), form))["__all__"][0]
    )


def test_a_form_begins_with_what_the_address_says(client: Client, cast: people.Cast) -> None:
    site, switch = factories.site(cast.team), factories.switch(cast.team)
    page = client.get(reverse("testbeds:testbed_create"), {"site": site.pk}).content.decode()
    assert f'<option value="{site.pk}" selected>' in page
    page = client.get(reverse("testbeds:link_create"), {"a": f"switch:{switch.pk}"}).content.decode()
    assert f'<option value="switch:{switch.pk}" selected>' in page
    assert client.get(reverse("testbeds:testbed_create"), {"site": "x"}).status_code == 200


def test_nodes_are_added_by_pattern_with_links(client: Client, cast: people.Cast) -> None:
    here = factories.two_sites(cast.team, nodes=1)
    address = reverse("testbeds:add_nodes", args=[here.near_testbed.pk])
    assert client.get(address).status_code == 200
    form = {"names": "KGFS[02-04]", "addresses": "10.0.1.[2-4]", "switch": here.near_switch.pk, "capacity_bps": "1G"}
    assert client.post(address, form)["Location"] == here.near_testbed.get_absolute_url()
    added = models.Node.objects.get(name="KGFS04")
    assert queries.links_at(added).get().capacity_bps == 10**9


@pytest.mark.parametrize(
    ("form", "field"),
    [({"names": ""}, "names"), ({"names": "KGFS01"}, "names"),
     ({"names": "a", "addresses": "10.0.0.300"}, "addresses"), ({"names": "a", "mtu": "1"}, "mtu"),
     ({"names": "a", "capacity_bps": "x"}, "capacity_bps"),
     ({"names": "a", "switch": "999999"}, "switch"), ({"names": "a", "rtt_s": "2 h"}, "rtt_s")],
)  # fmt: skip
def test_what_is_wrong_with_added_nodes_is_named_at_the_field(client: Client, cast: people.Cast, form, field) -> None:
    here = factories.two_sites(cast.team, nodes=1)
    form = {"switch": here.near_switch.pk} | form
    before = models.Node.objects.count()
    assert list(errors(client.post(reverse("testbeds:add_nodes", args=[here.near_testbed.pk]), form))) == [field]
    assert models.Node.objects.count() == before


def test_adding_nodes_is_for_operators_of_the_team(client: Client, cast: people.Cast) -> None:
    testbed = factories.testbed(cast.team)
    address = reverse("testbeds:add_nodes", args=[testbed.pk])
    for person, status in ((cast.bob, 403), (cast.charlie, 404)):
        client.force_login(person)
        assert client.get(address).status_code == status
        assert client.post(address, {"names": "a"}).status_code == status
    client.logout()
    assert client.post(address, {"names": "a"}).status_code == 302
    assert not models.Node.objects.exists()
