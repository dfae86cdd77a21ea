"""Ranks are put on cores by sockets, distance, nodes and switches, as the node's facts tell them."""

import pytest

from apps.bench.toolkit import NodeRef, ParameterError
from apps.bench.tools._mpi import placement
from apps.bench.tools._mpi.topology import read_topology
from tests.bench.tools.mpi_nodes import node, pair_of_nodes, topology

# Four sockets in a ring: the opposite one is two steps away.
RING = [[10, 16, 22, 16], [16, 10, 16, 22], [22, 16, 10, 16], [16, 22, 16, 10]]


def places(slots):
    return [(slot.node, slot.core.label if slot.core else "") for slot in slots]


def pairs(kind, count, nodes, distance=0):
    return places(placement.place_pairs(kind, distance, count, nodes))


def refusal(call, *args):
    with pytest.raises(ParameterError) as caught:
        call(*args)
    return caught.value.errors


def test_cores_are_numbered_as_hwloc_does():
    # Cores whose numbers leave gaps, sockets in odd order, two threads each.
    rows = [
        [0, 3, 8, 0],
        [1, 3, 2, 0],
        [2, 1, 0, 1],
        [3, 1, 5, 1],
        [4, 3, 8, 0],
        [5, 3, 2, 0],
        [6, 1, 0, 1],
        [7, 1, 5, 1],
    ]
    machine = read_topology({"cpus": rows, "numa_distances": {"0": [10, 20], "1": [20, 10]}})
    assert [(core.label, core.cpus) for core in machine.cores] == [
        ("0:0", (0, 4)),
        ("0:1", (1, 5)),
        ("1:0", (2, 6)),
        ("1:1", (3, 7)),
    ]
    assert machine.hops(machine.cores[0], machine.cores[1]) == 0
    assert machine.hops(machine.cores[0], machine.cores[2]) == 1


@pytest.mark.parametrize(
    "facts",
    [
        None,
        {},
        [],
        {"cpus": []},
        {"cpus": [[0, 0, 0]]},
        {"cpus": [[0, 0, 0, -1]]},
        {"cpus": [["0", 0, 0, 0]]},
        {"cpus": 3},
    ],
)
def test_facts_of_an_unknown_form_tell_no_topology(facts):
    assert read_topology(facts) is None


@pytest.mark.parametrize("distances", [None, [], {"x": [10]}, {"0": "10"}, {"0": ["10"]}])
def test_without_a_table_of_distances_another_socket_is_one_step_away(distances):
    machine = read_topology({**topology(), "numa_distances": distances})
    assert machine.hops(machine.cores[0], machine.cores[-1]) == 1


def test_partners_in_one_socket_have_cores_of_their_own():
    assert pairs("same-socket", 3, pair_of_nodes()) == [
        (0, "0:0"),
        (0, "0:2"),
        (0, "1:0"),
        (0, "0:1"),
        (0, "0:3"),
        (0, "1:1"),
    ]


def test_partners_in_other_sockets_are_at_the_distance_asked_for():
    machine = [node("a", topology=topology(sockets=4, cores=1, distances=RING))]
    assert pairs("other-socket", 1, machine, 1) == [(0, "0:0"), (0, "1:0")]
    assert pairs("other-socket", 1, machine, 2) == [(0, "0:0"), (0, "2:0")]
    assert pairs("other-socket", 2, machine, 2) == [(0, "0:0"), (0, "1:0"), (0, "2:0"), (0, "3:0")]
    assert set(refusal(placement.place_pairs, "other-socket", 3, 1, machine)) == {"placement"}


def test_partners_on_other_nodes_take_the_same_core_of_each():
    assert pairs("other-node", 2, pair_of_nodes()) == [(0, "0:0"), (0, "0:1"), (1, "0:0"), (1, "0:1")]


def test_nodes_that_tell_no_cores_are_used_without_binding():
    assert pairs("other-node", 1, [node("a"), node("b")]) == [(0, ""), (1, "")]


