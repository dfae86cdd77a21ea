"""Ceilings of clients that share links: the acceptance figures, fairness, and no link ever overfull."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench.network import Path, PathLink, clients_ceiling_bps, find_path

GBIT = 1_000_000_000


def star(clients, server_bps, client_bps=GBIT, wan_bps=None):
    """Return the paths of n clients to one server behind a switch, or behind a second one over a WAN."""
    near = "switch:1" if wan_bps else "switch:2"
    links = [PathLink("server", "switch:2", "server", server_bps)]
    if wan_bps:
        links.append(PathLink("wan", "switch:1", "switch:2", wan_bps))
    links += [PathLink(f"client{number}", f"client{number}", near, client_bps) for number in range(clients)]
    return [find_path(links, f"client{number}", "server") for number in range(clients)]


@pytest.mark.parametrize("clients", [1, 2, 3, 8, 100])
def test_clients_behind_a_wan_of_one_gbit_make_one_gbit(clients):
    ceiling = clients_ceiling_bps(star(clients, server_bps=4 * GBIT, wan_bps=GBIT))
    assert ceiling.total_bps == GBIT
    assert {link.key for link in ceiling.limiting} == ({"client0", "wan"} if clients == 1 else {"wan"})
    assert sum(ceiling.rates_bps) == pytest.approx(GBIT)
    assert len(set(ceiling.rates_bps)) == 1


@pytest.mark.parametrize("clients", range(1, 9))
def test_a_server_link_of_four_gbit_makes_the_lesser_of_n_and_four(clients):
    ceiling = clients_ceiling_bps(star(clients, server_bps=4 * GBIT))
    assert ceiling.total_bps == min(clients, 4) * GBIT
    assert ("server" in {link.key for link in ceiling.limiting}) == (clients >= 4)


def test_whole_rates_stay_whole_numbers():
    ceiling = clients_ceiling_bps(star(3, server_bps=GBIT))
    assert type(ceiling.total_bps) is int
    assert ceiling.rates_bps == (GBIT / 3,) * 3


def test_flows_that_stop_early_leave_the_rest_to_the_others():
    links = [PathLink("slow", "a", "s", 100), PathLink("fast", "b", "s", 1000), PathLink("up", "s", "t", 500)]
    ceiling = clients_ceiling_bps([find_path(links, "a", "t"), find_path(links, "b", "t")])
    assert ceiling.rates_bps == (100, 400)
    assert [link.key for link in ceiling.limiting] == ["slow", "up"]


def test_crossing_flows_get_fair_shares():
    links = [PathLink(1, "a", "b", 10), PathLink(2, "b", "c", 10)]
    paths = [find_path(links, *ends) for ends in ("ac", "ab", "bc")]
    ceiling = clients_ceiling_bps(paths)
    assert ceiling.rates_bps == (5, 5, 5)
    assert ceiling.total_bps == 15


def test_the_two_directions_of_a_link_do_not_share():
    links = [PathLink(1, "a", "b", 10)]
    there, back = find_path(links, "a", "b"), find_path(links, "b", "a")
    ceiling = clients_ceiling_bps([there, back, back])
    assert ceiling.rates_bps == (10, 5, 5)
    assert [link.key for link in ceiling.limiting] == [1]


def test_parallel_links_do_not_share():
    first, second = PathLink(1, "a", "b", 10), PathLink(2, "a", "b", 10)
    ceiling = clients_ceiling_bps([Path((first,), ("a", "b")), Path((second,), ("a", "b"))])
    assert ceiling.total_bps == 20


def test_streams_over_one_path_share_it():
    path = find_path([PathLink(1, "a", "b", 10)], "a", "b")
    assert clients_ceiling_bps([path] * 5).rates_bps == (2,) * 5


def test_an_unknown_capacity_leaves_the_total_unknown():
    links = [PathLink("in", "a", "s", 10), PathLink("wan", "s", "t", None, name="WAN")]
    ceiling = clients_ceiling_bps([find_path(links, "a", "t")] * 2)
    assert ceiling.total_bps is None
    assert ceiling.known_bps == 10
    assert ceiling.rates_bps == (5, 5)
    assert [link.name for link in ceiling.unknown] == ["WAN"]
    assert [link.key for link in ceiling.limiting] == ["in"]


def test_a_flow_that_meets_no_known_limit_has_no_rate():
    known, unknown = PathLink(1, "a", "b", 10), PathLink(2, "c", "d")
    ceiling = clients_ceiling_bps([find_path([known], "a", "b"), find_path([unknown], "c", "d")])
    assert ceiling.rates_bps == (10, None)
    assert (ceiling.total_bps, ceiling.known_bps) == (None, None)


def test_loopback_has_no_ceiling():
    ceiling = clients_ceiling_bps([find_path([], "a", "a")])
    assert (ceiling.total_bps, ceiling.known_bps, ceiling.rates_bps) == (None, None, (None,))
    assert (ceiling.limiting, ceiling.unknown) == ((), ())


def test_no_clients_carry_nothing():
    ceiling = clients_ceiling_bps([])
    assert (ceiling.total_bps, ceiling.rates_bps, ceiling.limiting) == (0, (), ())


LINKS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 20)), min_size=1, max_size=10).map(
    lambda ends: [PathLink(key, a, b, capacity) for key, (a, b, capacity) in enumerate(ends)]
)
ENDS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8)


@given(LINKS, ENDS)
def test_no_link_is_overfull_and_every_flow_is_held_by_a_full_one(links, ends):
    found = [find_path(links, source, destination) for source, destination in ends if source != destination]
    paths = [path for path in found if path]
    ceiling = clients_ceiling_bps(paths)
    flows = defaultdict(list)
    for path, rate in zip(paths, ceiling.rates_bps, strict=True):
        for link, node in zip(path.links, path.nodes[:-1], strict=True):
            flows[link, node].append(rate)
    for (link, _node), rates in flows.items():
        assert sum(rates) <= link.capacity_bps * (1 + 1e-12)
    full = {key for key, rates in flows.items() if sum(rates) == pytest.approx(key[0].capacity_bps)}
    # Max-min fairness: on some full link of its path, no other flow has more (Bertsekas, Gallager).
    for path, rate in zip(paths, ceiling.rates_bps, strict=True):
        held = [flows[key] for key in zip(path.links, path.nodes[:-1], strict=True) if key in full]
        assert any(rate == pytest.approx(max(rates)) for rates in held)
    assert ceiling.total_bps == pytest.approx(sum(ceiling.rates_bps))
    assert {link.key for link in ceiling.limiting} == {link.key for link, _node in full}


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6), st.integers(1, 50), st.integers(1, 50))
def test_clients_of_one_server_reach_the_least_cut(clients, wan, server):
    links = [PathLink("wan", "s", "t", wan), PathLink("server", "t", "server", server)]
    links += [PathLink(number, f"c{number}", "s", capacity) for number, capacity in enumerate(clients)]
    paths = [find_path(links, f"c{number}", "server") for number in range(len(clients))]
    assert clients_ceiling_bps(paths).total_bps == min(sum(clients), wan, server)
