"""Listings of ss(8) are read, whatever version printed them and whatever happened to them on the way."""

import random

import pytest

from apps.bench.telemetry import read_sockets
from tests.bench.telemetry.recorded import listing, raw


def test_a_window_limited_connection_says_so() -> None:
    control, data = read_sockets(listing("w64k"))
    assert (data.local, data.peer, data.state) == ("10.9.0.1:33012", "10.9.0.2:5201", "ESTAB")
    assert (data.congestion, control.congestion) == ("cubic", "bbr")
    assert (data.mss, data.pmtu, data.send_queue) == (8948, 9000, 89480)
    assert (data.rtt_s, data.min_rtt_s) == (pytest.approx(0.004986), pytest.approx(0.004695))
    assert data.congestion_window == 22 * 8948
    assert (data.send_window, data.send_buffer, data.receive_buffer) == (91546, 131072, 131072)
    assert (data.bytes_sent, data.bytes_received, control.bytes_received) == (17178785, 0, 4)
    assert (data.busy_s, data.receiver_limited_s, data.buffer_limited_s) == (0.984, 0.724, 0.036)
    assert (data.delivery_bps, data.pacing_bps) == (163196680, 631628800)
    assert control.busy_s == 0.012


def test_a_connection_without_window_scaling_is_read() -> None:
    _control, data = read_sockets(listing("nowscale"))
    assert data.congestion == "cubic"
    assert data.send_window is not None
    assert data.send_window < 65536


def test_autotuning_left_the_window_to_the_path() -> None:
    _control, data = read_sockets(listing("auto"))
    assert data.send_window == 5947392
    assert data.receiver_limited_s / data.busy_s < 0.02


def test_extended_listings_and_ipv6_are_read() -> None:
    _control, data = read_sockets(raw("iperf3_loopback_window_16k")["sockets"][-1]["text"])
    assert (data.local, data.congestion) == ("[::1]:37254", "bbr")
    assert (data.send_window, data.receiver_limited_s) == (16384, 1.268)


def test_old_versions_and_retransmits_are_read() -> None:
    text = (
        "ESTAB      0      1024   192.0.2.1:40000   192.0.2.2:5001\n"
        "\t ts sack cubic wscale:7,7 rto:204 rtt:4.1/0.2 mss:1448 cwnd:10 bytes_acked:5000 retrans:1/12 "
        "bytes_retrans:17376 send 28.3Mbps pacing_rate 33.9Mbps delivery_rate 1.2Gbps minrtt:4\n"
    )
    (socket,) = read_sockets(text)
    assert (socket.congestion, socket.bytes_sent, socket.retransmits) == ("cubic", 5000, 12)
    assert (socket.bytes_retransmitted, socket.delivery_bps) == (17376, 1.2e9)
    assert (socket.send_window, socket.send_buffer, socket.busy_s) == (None, None, 0.0)


def test_listings_on_one_line_are_read() -> None:
    lines = [line.strip() for line in listing("w64k").splitlines()]
    joined = f"{lines[0]}\n{lines[1]} {lines[2]}\n{lines[3]} {lines[4]}\n"
    assert read_sockets(joined) == read_sockets(listing("w64k"))


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_no_damage_makes_it_raise(first: int) -> None:
    for seed in range(first, first + 50):
        _read_damaged(seed)


def _read_damaged(seed: int) -> None:
    chance = random.Random(seed)
    text = list(
        chance.choice([listing("w64k"), listing("auto"), raw("iperf3_loopback_window_16k")["sockets"][0]["text"]])
    )
    for _time in range(chance.randrange(1, 60)):
        place = chance.randrange(len(text))
        action = chance.randrange(3)
        if action == 0:
            del text[place : place + chance.randrange(1, 200)]
        elif action == 1:
            text[place] = chance.choice("0123456789:/(). \n\tabcdefghij٣éxX-\0")
        else:
            text[place:place] = list("9" * chance.randrange(1, 400))
        if not text:
            break
    for socket in read_sockets("".join(text)):
        for value in vars(socket).values():
            assert not isinstance(value, int | float) or 0 <= value < 1e18