def test_a_partner_so_many_switches_away_is_chosen_by_the_inventory():
    nodes = [node("a", switches={"b": 1, "c": 3}), node("b"), node("c")]
    assert pairs("other-node", 1, nodes) == [(0, ""), (1, "")]
    assert pairs("other-node", 1, nodes, 3) == [(0, ""), (2, "")]
    assert set(refusal(placement.place_pairs, "other-node", 2, 1, nodes)) == {"distance"}


@pytest.mark.parametrize(
    ("kind", "count", "nodes"),
    [
        ("other-node", 1, [node("a")]),
        ("same-socket", 1, [node("a")]),
        ("same-socket", 5, pair_of_nodes()),
        ("other-socket", 1, [node("a", topology=topology(sockets=1))]),
    ],
)
def test_what_the_nodes_do_not_have_is_refused_with_their_names(kind, count, nodes):
    errors = refusal(placement.place_pairs, kind, 0, count, nodes)
    assert set(errors) == {"placement"}


def test_without_a_placement_the_launcher_is_free():
    assert pairs("free", 1, pair_of_nodes()) == [(0, ""), (1, "")]
    assert pairs("free", 1, pair_of_nodes()[:1]) == [(0, ""), (0, "")]


@pytest.mark.parametrize(
    ("nodes_by", "cores_by", "expected"),
    [
        ("BAL", "ACC", [(0, "0:0"), (1, "0:0"), (0, "0:1"), (1, "0:1")]),
        ("BAL", "DIST", [(0, "0:0"), (1, "0:0"), (0, "1:0"), (1, "1:0")]),
        ("UNBAL", "ACC", [(0, "0:0"), (0, "0:1"), (0, "1:0"), (0, "1:1")]),
        ("UNBAL", "DIST", [(0, "0:0"), (0, "1:0"), (0, "0:1"), (0, "1:1")]),
        ("BAL", "free", [(0, ""), (1, ""), (0, ""), (1, "")]),
        ("UNBAL", "free", [(0, ""), (0, ""), (0, ""), (0, "")]),
    ],
)
def test_ranks_are_dealt_out_or_fill_nodes_and_sockets(nodes_by, cores_by, expected):
    assert places(placement.place_ranks(4, nodes_by, cores_by, pair_of_nodes(cores=2))) == expected


def test_ranks_overflow_to_the_next_node_when_one_is_full():
    slots = placement.place_ranks(6, "UNBAL", "ACC", pair_of_nodes(cores=2))
    assert [slot.node for slot in slots] == [0, 0, 0, 0, 1, 1]


def test_more_ranks_than_cores_cannot_be_bound():
    errors = refusal(placement.place_ranks, 9, "BAL", "ACC", pair_of_nodes(cores=2))
    assert "4 cores" in str(errors["ranks"])


def test_a_node_of_unknown_size_takes_an_equal_share():
    slots = placement.place_ranks(4, "UNBAL", "free", [node("a"), node("b")])
    assert [slot.node for slot in slots] == [0, 0, 1, 1]


def test_a_collective_stays_in_a_socket_spans_the_sockets_or_the_nodes():
    nodes = pair_of_nodes(cores=4)
    assert places(placement.place_group("same-socket", 3, nodes)) == [(0, "0:0"), (0, "0:1"), (0, "0:2")]
    assert places(placement.place_group("other-socket", 3, nodes)) == [(0, "0:0"), (0, "1:0"), (0, "0:1")]
    assert places(placement.place_group("other-node", 3, nodes)) == [(0, "0:0"), (1, "0:0"), (0, "0:1")]
    assert places(placement.place_group("free", 3, nodes)) == [(0, ""), (1, ""), (0, "")]
    assert set(refusal(placement.place_group, "same-socket", 5, nodes)) == {"placement"}
    one_socket = [NodeRef("a", "10.0.0.1", facts={"topology": topology(sockets=1)})]
    assert set(refusal(placement.place_group, "other-socket", 2, one_socket)) == {"placement"}
