"""Paths: fewest links, then the widest; bottleneck, RTT and MTU of what is known, and honesty about the rest."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench.network import Fabric, PathLink, find_path

GBIT = 1_000_000_000


def kisti_to_pusan(**wan):
    """Return four nodes a site behind a switch, joined by the 1 Gbit/s, 4.8 ms line of the GFS report."""
    line = {"capacity_bps": GBIT, "rtt_s": 0.0048, "mtu": 9000, "name": "KISTI–Pusan"} | wan
    links = [PathLink("wan", "switch:kisti", "switch:pusan", **line)]
    for site in ("kisti", "pusan"):
        for number in range(1, 5):
            capacity = 4 * GBIT if number == 1 else GBIT
            end = f"node:{site}{number}"
            links.append(PathLink(f"{site}{number}", end, f"switch:{site}", capacity, 0.0001, 9000))
    return links


def test_the_wan_is_the_bottleneck_of_a_path_between_sites():
    path = find_path(kisti_to_pusan(capacity_bps=622_000_000), "node:kisti1", "node:pusan1")
    assert [link.key for link in path.links] == ["kisti1", "wan", "pusan1"]
    assert path.nodes == ("node:kisti1", "switch:kisti", "switch:pusan", "node:pusan1")
    assert path.hops == 3
    assert path.bottleneck.name == "KISTI–Pusan"
    assert path.capacity_bps == 622_000_000
    assert path.rtt_s == pytest.approx(0.005)
    assert path.mtu == 9000


def test_of_equal_links_the_shared_one_between_the_ends_own_is_the_bottleneck():
    assert find_path(kisti_to_pusan(), "node:kisti2", "node:pusan2").bottleneck.key == "wan"


def test_of_equal_links_of_the_ends_the_first_is_the_bottleneck():
    path = find_path(kisti_to_pusan(capacity_bps=10 * GBIT), "node:kisti2", "node:pusan2")
    assert path.bottleneck.key == "kisti2"
    assert find_path([PathLink(1, "a", "b", 5)], "a", "b").bottleneck.key == 1


def test_a_path_runs_the_other_way_as_well():
    links = kisti_to_pusan()
    there, back = find_path(links, "node:kisti3", "node:pusan2"), find_path(links, "node:pusan2", "node:kisti3")
    assert back.links == there.links[::-1]
    assert back.nodes == there.nodes[::-1]


def test_the_least_mtu_counts():
    assert find_path(kisti_to_pusan(mtu=1500), "node:kisti1", "node:pusan1").mtu == 1500


def test_an_end_to_end_rtt_takes_precedence_over_the_sum():
    path = find_path(kisti_to_pusan(rtt_s=None), "node:kisti1", "node:pusan1", end_to_end_rtt_s=0.0049)
    assert path.rtt_s == 0.0049
    assert find_path(kisti_to_pusan(), "node:kisti1", "node:pusan1", end_to_end_rtt_s=0.0).rtt_s == 0.0


def test_what_one_link_does_not_tell_is_unknown_of_the_path():
    links = kisti_to_pusan(capacity_bps=None, rtt_s=None, mtu=None)
    path = find_path(links, "node:kisti1", "node:pusan2")
    assert (path.capacity_bps, path.bottleneck, path.rtt_s, path.mtu) == (None, None, None, None)
    assert [link.key for link in path.unknown_capacities] == ["wan"]
    assert path.narrowest_known.key == "pusan2"


def test_nothing_is_known_where_no_link_tells_anything():
    path = find_path([PathLink(1, "a", "b")], "a", "b")
    assert (path.hops, path.capacity_bps, path.rtt_s, path.mtu, path.narrowest_known) == (1, None, None, None, None)


def test_an_rtt_of_zero_is_known():
    assert find_path([PathLink(1, "a", "b", rtt_s=0.0)], "a", "b").rtt_s == 0


def test_a_node_reaches_itself_over_no_link_of_which_nothing_is_known():
    path = find_path(kisti_to_pusan(), "node:kisti1", "node:kisti1")
    assert (path.links, path.nodes, path.hops) == ((), ("node:kisti1",), 0)
    assert (path.capacity_bps, path.rtt_s, path.mtu, path.bottleneck) == (None, None, None, None)


@pytest.mark.parametrize("ends", [("a", "d"), ("d", "a"), ("a", "elsewhere"), ("elsewhere", "a")])
def test_unconnected_nodes_have_no_path(ends):
    assert find_path([PathLink(1, "a", "b"), PathLink(2, "c", "d")], *ends) is None


def test_fewer_links_come_before_more_capacity():
    links = [PathLink(1, "a", "b", GBIT), PathLink(2, "b", "c", GBIT), PathLink(3, "a", "c", 1000)]
    assert [link.key for link in find_path(links, "a", "c").links] == [3]


def test_of_parallel_links_the_widest_is_taken():
    links = [
        PathLink(1, "a", "b", None),
        PathLink(2, "a", "b", GBIT),
        PathLink(3, "a", "b", 10 * GBIT),
        PathLink(4, "b", "a", GBIT),
    ]
    assert [link.key for link in find_path(links, "a", "b").links] == [3]
    assert [link.key for link in find_path(links, "b", "a").links] == [3]


def test_of_equal_parallel_links_the_first_is_taken():
    assert find_path([PathLink(7, "a", "b", GBIT), PathLink(3, "b", "a", GBIT)], "a", "b").links[0].key == 7


def test_the_widest_of_several_short_ways_is_taken():
    links = [
        PathLink("a1", "a", "x", 10 * GBIT),
        PathLink("1b", "x", "b", GBIT),
        PathLink("a2", "a", "y", 5 * GBIT),
        PathLink("2b", "y", "b", 5 * GBIT),
        PathLink("a3", "a", "z", None),
        PathLink("3b", "z", "b", 10 * GBIT),
    ]
    assert [link.key for link in find_path(links, "a", "b").links] == ["a2", "2b"]
    assert [link.key for link in find_path(reversed(links), "a", "b").links] == ["a2", "2b"]


def test_cycles_and_loops_lead_nowhere():
    links = [
        PathLink(1, "a", "a", 10 * GBIT),
        PathLink(2, "a", "b", GBIT),
        PathLink(3, "b", "c", GBIT),
        PathLink(4, "c", "a", GBIT),
        PathLink(5, "c", "d", GBIT),
    ]
    assert [link.key for link in find_path(links, "a", "d").links] == [4, 5]


def test_hosts_that_do_not_forward_are_only_ends():
    links = [
        PathLink(1, "node:a", "node:b", 10 * GBIT),
        PathLink(2, "node:b", "node:c", 10 * GBIT),
        PathLink(3, "node:a", "switch:1", GBIT),
        PathLink(4, "switch:1", "switch:2", GBIT),
        PathLink(5, "switch:2", "node:c", GBIT),
    ]
    assert find_path(links, "node:a", "node:c").hops == 2
    path = find_path(links, "node:a", "node:c", can_forward=lambda node: node.startswith("switch:"))
    assert [link.key for link in path.links] == [3, 4, 5]
    assert find_path(links[:2], "node:a", "node:c", can_forward=lambda node: node.startswith("switch:")) is None


def brute_force(links, source, destination):
    """Return (links, capacity) of the best simple path by trying all of them."""
    best = None

    def walk(node, seen, hops, width):
        nonlocal best
        if node == destination:
            best = max(best, (-hops, width)) if best else (-hops, width)
            return
        for link in links:
            for here, there in ((link.a, link.b), (link.b, link.a)):
                if here == node and there not in seen:
                    walk(there, seen | {there}, hops + 1, min(width, link.capacity_bps or 0))

    walk(source, {source}, 0, float("inf"))
    return best


GRAPHS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.one_of(st.none(), st.integers(1, 5))), max_size=9
).map(lambda ends: [PathLink(key, a, b, capacity) for key, (a, b, capacity) in enumerate(ends)])


@given(GRAPHS, st.integers(0, 4), st.integers(0, 4))
def test_no_path_is_shorter_or_as_short_and_wider(links, source, destination):
    path = find_path(links, source, destination)
    best = brute_force(links, source, destination)
    if best is None:
        assert path is None
        return
    width = min((link.capacity_bps or 0 for link in path.links), default=float("inf"))
    assert (-path.hops, width) == best
    assert path.nodes[0] == source
    assert path.nodes[-1] == destination
    for link, (here, there) in zip(path.links, itertools.pairwise(path.nodes), strict=True):
        assert {link.a, link.b} == {here, there}


@given(
    st.lists(
        st.tuples(
            *(st.sampled_from(["node:a", "node:b", "node:c", "switch:1", "switch:2", "switch:3", "switch:4"]),) * 2,
            st.sampled_from([None, 0, GBIT, 2 * GBIT, 10 * GBIT]),
        ),
        max_size=16,
    )
)
def test_ways_to_many_are_the_paths_to_each(drawn):
    def forwards(end):
        return end.startswith("switch:")

    rtts_s = (0.001, 0.25, 0.0, 3.7, None)
    links = [
        PathLink(number, a, b, capacity, rtts_s[number % len(rtts_s)])
        for number, (a, b, capacity) in enumerate(drawn)
    ]
    fabric = Fabric(links, forwards)
    ends = ("node:a", "node:b", "node:c", "switch:1", "switch:4")
    for source in ends:
        ways = fabric.ways(source)
        expected = {end: find_path(links, source, end, can_forward=forwards) for end in ends}
        assert {end: ways.to(end) for end in ends} == expected
        crossed = {link.key for path in expected.values() if path for link in path.links}
        assert fabric.ways(source).links_to(ends) == crossed
        found = fabric.ways(source).crossed_to(ends)
        assert {key: link.key for key, link in found.links.items()} == {key: key for key in crossed}
        assert found.rtts_s == {path.rtt_s for path in expected.values() if path}
