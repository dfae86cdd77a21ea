"""The oracle's worlds: what is true of them against figures reckoned by hand; a seed gives the same world."""

import dataclasses
import math
import random
import statistics

import pytest

from benchmarks.truth.worlds import tcp, udp
from benchmarks.truth.worlds.draw import FAMILIES, world_of
from benchmarks.truth.worlds.messages import NODE, SAME, MessagesWorld
from benchmarks.truth.worlds.network import setting_of
from benchmarks.truth.worlds.noise import KINDS, NORMAL, Noise, draw
from benchmarks.truth.worlds.storage import CLIENT, DISK, NETWORK, READ, SERVER, WAIT, WRITE
from benchmarks.truth.worlds.tcp import Host, Setting, Way
from tests.benchmarks.oracle import HOST, SYSCTLS, WAY, storage


def reach(host: Host = HOST, way: Way = WAY, **setting: object) -> tcp.Reached:
    return tcp.reach(host, dataclasses.replace(host, name="server"), way, Setting(**setting))


def changed(**sysctls: str) -> Host:
    names = {"scaling": tcp.SCALING, "rmem": tcp.RMEM, "probing": tcp.PROBING, "control": tcp.CONTROL}
    return dataclasses.replace(HOST, sysctls={**SYSCTLS, **{names[name]: text for name, text in sysctls.items()}})


def test_the_automatic_window_is_the_receivers_share_of_its_limit() -> None:
    found = reach()
    # Half of 1,000,000 B in each 10 ms.
    assert (found.limit, found.rate) == (tcp.WINDOW, pytest.approx(500_000 * 8 / 0.01))


def test_an_explicit_window_is_doubled_and_cut_at_the_lesser_maximum() -> None:
    assert reach(window=100_000).rate == pytest.approx(100_000 * 8 / 0.01)
    cut = reach(window=400_000)
    assert (cut.granted, cut.is_capped, cut.rate) == (500_000, True, pytest.approx(250_000 * 8 / 0.01))


def test_without_scaling_a_window_ends_at_65535_bytes() -> None:
    assert reach(changed(scaling="0")).rate == pytest.approx(65_535 * 8 / 0.01)


def test_streams_add_up_to_what_tcp_has_of_the_line() -> None:
    assert reach(streams=2).rate == pytest.approx(8e8)
    full = reach(streams=8)
    # 1448 of 1538 bytes.
    assert (full.limit, full.rate) == (tcp.PATH, pytest.approx(1e9 * 1448 / 1538))


def test_random_loss_leaves_what_mathis_says_to_reno_and_next_to_all_to_bbr() -> None:
    lossy = dataclasses.replace(WAY, loss=1e-4)
    assert reach(way=lossy).rate == pytest.approx(1.22 * 1448 * 8 / 0.01 / math.sqrt(1e-4))
    assert reach(way=lossy, congestion="bbr").rate == pytest.approx(4e8)
    assert reach(way=lossy, congestion="cubic").rate >= reach(way=lossy).rate


def test_a_shaper_holds_each_flow_and_an_aggregate_all_of_them() -> None:
    shaped = dataclasses.replace(WAY, shaper_bps=1e8)
    assert reach(way=shaped).rate == pytest.approx(1e8 * 1448 / 1538)
    assert reach(way=shaped, streams=4).rate == pytest.approx(4e8 * 1448 / 1538)
    whole = dataclasses.replace(WAY, aggregate_bps=1e8)
    assert reach(way=whole, streams=4).rate == pytest.approx(1e8 * 1448 / 1538)


def test_a_processor_holds_each_flow_and_the_host_all_of_them() -> None:
    slow = dataclasses.replace(HOST, flow_bps=1e8, host_bps=1.5e8)
    assert (reach(slow).limit, reach(slow).rate) == (tcp.PROCESSOR, 1e8)
    assert reach(slow, streams=4).rate == 1.5e8


def test_in_a_black_hole_large_packets_vanish_unless_tcp_probes() -> None:
    hole = dataclasses.replace(WAY, is_black_hole=True)
    jumbo = dataclasses.replace(HOST, mtu=9000)
    assert reach(jumbo, hole).rate == tcp.STALLED
    probing = dataclasses.replace(changed(probing="1"), mtu=9000)
    assert reach(probing, hole).mss == tcp.PROBED - tcp.HEADERS
    assert reach(jumbo).mss == 1448


