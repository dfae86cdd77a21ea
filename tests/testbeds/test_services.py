"""Making, changing, copying and deleting what is in an inventory."""

import math

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from apps.testbeds import models, queries, services
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Site, SitePair, Switch
from tests import factories as people
from tests.testbeds import factories

pytestmark = pytest.mark.django_db


def refused(call, **values) -> dict[str, list[str]]:
    """Return the messages by field with which a service refuses."""
    with pytest.raises(ValidationError) as caught, transaction.atomic():
        call(**values)
    return caught.value.message_dict


def create(kind, team, /, **values) -> dict[str, list[str]]:
    return refused(services.create_item, kind=kind, team=team, values=values)


def test_it_makes_a_node_with_its_addresses_in_order() -> None:
    team = people.team()
    values = {
        "name": "n1",
        "testbed": factories.testbed(team),
        "addresses": [services.Address("fe80::1", "eth1"), services.Address("10.0.0.1", "eth0")],
    }
    node = services.create_item(kind=Node, team=team, values=values)
    assert [(row.address, row.interface) for row in node.addresses.all()] == [
        ("fe80::1", "eth1"),
        ("10.0.0.1", "eth0"),
    ]


def test_it_changes_what_is_given_and_leaves_the_rest() -> None:
    node = factories.node(people.team(), "n1", "10.0.0.1")
    services.update_item(item=node, values={"notes": "slow disk"})
    node.refresh_from_db()
    assert (node.notes, node.addresses.get().address) == ("slow disk", "10.0.0.1")
    services.update_item(item=node, values={"addresses": [services.Address("10.0.0.2")]})
    assert node.addresses.get().address == "10.0.0.2"


def test_blanks_around_a_name_are_taken_off() -> None:
    assert services.create_item(kind=Site, team=people.team(), values={"name": " KISTI "}).name == "KISTI"


@pytest.mark.parametrize(
    "address", ["10.0.0.300", "10.0.0", "a b", "-oProxyCommand=x", "a_.b-", "", "x" * 300, "1::2::3"]
)
def test_it_refuses_what_is_no_address(address: str) -> None:
    team = people.team()
    wrong = create(Node, team, name="n", testbed=factories.testbed(team), addresses=[services.Address(address)])
    assert list(wrong) == ["addresses"]
    assert not Node.objects.exists()


@pytest.mark.parametrize("address", ["10.0.0.1", "fd00::1", "node1", "node-1.example.org", "node.example.org."])
def test_it_takes_addresses_and_host_names(address: str) -> None:
    team = people.team()
    values = {"name": "n", "testbed": factories.testbed(team), "addresses": [services.Address(address)]}
    assert services.create_item(kind=Node, team=team, values=values).addresses.get().address == address


def test_it_refuses_an_address_that_stands_twice_and_a_wrong_interface() -> None:
    team = people.team()
    two = [services.Address("10.0.0.1"), services.Address("10.0.0.1", "-eth0")]
    wrong = create(Node, team, name="n", testbed=factories.testbed(team), addresses=two)
    assert "10.0.0.1: This is no name of a network interface; use one such as eth0 or bond0." in wrong["addresses"]
    assert "10.0.0.1 stands here twice: leave one out." in wrong["addresses"]


@pytest.mark.parametrize("name", ["", "n[1-2]", "a b", "a,b", "-n", "n" * 101])
def test_it_refuses_node_names_that_lists_could_not_hold(name: str) -> None:
    team = people.team()
    assert list(create(Node, team, name=name, testbed=factories.testbed(team))) == ["name"]


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "a\x1bb", "a\ud800b"])
def test_it_refuses_names_with_characters_that_can_not_be_stored_or_shown(name: str) -> None:
    assert list(create(Site, people.team(), name=name)) == ["name"]


def test_notes_may_have_several_lines() -> None:
    site = services.create_item(kind=Site, team=people.team(), values={"name": "a", "notes": "one\r\ntwo\tthree"})
    assert site.notes == "one\r\ntwo\tthree"
    assert list(create(Site, people.team(), name="a", notes="bell\a")) == ["notes"]


