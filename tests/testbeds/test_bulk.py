"""Many like nodes added at once."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.testbeds import queries, services
from apps.testbeds.models import Link, Node, NodeAddress
from tests import factories as people
from tests.testbeds import factories
from tests.testbeds.test_services import refused

pytestmark = pytest.mark.django_db


def test_it_adds_many_nodes_with_addresses_and_links_at_once() -> None:
    team = people.team()
    here = factories.two_sites(team, nodes=1)
    nodes = services.add_nodes(
        testbed=here.near_testbed,
        names="KGFS[02-04]",
        addresses="10.0.1.[2-4]",
        switch=here.near_switch,
        link={"capacity_bps": 10**9, "mtu": 9000},
    )
    assert [(node.name, node.addresses.get().address) for node in nodes] == [
        ("KGFS02", "10.0.1.2"), ("KGFS03", "10.0.1.3"), ("KGFS04", "10.0.1.4"),
    ]  # fmt: skip
    assert queries.path_between(nodes[2], here.far[0]).bottleneck.name == "KISTI–PNU"
    assert queries.links_at(nodes[0]).get().name == "KGFS02 – KISTI"


@pytest.mark.parametrize(
    ("values", "field", "said"),
    [
        ({"names": ""}, "names", "at least one name"),
        ({"names": "a[1-"}, "names", "a bracket is open"),
        ({"names": "a[1-1001]"}, "names", "more than 1000 nodes"),
        ({"names": "a[1-2]", "addresses": "10.0.0.1"}, "addresses", "These are 1 addresses for 2 nodes"),
        ({"names": "a[1-2]", "addresses": "10.0.0.[1-"}, "addresses", "a bracket is open"),
        ({"names": "a1", "addresses": "10.0.0.999"}, "addresses", "a1: “10.0.0.999” is neither"),
        ({"names": "a1, a1"}, "names", "already has a node called “a1”"),
        ({"names": "a/1"}, "names", "a/1: Use letters"),
        ({"names": "a1", "link": {"mtu": 1}}, "mtu", "greater than or equal to 68"),
    ],
)
def test_adding_nodes_is_all_or_nothing(values, field, said) -> None:
    team = people.team()
    switch = factories.switch(team)
    wrong = refused(services.add_nodes, testbed=factories.testbed(team), **{"switch": switch} | values)
    assert said in wrong[field][0]
    assert not Node.objects.exists()


def test_adding_nodes_refuses_another_teams_switch_and_a_taken_name_of_a_link() -> None:
    team = people.team()
    testbed, switch = factories.testbed(team), factories.switch(team, "s")
    foreign = factories.switch(people.team(), "foreign")
    wrong = refused(services.add_nodes, testbed=testbed, names="a1", switch=foreign)
    assert "“foreign” belongs to another team" in wrong["switch"][0]
    factories.link(switch, factories.switch(team), name="a1 – s")
    wrong = refused(services.add_nodes, testbed=testbed, names="a1", switch=switch)
    assert "already has a link called “a1 – s”" in wrong["switch"][0]


def test_many_nodes_with_addresses_and_links_cost_as_many_queries_as_few() -> None:
    team = people.team()
    testbed, switch = factories.testbed(team), factories.switch(team)
    asked = []
    for letter, count in (("a", 9), ("b", 900)):
        with CaptureQueriesContext(connection) as queries:
            services.add_nodes(
                testbed=testbed,
                names=f"{letter}[001-{count:03d}]",
                addresses=f"10.{len(asked)}.[1-{count // 9}].[1-9]",
                switch=switch,
            )
        asked.append(len(queries))
    assert asked[1] <= 2 * asked[0]
    assert [Node.objects.count(), Link.objects.count(), NodeAddress.objects.count()] == [909, 909, 909]


def test_one_name_of_many_that_is_taken_is_named_and_found_by_halves() -> None:
    team = people.team()
    testbed = factories.testbed(team)
    factories.node(team, "a777", testbed=testbed)
    with CaptureQueriesContext(connection) as queries:
        wrong = refused(services.add_nodes, testbed=testbed, names="a[001-900]")
    assert "a777: The team already has a node called “a777”" in wrong["names"][0]
    assert len(queries) < 150
    assert Node.objects.count() == 1
