"""iperf3 over TCP: the readings of recorded reports."""

import re

import pytest

from tests.bench.tools import recordings
from tests.bench.tools.reports import TOOL, parse, parse_edited


def flags(reading):
    return {flag.name: flag.severity for flag in reading.flags}


def test_goodput_is_what_arrived():
    reading = parse("json_tcp.txt")
    assert reading.value("goodput") == pytest.approx(912_723_462, rel=1e-6)
    assert reading.value("sent_rate") == pytest.approx(930_320_000, rel=1e-4)
    assert reading.value("retransmits") == 0
    assert reading.tool_version == "3.12"


def test_it_keeps_what_was_asked_granted_and_seen_apart():
    reading = TOOL.parse(
        [recordings.load("iperf3-tcp", "winsweep_pnu/w64K_cubic_r1.json")],
        TOOL.clean({"duration": 4, "omit": 1, "window": "64 KiB"}),
    )
    assert reading.requested["window"] == 65536
    assert reading.granted["send_buffer"] == reading.granted["receive_buffer"] == 131072
    assert reading.value("window_granted") == 131072
    assert reading.observed["window_observed"] == reading.value("window_observed") == 92274
    assert reading.observed["mss"] == 8948
    assert reading.observed["path_mtu"] == 9000
    assert reading.granted["congestion_sender"] == "cubic"
    assert reading.value("min_rtt") == pytest.approx(4.914e-3)
    assert reading.value("mean_rtt") == pytest.approx(5.156e-3)
    assert reading.value("max_rtt") == pytest.approx(5.369e-3)
    # The core law: the rate is the observed window per RTT.
    law = reading.value("window_observed") * 8 / reading.value("mean_rtt")
    assert reading.value("goodput") == pytest.approx(law, rel=0.03)
    assert flags(reading) == {}


def test_an_automatic_window_is_not_called_granted():
    assert parse("json_tcp.txt").value("window_granted") is None


def test_a_capped_window_is_flagged():
    reading = parse("err_w_exceeds_rmem_max.txt", window="8 MiB", duration=1)
    assert flags(reading) == {"window-capped": "warning"}
    assert "16777216" in str(reading.flags[0].message)


def test_each_stream_has_its_rate_over_time():
    reading = parse("json_parallel.txt", streams=4)
    series = {(item.metric, item.stream): item for item in reading.series}
    assert {stream for metric, stream in series if metric == "sent_rate"} == {"sum", "1", "2", "3", "4"}
    total = series["sent_rate", "sum"]
    assert len(total.times) == len(total.values) == 2
    assert total.times[-1] == pytest.approx(2, abs=0.01)
    parts = [series["sent_rate", str(number)].values[0] for number in (1, 2, 3, 4)]
    assert sum(parts) == pytest.approx(total.values[0], rel=1e-3)
    assert series["mean_rtt", "sum"].unit == "s"
    assert 0.02 < series["mean_rtt", "sum"].values[0] < 0.04
    assert series["window_observed", "sum"].unit == "B"
    assert reading.value("fairness") == pytest.approx(0.924, abs=0.001)
    assert reading.value("retransmits") == 170


def test_the_largest_congestion_window_is_the_largest_of_any_stream():
    sizes = [
        int(size)
        for size in re.findall(rb'"max_snd_cwnd":\s*(\d+)', recordings.load("iperf3-tcp", "json_parallel.txt").stdout)
    ]
    assert len(set(sizes)) > 1
    assert parse("json_parallel.txt", streams=4).value("cwnd_max") == max(sizes)


def test_omitted_time_lies_before_zero():
    reading = parse("bidir_P2_w64K.txt", direction="both", streams=2, omit=1, window="64K")
    total = next(item for item in reading.series if (item.metric, item.stream) == ("sent_rate", "sum"))
    assert total.times == pytest.approx((0, 1, 2), abs=0.01)


def test_reverse_has_no_window_of_the_sender_and_says_so():
    reading = parse("json_reverse.txt", direction="reverse")
    assert reading.value("goodput") == pytest.approx(766_888_180, rel=1e-6)
    assert reading.value("window_observed") is None
    assert reading.value("mean_rtt") is None
    assert {item.metric for item in reading.series} == {"goodput"}
    assert flags(reading) == {"sender-unseen": "info"}


def test_both_ways_are_two_metrics():
    reading = parse("json_bidir.txt", direction="both")
    assert reading.value("goodput") == pytest.approx(338_867_788, rel=1e-6)
    assert reading.value("goodput_reverse") == pytest.approx(656_920_245, rel=1e-6)
    assert reading.value("sent_rate_reverse") == pytest.approx(671_572_633, rel=1e-6)
    assert reading.value("retransmits_reverse") == 0
    # The client's own receiving socket tells nothing of a window.
    assert reading.value("window_observed") == 7_630_848
    assert {item.metric for item in reading.series} >= {"sent_rate", "goodput_reverse"}


def test_no_series_has_two_of_one_name():
    for name in recordings.names("iperf3-tcp", "json_*.txt"):
        direction = {"json_bidir.txt": "both", "json_reverse.txt": "reverse"}.get(name, "forward")
        reading = parse(name, direction=direction, duration=1)
        keys = [(item.metric, item.stream) for item in reading.series]
        assert len(keys) == len(set(keys))


def test_a_link_that_went_down_shows_as_stalls():
    reading = parse("link_down_mid.txt", duration=6)
    assert flags(reading) == {"stalled": "warning"}
    assert "2 of 6" in str(reading.flags[0].message)


def test_a_rate_that_still_grows_is_flagged():
    def grow(data):
        for number, interval in enumerate(data["intervals"]):
            interval["sum"]["bits_per_second"] = 1e8 * (number + 1)

    assert "not-steady" in flags(parse_edited("link_down_mid.txt", grow, duration=6))


def test_a_steady_rate_is_not_flagged():
    def flatten(data):
        for interval in data["intervals"]:
            interval["sum"]["bits_per_second"] = 1e8

    assert flags(parse_edited("link_down_mid.txt", flatten, duration=6)) == {}


def test_a_busy_processor_is_flagged():
    def burn(data):
        data["end"]["cpu_utilization_percent"]["remote_total"] = 99.0

    reading = parse_edited("json_tcp.txt", burn)
    assert flags(reading) == {"cpu-busy": "warning"}
    assert reading.value("cpu_remote") == 99.0


def test_every_metric_it_gives_is_one_it_declares():
    declared = {metric.name for metric in TOOL.metrics}
    for name in ("json_bidir.txt", "json_parallel.txt", "json_tcp.txt"):
        reading = parse(name, direction="both" if "bidir" in name else "forward", window="64K")
        assert {sample.metric for sample in reading.samples} <= declared
        assert {item.metric for item in reading.series} <= declared