def test_it_refuses_a_name_the_team_has_and_takes_one_another_team_has() -> None:
    team = people.team()
    factories.site(team, "KISTI")
    assert "already has a site called “KISTI”" in create(Site, team, name="KISTI")["name"][0]
    assert services.create_item(kind=Site, team=people.team(), values={"name": "KISTI"}).pk
    assert services.create_item(kind=Switch, team=team, values={"name": "KISTI", "site": factories.site(team)}).pk


@pytest.mark.parametrize(
    ("kind", "field", "maker"),
    [
        (models.Testbed, "site", factories.site),
        (Node, "testbed", factories.testbed),
        (Switch, "site", factories.site),
        (Link, "a_node", factories.node),
        (Link, "b_switch", factories.switch),
        (FileSystem, "server_cluster", factories.cluster),
        (SitePair, "site_a", factories.site),
        (SitePair, "site_b", factories.site),
    ],
)
def test_it_refuses_to_refer_to_another_teams_things(kind, field, maker) -> None:
    team = people.team()
    values = {
        models.Testbed: lambda: {"name": "x"},
        Node: lambda: {"name": "x"},
        Switch: lambda: {"name": "x"},
        Link: lambda: {"name": "x", "a_node": factories.node(team), "b_switch": factories.switch(team)},
        FileSystem: lambda: {"name": "x", "kind": "nfs", "mount_path": "/nfs"},
        SitePair: lambda: {"site_a": factories.site(team), "site_b": factories.site(team), "rtt_s": 0.1},
    }[kind]()
    wrong = create(kind, team, **values | {field: maker(people.team(), "foreign")})
    assert list(wrong) == [field]
    assert "“foreign” belongs to another team" in wrong[field][0]


def test_it_refuses_another_teams_nodes_in_a_cluster_and_clusters_at_a_mount() -> None:
    team = people.team()
    stranger = factories.node(people.team(), "foreign")
    assert "“foreign” belongs to another team" in create(Cluster, team, name="c", nodes=[stranger])["nodes"][0]
    mount = services.MountPoint(factories.cluster(people.team(), "foreign"))
    wrong = create(FileSystem, team, name="f", kind="nfs", mount_path="/nfs", mounts=[mount])
    assert "“foreign” belongs to another team" in wrong["mounts"][0]


def test_it_refuses_a_wrong_path_of_a_mount_and_a_cluster_that_stands_twice() -> None:
    team = people.team()
    cluster = factories.cluster(team, "c")
    mounts = [services.MountPoint(cluster, "relative"), services.MountPoint(cluster)]
    wrong = create(FileSystem, team, name="f", kind="nfs", mount_path="/nfs", mounts=mounts)
    assert any("beginning with “/”" in text for text in wrong["mounts"])
    assert "c stands here twice: leave one out." in wrong["mounts"]
    assert list(create(FileSystem, team, name="f", kind="nfs", mount_path="nfs")) == ["mount_path"]
    assert list(create(FileSystem, team, name="f", kind="fat", mount_path="/nfs")) == ["kind"]


def test_it_keeps_mounts_and_changes_them() -> None:
    team = people.team()
    a, b = factories.cluster(team, "a"), factories.cluster(team, "b")
    values = {"name": "f", "kind": "nfs", "mount_path": "/nfs", "mounts": [services.MountPoint(a, "/elsewhere")]}
    item = services.create_item(kind=FileSystem, team=team, values=values)
    assert [str(mount) for mount in item.mounts.all()] == ["a: /elsewhere"]
    services.update_item(item=item, values={"mounts": [services.MountPoint(b)]})
    assert [str(mount) for mount in item.mounts.all()] == ["b: /nfs"]


def test_a_link_joins_two_different_things_each_a_node_or_a_switch() -> None:
    team = people.team()
    node, switch = factories.node(team), factories.switch(team)
    no_end = create(Link, team, name="x", a_node=node)
    both = create(Link, team, name="x", a_node=node, a_switch=switch, b_switch=factories.switch(team))
    itself = create(Link, team, name="x", a_node=node, b_node=node)
    assert no_end["__all__"] == ["End B is either a node or a switch: choose one."]
    assert both["__all__"] == ["End A is either a node or a switch: choose one."]
    assert itself["__all__"] == ["A link joins two different things: choose another end B."]


