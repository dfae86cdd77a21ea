"""What agents send is read as far as it is sound, drawn as lines, and summed up in figures."""

import copy
import json
import random
import re
import time

import pytest

from apps.bench import telemetry
from apps.bench.telemetry import report, sockets
from tests.bench.telemetry import recorded
from tests.core import pumping
from tests.rotation import part_of

REAL = ("iperf3_loopback_4_streams", "iperf3_loopback_window_16k", "iperf3_udp_overload", "dd_write")
# Signs of a text, and what it may take of a processor (s).
LONG, LONG_S = 2**20, 2.0


def figures(name: str) -> dict[str, float]:
    return {figure.name: figure.value for figure in telemetry.summarise(recorded.telemetry(name))}


def lines(name: str) -> dict[tuple[str, str], telemetry.charts.SampleSeries]:
    return {(line.metric, line.stream): line for line in telemetry.series_of(recorded.telemetry(name))}


def test_the_connections_of_several_streams_are_told_together() -> None:
    found = telemetry.transport_of([recorded.telemetry("iperf3_loopback_4_streams").listings])
    assert found is not None
    assert (found.connections, found.congestion, found.mss) == (4, "bbr", 65483)
    shares = (found.receiver_window_limited, found.send_buffer_limited, found.congestion_window_limited)
    assert sum(shares) == pytest.approx(1)
    assert found.bytes_sent > 10**9


def test_the_window_that_limited_a_connection_is_found() -> None:
    found = telemetry.transport_of([recorded.telemetry("iperf3_loopback_window_16k").listings])
    assert found is not None
    assert found.receiver_window_limited == pytest.approx(0.569, abs=0.001)
    assert (found.connections, found.send_window_max, found.send_buffer_max) == (1, 16384, 32768)
    limits = lines("iperf3_loopback_window_16k")["kernel_tcp_limits", "receiver_window"]
    assert limits.unit == "%"
    assert limits.times == (1.583, 2.583)
    assert all(40 < value < 70 for value in limits.values)


def test_control_connections_are_no_data() -> None:
    assert telemetry.transport_of([recorded.telemetry("iperf3_udp_overload").listings]) is None
    assert telemetry.transport_of([]) is None
    assert ("kernel_tcp_window", "send_window") not in lines("iperf3_udp_overload")


def test_rates_at_the_interface_are_those_of_the_counters() -> None:
    seen = recorded.telemetry("iperf3_loopback_4_streams")
    rates = lines("iperf3_loopback_4_streams")["kernel_nic_rate", "out"]
    assert rates.times == seen.times[1:]
    bits = 8 * (seen.nic["tx_bytes"][1] - seen.nic["tx_bytes"][0])
    assert rates.values[0] == pytest.approx(bits / (seen.times[1] - seen.times[0]))
    assert figures("iperf3_loopback_4_streams")["tx_bytes"] == seen.nic["tx_bytes"][-1]


def test_load_counts_neither_idleness_nor_waiting_for_disks() -> None:
    assert figures("dd_write")["cpu"] == pytest.approx(100 * 170 / 250)
    load = lines("dd_write")["kernel_cpu", "all"]
    assert load.values == (pytest.approx(68.0),)
    assert figures("dd_write")["core"] == 92


def test_a_disk_has_its_bytes_and_its_utilisation() -> None:
    found = figures("dd_write")
    assert found["vda_written"] == 400 * 2**20
    assert 0 < found["vda_busy"] <= 100
    assert lines("dd_write")["kernel_disk_rate", "vda written"].values[0] == pytest.approx(400 * 2**20 / 0.122)
    assert ("kernel_losses", "interface") not in lines("dd_write")


def test_datagrams_lost_to_a_full_buffer_are_counted() -> None:
    seen = recorded.telemetry("iperf3_udp_overload")
    lost = seen.udp["receive_buffer_errors"][-1]
    assert figures("iperf3_udp_overload")["udp_buffer"] == lost
    assert (("kernel_losses", "udp_buffer") in lines("iperf3_udp_overload")) == (lost > 0)


