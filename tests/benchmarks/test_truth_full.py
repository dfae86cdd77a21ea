"""Worlds of slow readers, clamped windows or standing queues: what is true of them, and what judges make of it."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.truth.judging.base import FALSE, TRUE
from benchmarks.truth.worlds import tcp
from benchmarks.truth.worlds.base import StatedNode
from benchmarks.truth.worlds.draw import world_of
from tests.benchmarks.oracle import HOST, SYSCTLS, cell, finding, network, outcome

GROWN = {**SYSCTLS, tcp.RMEM: "4096 131072 64000000", tcp.WMEM: "4096 16384 64000000"}
SENDER = replace(HOST, sysctls=GROWN)
APPLIES = {"params": {"streams": 1}}


def world(way: tcp.Way | None = None, **receiver: Any) -> Any:
    """Return a path of 1 Gbit/s and 10 ms between kernels whose windows grow far beyond it."""
    own = network(cell(9e8, window=0, streams=1), client=SENDER, **({"way": way} if way else {}))
    return replace(own, server=replace(SENDER, name="server", **receiver))


SLOW = world(takes_bps=1e8, offers=1.2)
# 125,000 B in 10 ms are 100 Mbit/s.
CLAMPED, ON_ROUTE = (world(clamp=125_000.0, is_on_route=is_on_route) for is_on_route in (False, True))
LINE = tcp.Line("A – B", 1e9, 0.01, 1500)


def test_a_program_that_reads_slowly_holds_all_streams_together_and_keeps_its_window_small() -> None:
    one, four = SLOW.reach({}), SLOW.reach({"streams": 4})
    assert [one.limit, one.rate, four.rate] == [tcp.READER, 1e8, 1e8]
    # 1.2 times what is on the way: 100 Mbit/s in 10 ms are 125,000 B.
    assert one.advertised == pytest.approx(150_000)
    assert (one.lost, one.rtt_s, one.at_sender) == (0.0, 0.01, False)
    assert one.window > 1e7


def test_a_clamp_leaves_each_connection_its_window_unless_the_program_asks_for_another() -> None:
    assert (CLAMPED.reach({}).limit, CLAMPED.reach({}).rate) == (tcp.WINDOW, 1e8)
    assert CLAMPED.reach({"streams": 4}).rate == 4e8
    assert CLAMPED.reach({"window": 250_000}).rate > ON_ROUTE.reach({"window": 250_000}).rate == 1e8
    assert CLAMPED.reach({"direction": "reverse"}).limit == tcp.PATH


def test_the_other_way_the_other_program_reads() -> None:
    assert SLOW.reach({"direction": "reverse"}).limit == tcp.PATH


@pytest.mark.parametrize("control", ["reno", "cubic"])
@pytest.mark.parametrize("others", [0, 9])
def test_flows_lose_to_the_queue_they_keep_standing_what_the_law_of_their_control_asks_for(
    control: str, others: int
) -> None:
    way = tcp.Way((LINE,), queue_bytes=2.5e6, standing=1.0, others=others)
    reach = world(way).reach({"congestion": control})
    assert reach.limit == tcp.PATH
    assert reach.rtt_s == pytest.approx(0.02)
    # Chance that lost as many would leave as much.
    assert tcp._lossy(control, reach.mss, reach.rtt_s, reach.lost) == pytest.approx(reach.rate)
    # 940 Mbit/s lose a segment in some 10 s, a tenth of it many more.
    assert reach.lost * reach.rate * 10 / 8 / reach.mss == pytest.approx(4 if others else 0.7, rel=0.7)


def test_a_window_that_does_not_fill_the_queue_loses_nothing() -> None:
    large = dict.fromkeys((tcp.RMEM_MAX, tcp.WMEM_MAX), "9000000")
    queue = world(tcp.Way((LINE,), queue_bytes=2.5e6, standing=1.0))
    hosts = [replace(host, sysctls={**host.sysctls, **large}) for host in (queue.client, queue.server)]
    reach = queue.with_hosts(*hosts).reach({"window": 1_300_000})
    assert (reach.limit, reach.lost) == (tcp.PATH, 0.0)


def test_each_is_drawn_in_five_to_eight_of_a_hundred_worlds() -> None:
    slow = standing = clamped = 0
    for seed in range(1, 601):
        drawn = world_of(seed, "network")
        reached = drawn.reach({})
        slow += reached.limit == tcp.READER
        standing += bool(drawn.way.standing) and reached.limit == tcp.PATH
        clamped += reached.limit == tcp.WINDOW and reached.window == drawn.server.clamp
    assert 0.045 <= slow / 600 <= 0.085
    assert 0.045 <= standing / 600 <= 0.085
    assert 0.045 <= clamped / 600 <= 0.085


def test_who_names_the_window_of_a_slow_reader_has_to_name_its_program_beside() -> None:
    program = [{"title": {"msgid": "The receiving program takes no more.", "params": {}}}]
    sentence = {"subject": "window", "value": 1.25e5, "applies_when": APPLIES}
    assert outcome(SLOW, finding("tcp-limit", **sentence)) == FALSE
    assert outcome(SLOW, finding("tcp-limit", alternatives=program, **sentence)) == TRUE
    assert outcome(SLOW, finding("tcp-limit", subject="receiver", applies_when=APPLIES)) == TRUE
    assert outcome(SLOW, finding("tcp-limit", subject="path", applies_when=APPLIES)) == FALSE
    assert outcome(SLOW, finding("tcp-per-flow-limit", value=1e8)) == FALSE


@pytest.mark.parametrize("clamped", [CLAMPED, ON_ROUTE])
def test_who_takes_a_clamp_for_a_slow_reader_has_to_name_the_clamp_beside(clamped: Any) -> None:
    clamp = [{"title": {"msgid": "A route clamps the window.", "params": {}}}]
    reader = {"subject": "receiver", "applies_when": APPLIES}
    assert outcome(clamped, finding("tcp-limit", **reader)) == FALSE
    assert outcome(clamped, finding("tcp-limit", alternatives=clamp, **reader)) == TRUE
    for world_of_one, expected in ((clamped, TRUE), (SLOW, FALSE)):
        assert outcome(world_of_one, finding("tcp-limit", subject="clamp", applies_when=APPLIES)) == expected
    gains_nothing = "The path holds %(bdp)s; a larger window gains nothing now"
    assert outcome(clamped, finding("tcp-bdp", gains_nothing, value=1.25e6, present=1e8)) == FALSE
    # Of one that heeds no window asked for it is true to who asked.
    setup = clamped.setups[0]
    request = replace(clamped, setups=(replace(setup, cells=(*setup.cells, cell(1e8, window=250_000, streams=1))),))
    expected = TRUE if clamped is ON_ROUTE else FALSE
    assert outcome(request, finding("tcp-bdp", gains_nothing, value=1.25e6, present=1e8)) == expected


def test_a_larger_window_gains_nothing_where_a_program_reads_slowly() -> None:
    gains_nothing = "The path holds %(bdp)s; a larger window gains nothing now"
    assert outcome(SLOW, finding("tcp-bdp", gains_nothing, value=1.25e6, present=1e8)) == TRUE
    narrow = network(cell(4e8, window=0, streams=1))
    assert outcome(narrow, finding("tcp-bdp", gains_nothing, value=1.25e6, present=4e8)) == FALSE


@pytest.mark.parametrize("rule", ["tcp-buffer-maxima", "tcp-sysctl"])
def test_a_node_whose_limits_have_room_as_was_told_is_not_to_be_named(rule: str) -> None:
    keys = (tcp.RMEM, tcp.WMEM, tcp.RMEM_MAX, tcp.WMEM_MAX)
    roomy = {key: "4096 131072 9000000" if key in keys[:2] else "9000000" for key in keys}
    nodes = (
        StatedNode("client", "A", {"sysctls": roomy}),
        StatedNode("server", "B", {"sysctls": {key: SYSCTLS[key] for key in keys}}),
    )
    world_of_nodes = replace(world(), nodes=nodes)
    for title, roles, expected in (("on both nodes", "", FALSE), ("on", "server", TRUE), ("on", "client", FALSE)):
        statement = finding(rule, title, value=2e6, low=2.5e5, params={"roles": roles} if roles else {})
        assert outcome(world_of_nodes, statement) == expected, (title, roles)