@pytest.mark.parametrize(
    ("field", "value"),
    [("capacity_bps", 0), ("capacity_bps", 2**63), ("mtu", 67), ("mtu", 65536), ("rtt_s", -1.0), ("rtt_s", math.nan),
     ("rtt_s", math.inf), ("rtt_s", 3601.0)],
)  # fmt: skip
def test_it_refuses_figures_that_no_link_has(field: str, value: float) -> None:
    team = people.team()
    ends = {"a_switch": factories.switch(team), "b_switch": factories.switch(team)}
    assert list(create(Link, team, name="x", **ends, **{field: value})) == [field]


@pytest.mark.parametrize("field", ["ram_bytes", "cores_per_node", "nic_count", "nic_bps", "mtu"])
def test_it_refuses_figures_that_no_machine_has(field: str) -> None:
    team = people.team()
    assert list(create(models.Testbed, team, name="x", site=factories.site(team), **{field: 0})) == [field]


def test_two_sites_have_one_end_to_end_rtt_whichever_is_named_first() -> None:
    team = people.team()
    a, b = factories.site(team), factories.site(team)
    services.create_item(kind=SitePair, team=team, values={"site_a": a, "site_b": b, "rtt_s": 0.1})
    wrong = create(SitePair, team, site_a=b, site_b=a, rtt_s=0.2)
    assert wrong["__all__"] == ["These two sites already have an end-to-end RTT: change that one."]
    assert create(SitePair, team, site_a=a, site_b=a, rtt_s=0.1)["__all__"] == ["Choose two different sites."]
    with pytest.raises(IntegrityError), transaction.atomic():
        factories.site_pair(b, a, 0.2)


def test_a_copy_of_a_cluster_has_its_nodes_and_one_of_a_file_system_its_mounts() -> None:
    team = people.team()
    cluster = factories.cluster(team, "c", factories.node(team), factories.node(team))
    copy = services.clone_item(item=cluster, name="c2")
    assert (copy.name, set(copy.nodes.all())) == ("c2", set(cluster.nodes.all()))
    mounted = factories.file_system(team, "f", cluster, disks="8 SATA")
    copied = services.clone_item(item=mounted, name="f2")
    assert (copied.disks, copied.mounts.get().cluster) == ("8 SATA", cluster)
    assert mounted.mounts.count() == 1


def test_a_copy_of_a_node_leaves_its_addresses() -> None:
    node = factories.node(people.team(), "n1", "10.0.0.1", notes="old")
    copy = services.clone_item(item=node, name="n2")
    assert (copy.testbed, copy.notes, copy.addresses.count()) == (node.testbed, "old", 0)
    assert refused(services.clone_item, item=node, name="n2")["name"]


def test_a_copy_of_a_link_has_its_ends_and_figures() -> None:
    line = factories.two_sites(people.team()).line
    copy = services.clone_item(item=line, name="second line")
    assert (copy.end_a, copy.end_b, copy.capacity_bps) == (line.end_a, line.end_b, line.capacity_bps)


def test_it_refuses_to_delete_what_others_depend_on_and_names_them() -> None:
    team = people.team()
    here = factories.two_sites(team, nodes=1)
    cluster = factories.cluster(team, "GPFS_KGFS", here.near[0])
    served = factories.file_system(team, "scratch", server_cluster=cluster)
    mounted = factories.file_system(team, "home", cluster)
    pair = factories.site_pair(here.near_site, here.far_site, 0.0048)
    access = queries.links_at(here.near[0]).get()
    expected = {
        here.near_site: {here.near_testbed, here.near_switch, pair},
        here.near_testbed: {here.near[0]},
        here.near[0]: {access, cluster},
        here.near_switch: {access, here.line},
        cluster: {served, mounted},
    }
    for item, dependents in expected.items():
        with pytest.raises(ProtectedError) as caught, transaction.atomic():
            services.delete_item(item=item)
        assert caught.value.protected_objects == dependents
        assert set(queries.dependents(item)) == dependents
        assert type(item).objects.filter(pk=item.pk).exists()


def test_it_deletes_what_nothing_depends_on_with_its_parts() -> None:
    team = people.team()
    node = factories.node(team, "n", "10.0.0.1")
    mounted = factories.file_system(team, "f", factories.cluster(team))
    services.delete_item(item=node)
    services.delete_item(item=mounted)
    assert not Node.objects.exists()
    assert not FileSystem.objects.exists()