def test_a_setting_carries_what_nodes_are_set_to() -> None:
    told = {"window": 5, "streams": 2, "setting.client.mtu": "9000", "setting.client.qdisc": "fq maxrate 90mbit",
            f"setting.server.{tcp.RMEM}": "1 2 3"}  # fmt: skip
    found = setting_of(told)
    assert (found.window, found.streams, found.mtus, found.pace_bps) == (5, 2, {"client": 9000}, 9e7)
    assert found.sysctls["server"] == {tcp.RMEM: "1 2 3"}


def test_datagrams_beyond_the_path_and_beyond_the_receiver_are_lost() -> None:
    most = 1e9 * 1448 / (1448 + 28 + 38)
    found = udp.offer(HOST, HOST, WAY, 2 * most, 1448, math.inf)
    assert (found.goodput, found.loss) == (pytest.approx(most), pytest.approx(0.5))
    drained = udp.offer(HOST, HOST, WAY, most, 1448, most / 4)
    assert (drained.loss, drained.receiver_full, drained.sender_full) == (pytest.approx(0.75), True, False)
    assert udp.offer(dataclasses.replace(HOST, flow_bps=1e8), HOST, WAY, 5e8, 1448, math.inf).offered == 1e8


def test_a_striped_file_system_has_the_disks_and_the_interfaces_of_all_its_servers() -> None:
    world = storage()
    # Two disks of 100 MB/s; one client's interface carries 117.5 MB/s, two servers' twice that.
    assert world.rate(WRITE, {"clients": 1}) == pytest.approx(117.5e6)
    assert world.rate(WRITE, {"clients": 4}) == pytest.approx(200e6)
    assert world.rate(READ, {"clients": 4}) == pytest.approx(235e6)
    assert world.limit(WRITE, {"clients": 4}) >= {DISK, SERVER}
    assert world.limit(READ, {"clients": 4}) == {NETWORK}
    assert NETWORK in world.limit(WRITE, {"clients": 1}) and CLIENT in world.limit(WRITE, {"clients": 1})


def test_a_synchronous_record_waits_for_a_round_trip() -> None:
    found = storage().rate(WRITE, {"clients": 1, "record_size": 65536, "direct": True})
    assert found == pytest.approx(65536 / (0.002 + 65536 / 117.5e6))
    assert storage().limit(WRITE, {"clients": 1, "record_size": 65536, "direct": True}) == {WAIT}


def test_disks_that_are_shared_lose_with_every_client() -> None:
    assert storage(decline=0.5, share=0.5).rate(WRITE, {"clients": 3}) == pytest.approx(200e6 / 2 * 0.5)


def test_pairs_share_a_port_and_messages_wait_for_their_latency() -> None:
    world = MessagesWorld(
        seed=1, noise=Noise(NORMAL, 0.01), repetitions=1, nodes=(), latency={SAME: 8e-6, NODE: 8e-6},
        bandwidth={SAME: 1e9, NODE: 1e9}, port=2e9, loss=0.1,
    )  # fmt: skip
    assert world.aggregate(1) == 1e9
    assert world.aggregate(4) == pytest.approx(2e9 / 1.3)
    assert world.rate(SAME, 1000) == pytest.approx(1000 / (1e-6 + 1e-6))
    assert world.time(SAME, 1000) == pytest.approx(9e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_scatters_about_the_truth(kind: str) -> None:
    factors, hits = draw(Noise(kind, 0.1), 4000, random.Random(3))
    free = [factor for factor, hit in zip(factors, hits, strict=True) if not hit]
    assert statistics.fmean(free) == pytest.approx(0.975 if kind == "outliers" else 1, abs=0.02)
    assert any(hits) == (kind == "busy")
    if kind not in ("drift", "outliers", "busy"):
        assert statistics.stdev(free) == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_seed_gives_the_same_world(family: str) -> None:
    assert world_of(7, family) == world_of(7, family)
    assert world_of(7, family) != world_of(8, family)
