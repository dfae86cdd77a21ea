"""The path between two ends, in the browser and over REST: bottleneck, ceilings, and what is not known."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.bench import network
from apps.testbeds import inventory, models, queries
from tests import factories as people
from tests.testbeds import factories
from tests.testbeds.rest import Api

pytestmark = pytest.mark.django_db

PATH = "/inventory/path/"


def test_many_clients_behind_one_line_reach_together_what_the_line_has() -> None:
    here = factories.two_sites(people.team(), nodes=4)
    near, far = (
        factories.cluster(here.line.team, name, *nodes) for name, nodes in (("a", here.near), ("b", here.far))
    )
    report = queries.report_path(near, far)
    assert [limit.total_bps for limit in report.limits] == [10**9] * 4
    assert [[link.name for link in limit.links] for limit in report.limits] == [["KISTI–PNU"]] * 4
    assert report.limits[3].tcp_bps == network.tcp_ceiling_bps(10**9, 9000)


def test_the_published_lan_and_wan_ceilings() -> None:
    team = people.team()
    inventory.load_example(team=team)
    clusters = {cluster.name: cluster for cluster in models.Cluster.objects.all()}
    lan = queries.report_path(clusters["GPFS_KGFS"], clusters["GPFS_X4500"])
    assert [limit.total_bps for limit in lan.limits] == [1e9, 2e9, 3e9, 4e9]
    assert [limit.links for limit in lan.limits[1:3]] == [(), ()]
    assert "X4500 – KISTI" in {link.name for link in lan.limits[3].links}
    wan = queries.report_path(clusters["GPFS_PGFS"], clusters["GPFS_X4500"])
    assert [limit.total_bps for limit in wan.limits] == [1e9] * 5
    assert (wan.bottleneck.name, wan.bdp_bytes) == ("KISTI – PNU", 600_000)


def test_clients_beyond_the_chosen_node_are_like_it() -> None:
    here = factories.two_sites(people.team(), capacity_bps=3 * 10**9)
    report = queries.report_path(here.near[0], here.far[0], 4)
    assert report.copied
    assert [limit.total_bps for limit in report.limits] == [1e9, 2e9, 2e9, 2e9]
    assert [[link.name for link in limit.links] for limit in report.limits] == [
        ["KGFS01 – KISTI"], ["PGFS01 – PNU"], ["PGFS01 – PNU"], ["PGFS01 – PNU"],
    ]  # fmt: skip


def test_nodes_that_are_linked_directly_share_the_one_link() -> None:
    team = people.team()
    a, b = factories.node(team), factories.node(team)
    factories.link(a, b, rtt_s=0.001, mtu=1500)
    report = queries.report_path(a, b, 2)
    assert [limit.total_bps for limit in report.limits] == [1e9, 1e9]
    assert report.unscaled_bps == pytest.approx(65535 * 8 / 0.001)


def test_a_cluster_within_itself_sends_to_the_others() -> None:
    here = factories.two_sites(people.team(), nodes=3)
    cluster = factories.cluster(here.line.team, "c", *here.near)
    report = queries.report_path(cluster, cluster)
    assert report.source != report.destination
    assert len(report.limits) == 3


@pytest.mark.parametrize("case", ["empty cluster", "node to itself", "no links", "other team"])
def test_where_nothing_leads_there_is_no_report(case: str) -> None:
    team = people.team()
    node = factories.node(team)
    other = {
        "empty cluster": lambda: factories.cluster(team),
        "node to itself": lambda: node,
        "no links": lambda: factories.node(team),
        "other team": lambda: factories.node(people.team()),
    }[case]()
    assert queries.report_path(node, other) is None


def test_the_page_names_the_bottleneck_and_the_figures(client: Client) -> None:
    cast = people.cast()
    inventory.load_example(team=cast.team)
    nodes = {node.name: node.pk for node in models.Node.objects.all()}
    line = models.Link.objects.get(name="KISTI – PNU")
    client.force_login(cast.bob)
    ends = {"from": f"node:{nodes['KGFS01']}", "to": f"node:{nodes['PGFS01']}", "clients": "3"}
    page = client.get(PATH, ends).content.decode()
    assert f'the bottleneck is <a class="bottleneck" href="{line.get_absolute_url()}">KISTI – PNU</a>' in page
    for figure in ("1 Gbit/s", "4.80 ms", "9000 B", "585.9 KiB", "990.0 Mbit/s", "109.2 Mbit/s"):
        assert figure in page
    assert "topology-bottleneck" in page


def test_the_page_of_a_long_path_names_its_bottleneck(client: Client) -> None:
    cast = people.cast()
    inventory.load_example(team=cast.team)
    client.force_login(cast.bob)
    ends = {name: models.Node.objects.get(name=node).pk for name, node in (("from", "KNU"), ("to", "Caltech"))}
    page = client.get(PATH, {name: f"node:{pk}" for name, pk in ends.items()}).content.decode()
    for figure in ("622 Mbit/s", "Genkai XP – Tokyo XP", "end to end, between the sites", "136 ms"):
        assert figure in page
    assert "if the MTU is 1500 B" in page


def test_what_is_not_known_is_said(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=1)
    models.Link.objects.filter(pk=here.line.pk).update(capacity_bps=None, rtt_s=None)
    client.force_login(cast.bob)
    ends = {"from": f"node:{here.near[0].pk}", "to": f"node:{here.far[0].pk}"}
    page = client.get(PATH, ends).content.decode()
    assert "The capacity of these links is not known" in page
    assert "perhaps less" in page
    assert "not known for every link" in page
    assert "≤ 1 Gbit/s" in page


def test_the_page_says_what_to_do_where_no_links_lead(client: Client) -> None:
    cast = people.cast()
    a, b = factories.node(cast.team, "a1"), factories.node(cast.team, "b1")
    client.force_login(cast.oscar)
    page = client.get(PATH, {"from": f"node:{a.pk}", "to": f"node:{b.pk}"}).content.decode()
    assert "No path from a1 to b1" in page
    assert reverse("testbeds:link_create") in page
    assert "Choose two nodes" in client.get(PATH).content.decode()


@pytest.mark.parametrize("query", [{"from": "node:999999"}, {"from": "x"}, {"from": "node:"}, {"clients": "0"}])
def test_a_wrong_choice_is_named_on_the_form(client: Client, query) -> None:
    cast = people.cast()
    node = factories.node(cast.team)
    client.force_login(cast.bob)
    response = client.get(PATH, {"from": f"node:{node.pk}", "to": f"node:{node.pk}"} | query)
    assert list(response.context["form"].errors) == list(query)


def test_the_page_is_for_members(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=1)
    ends = {"from": f"node:{here.near[0].pk}", "to": f"node:{here.far[0].pk}"}
    assert client.get(PATH, ends).status_code == 302
    client.force_login(cast.charlie)
    assert "from" in client.get(PATH, ends).context["form"].errors
    assert client.get(PATH, ends | {"team": cast.team.slug}).status_code == 404
    client.force_login(people.user("nobody"))
    assert client.get(PATH).status_code == 404


def test_a_path_takes_a_bounded_number_of_queries(client: Client, django_assert_max_num_queries) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=10)
    near, far = (factories.cluster(cast.team, name, *nodes) for name, nodes in (("a", here.near), ("b", here.far)))
    client.force_login(cast.bob)
    with django_assert_max_num_queries(25):
        page = client.get(PATH, {"from": f"cluster:{near.pk}", "to": f"cluster:{far.pk}"}).content.decode()
    assert "KGFS × 10" in page


def test_rest_gives_the_same_figures(client: Client) -> None:
    cast = people.cast()
    inventory.load_example(team=cast.team)
    clusters = {cluster.name: cluster.pk for cluster in models.Cluster.objects.all()}
    ends = {"from": f"cluster:{clusters['GPFS_PGFS']}", "to": f"cluster:{clusters['GPFS_X4500']}", "clients": 2}
    answer = Api(client, cast.bob).get("paths/", ends)
    assert (answer["client"], answer["server"], answer["hops"]) == ("PGFS01", "X4500", 3)
    assert [link["name"] for link in answer["links"]] == ["PGFS01 – PNU", "KISTI – PNU", "X4500 – KISTI"]
    assert answer["bottleneck"]["name"] == "KISTI – PNU"
    assert (answer["capacity_bps"], answer["rtt_s"], answer["mtu"], answer["bdp_bytes"]) == (
        1e9,
        0.0048,
        9000,
        600_000,
    )
    assert answer["tcp_ceiling_bps"] == pytest.approx(990.0e6, rel=1e-3)
    assert [(row["clients"], row["total_bps"], row["links"]) for row in answer["ceilings"]] == [
        (1, 1e9, ["KISTI – PNU"]), (2, 1e9, ["KISTI – PNU"]),
    ]  # fmt: skip


def test_rest_takes_the_id_of_a_node_alone(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=1)
    answer = Api(client, cast.bob).get("paths/", {"from": here.near[0].pk, "to": f"node:{here.far[0].pk}"})
    assert answer["bottleneck"]["name"] == "KISTI–PNU"
    assert len(answer["ceilings"]) == 8


@pytest.mark.parametrize(
    ("query", "field"),
    [({"from": ""}, "from"), ({"to": "node:"}, "to"), ({"to": "switch:1"}, "to"), ({"to": ":1"}, "to"),
     ({"to": "9" * 30}, "to"), ({"to": "cluster:999999"}, "to"), ({"clients": "0"}, "clients"),
     ({"clients": "many"}, "clients"), ({"clients": "9" * 30}, "clients")],
)  # fmt: skip
def test_rest_names_what_is_wrong(client: Client, query, field) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=1)
    ends = {"from": here.near[0].pk, "to": here.far[0].pk} | query
    assert list(Api(client, cast.bob).get("paths/", ends, status=400)["fields"]) == [field]


def test_rest_hides_other_teams_and_says_where_nothing_leads(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=1)
    alone = factories.node(cast.team, "alone")
    ends = {"from": here.near[0].pk, "to": here.far[0].pk}
    Api(client).get("paths/", ends, status=401)
    assert set(Api(client, cast.charlie).get("paths/", ends, status=400)["fields"]) == {"from"}
    answer = Api(client, cast.bob).get("paths/", ends | {"to": alone.pk}, status=404)
    assert "No links of the inventory join KGFS01 and alone" in answer["detail"]