@pytest.mark.parametrize("name", REAL)
def test_every_line_has_words(name: str) -> None:
    for line in telemetry.series_of(recorded.telemetry(name)):
        assert line.metric in telemetry.LABELS
        assert len(line.times) == len(line.values) > 0
        assert len(line.metric) <= 50
        assert len(line.stream) <= 50
    for figure in telemetry.summarise(recorded.telemetry(name)):
        assert str(figure.label)


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"v": 1},
        {"v": 2, "times": [0, 1]},
        {"v": 1, "times": [0]},
        {"v": 1, "times": [1, 0]},
        {"v": 1, "times": [0, 0]},
        {"v": 1, "times": [0, None]},
        {"v": 1, "times": [0, 1e400]},
        {"v": 1, "times": "01"},
    ],
)
def test_what_is_no_telemetry_is_none(raw: dict) -> None:
    assert telemetry.read(raw) is None


@pytest.mark.parametrize("step", [5e-324, 1e-300, 1e-12])
def test_moments_that_no_clock_tells_apart_have_no_rate(step: float) -> None:
    columns = {"rx_bytes": [0, 1e17], "read": [0, 1e17], "busy": [0, 1e17]}
    found = telemetry.read({"v": 1, "times": [0, step], "nic": columns, "disks": {"sda": columns}})
    assert found is not None
    series = telemetry.series_of(found)
    assert {line.metric for line in series} >= {"kernel_nic_rate", "kernel_disk_rate"}
    json.dumps([line.values for line in series], allow_nan=False)
    json.dumps([figure.value for figure in telemetry.summarise(found)], allow_nan=False)


def _long_texts() -> list[str]:
    """Return texts made of the pieces of the readers' own patterns, over and over, where one is looked for."""
    patterns = [value for value in vars(sockets).values() if isinstance(value, re.Pattern)]
    pieces = {piece for pattern in patterns for pump in pumping.pumps(pattern) for piece in (pump.body, pump.front)}
    begins = ("", "ESTAB 0 0 a b ", "ESTAB 0 0 a b skmem:(", "ESTAB 0 0 a b skmem:(a1) ", "ESTAB 0 0 a b\n")
    shorts = ("ESTAB 0 0 a b\n", "\n", " x\n")
    return [*(begin + piece * (LONG // len(piece)) for begin in begins for piece in sorted(pieces - {""})),
            *(short * (LONG // len(short)) for short in shorts)]  # fmt: skip


def test_no_text_makes_a_web_process_wait() -> None:
    for text in part_of(_long_texts(), 8):
        raw = {"v": 1, "times": [0, 1], "sockets": [{"at": 0.5, "text": text}]}
        began = time.process_time()
        found = telemetry.read(raw)
        assert found is not None
        telemetry.series_of(found)
        telemetry.summarise(found)
        telemetry.transport_of([found.listings])
        assert time.process_time() - began < LONG_S, text[:60]


def test_more_listings_than_agents_send_are_left_out() -> None:
    text = "ESTAB 0 0 a b\n" + " " * LONG
    found = telemetry.read({"v": 1, "times": [0, 1], "sockets": [{"at": 0.5, "text": text}] * 8})
    assert found is not None
    assert len(found.listings) == report.MOST_LISTED // len(text)


@pytest.mark.parametrize("first", range(0, 150, 50))
def test_no_damage_makes_it_raise(first: int) -> None:
    for seed in range(first, first + 50):
        chance = random.Random(seed)
        raw = copy.deepcopy(recorded.raw(chance.choice(REAL)))
        for _time in range(chance.randrange(1, 12)):
            _harm(raw, chance)
        found = telemetry.read(json.loads(json.dumps(raw)))
        if found is not None:
            telemetry.series_of(found)
            telemetry.summarise(found)
            telemetry.transport_of([found.listings])


def _harm(value: object, chance: random.Random) -> None:
    """Put something wrong somewhere into nested lists and objects."""
    wrong = chance.choice([None, [], {}, "x", -1, 1e300, True, [0], {"a": [1, 2]}, "\0", 10**40])
    if isinstance(value, dict) and value:
        key = chance.choice(sorted(value, key=str))
        if chance.random() < 0.5:
            _harm(value[key], chance)
        else:
            value[key] = wrong
    elif isinstance(value, list) and value:
        place = chance.randrange(len(value))
        if chance.random() < 0.5:
            _harm(value[place], chance)
        elif chance.random() < 0.5:
            del value[place]
        else:
            value[place] = wrong
