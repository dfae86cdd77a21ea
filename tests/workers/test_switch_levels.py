"""MPI tools are told how many switches lie between the nodes of a role, so that they can place ranks by that."""

from types import SimpleNamespace
from typing import Any

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, Plan
from apps.testbeds import queries as inventory
from apps.testbeds.models import Node
from tests.testbeds import factories
from workers import plans

pytestmark = pytest.mark.django_db


@pytest.fixture
def leaves(cast: SimpleNamespace) -> list[Node]:
    """Return three nodes: two at one leaf switch, one at another, joined by a spine; and one that no link joins."""
    nodes = [factories.node(cast.team, name, f"10.0.0.{index}") for index, name in enumerate("abcd", 1)]
    left, right, spine = (factories.switch(cast.team, name) for name in ("left", "right", "spine"))
    for one, other in ((nodes[0], left), (nodes[1], left), (nodes[2], right), (left, spine), (right, spine)):
        factories.link(one, other)
    return nodes


def test_switches_are_counted_on_the_path(leaves: list[Node], django_assert_num_queries: Any) -> None:
    ids = [node.pk for node in leaves]
    with django_assert_num_queries(3):
        found = inventory.switches_between(ids[0], ids[1:])
    assert found == {ids[1]: 1, ids[2]: 3}


def test_the_first_node_of_a_role_knows_its_distance_from_the_others(leaves: list[Node]) -> None:
    members = [NodeRef(node.name, "", facts={"hostname": node.name}) for node in leaves]
    first, *others = plans._with_switches(members, [node.pk for node in leaves])
    assert first.facts == {"hostname": "a", "switches": {"b": 1, "c": 3}}
    assert others == members[1:]
    assert plans._with_switches(members[:1], [leaves[0].pk]) == members[:1]


def test_partners_are_placed_by_the_number_of_switches(leaves: list[Node]) -> None:
    members = [NodeRef(node.name, f"10.0.0.{index}") for index, node in enumerate(leaves, 1)]
    told = plans._with_switches(members, [node.pk for node in leaves])
    tool = tools.get("osu-bandwidth")
    plan: Plan = tool.plan(tool.clean({"placement": "other-node", "distance": 3}), {"node": told})
    files = dict(plan.stages[0].commands[0].files)
    assert files["hosts"] == "10.0.0.1 slots=1\n10.0.0.3 slots=1\n"
