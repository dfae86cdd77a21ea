"""RFC 6349: the windows to test, and the three metrics of a run."""

import dataclasses
import json

import pytest

from apps.bench import tools
from apps.bench.network import rfc6349
from apps.bench.toolkit import Reading, SampleValue
from tests.bench.tools import recordings

TCP = tools.get("iperf3-tcp")
PARAMS = TCP.clean({"duration": 2, "omit": 0})


def read(name, **params):
    return TCP.parse([recordings.load("iperf3-tcp", name)], PARAMS | params)


def judged(reading, capacity_bps=None, tool=TCP, **params):
    return rfc6349.judge(reading, PARAMS | params, tool, capacity_bps).observed.get("rfc6349")


def test_windows_stand_around_the_bdp():
    # KISTI to Pusan: 1 Gbit/s x 4.8 ms = 600,000 B.
    windows = rfc6349.windows_to_test(1e9, 4.8e-3)
    assert windows == (150_528, 300_032, 600_064, 1_200_128, 2_400_256)
    assert all(window % 1024 == 0 for window in windows)


def test_windows_are_those_that_tcp_can_announce():
    assert rfc6349.windows_to_test(1e3, 1e-3) == (1024,)
    assert rfc6349.windows_to_test(4e11, 0.3)[-1] == 2**30
    assert len(rfc6349.windows_to_test(1e9, 4.8e-3, shares=(1,))) == 1


@pytest.mark.parametrize("path", [(0, 0.1), (1e9, 0), (1e9, float("inf")), (float("nan"), 1)])
def test_a_path_that_is_not_known_has_no_windows(path):
    with pytest.raises(ValueError, match="no positive figure"):
        rfc6349.windows_to_test(*path)


@pytest.mark.parametrize(("window", "connections"), [(16, 20), (32, 10), (64, 5), (128, 3), (1024, 1)])
def test_connections_are_those_of_the_rfcs_own_table(window, connections):
    # Section 5.1: 500 Mbit/s and 5 ms, that is 312,500 B, with windows in kB.
    assert rfc6349.connections_to_fill(500e6, 5e-3, window * 1000) == connections


def test_udp_goodput_is_turned_into_the_rate_of_the_line():
    # A datagram of 1472 B fills an Ethernet frame of 1538 B with preamble and gap.
    assert rfc6349.line_rate_bps(1472e6, 1472) == pytest.approx(1538e6)
    assert rfc6349.line_rate_bps(8972e6, 8972, mtu=9000) == pytest.approx(9038e6)
    # 5888 + 8 B travel in four fragments of at most 1480 B.
    assert rfc6349.line_rate_bps(5888e6, 5888) == pytest.approx((5896 + 4 * 58) * 1e6)


def test_the_metrics_are_those_of_the_rfcs_examples():
    # Section 4.2: of 100,000 bytes 2,000 are sent again; section 4.3: 32 ms over a baseline of 25 ms.
    assert rfc6349.efficiency(102_000, 2_000) == pytest.approx(0.9804, abs=1e-4)
    assert rfc6349.buffer_delay(32e-3, 25e-3) == pytest.approx(0.28)
    assert rfc6349.transfer_time_ratio(941.48e6, 1e9, 1500) == pytest.approx(1, abs=1e-4)


def test_a_recorded_run_has_all_three():
    found = judged(first_of_1m(), 1e9, duration=4, baseline_rtt=4.8e-3)
    assert found["transfer_time_ratio"] == pytest.approx(1.0, abs=0.01)
    assert found["tcp_efficiency"] == pytest.approx(1.0, abs=0.002)
    assert 1.0 < found["buffer_delay"] < 1.8
    assert (found["bottleneck_source"], found["baseline_source"]) == ("inventory", "given")
    assert found["ideal_goodput"] == pytest.approx(990.04e6, rel=1e-4)


def first_of_1m():
    return read("winsweep_pnu/w1M_cubic_r0.json", duration=4)


def test_the_figures_become_samples_of_a_tool_that_declares_them():
    reading = rfc6349.judge(first_of_1m(), PARAMS | {"bottleneck": 1e9, "baseline_rtt": 4e-3}, TCP)
    for metric in rfc6349.METRICS:
        assert reading.value(metric.name) == reading.observed["rfc6349"][metric.name]
    assert Reading.from_json(json.loads(json.dumps(reading.as_json()))) == reading


def test_what_was_given_goes_before_what_the_inventory_says():
    found = judged(first_of_1m(), 1e9, bottleneck=2e9)
    assert found["bottleneck"] == 2e9
    assert found["bottleneck_source"] == "given"
    assert found["transfer_time_ratio"] == pytest.approx(2.0, abs=0.02)


def test_only_an_rtt_of_an_idle_path_is_a_baseline():
    reading = first_of_1m()
    assert not {"baseline_rtt", "buffer_delay"} & judged(reading).keys()
    observed = reading.observed | {"context": {"before": {"rtt_min": 4.7e-3}}}
    found = judged(dataclasses.replace(reading, observed=observed))
    assert (found["baseline_rtt"], found["baseline_source"]) == (4.7e-3, "measured")


def test_without_a_bottleneck_there_is_no_ratio():
    assert "transfer_time_ratio" not in judged(first_of_1m())


def test_the_kernels_count_of_bytes_goes_before_the_programs_of_segments():
    reading = first_of_1m()
    kernel = {"bytes_sent": 1000, "bytes_retransmitted": 100, "mean_rtt": 0.02, "min_rtt": 0.01}
    reading = dataclasses.replace(reading, samples=(), observed={"tcp": kernel})
    found = judged(reading)
    assert found["tcp_efficiency"] == pytest.approx(0.9)
    assert "buffer_delay" not in found


def test_a_kernel_asked_before_the_end_gives_way_to_the_programs_count():
    reading = first_of_1m()
    seconds = 4
    moved = reading.value("sent_rate") * seconds / 8
    reading = dataclasses.replace(
        reading,
        samples=(*(s for s in reading.samples if s.metric != "retransmits"), SampleValue("retransmits", 100.0)),
        observed=reading.observed | {"tcp": {"bytes_sent": moved / 2, "bytes_retransmitted": 0}},
    )
    found = judged(reading, duration=seconds)
    assert found["tcp_efficiency"] == pytest.approx(1 - 100 * 8948 / moved)


def test_a_rate_above_the_bottlenecks_is_said():
    reading = rfc6349.judge(first_of_1m(), PARAMS, TCP, 500e6)
    assert [flag.name for flag in reading.flags if flag.name == "faster-than-bottleneck"]
    assert "2.00 times" in next(str(flag.message) for flag in reading.flags if flag.name.startswith("faster"))


def test_a_run_without_figures_stays_as_it_was():
    reading = Reading(samples=(SampleValue("goodput", 0.0),))
    assert rfc6349.judge(reading, PARAMS, TCP) is reading
    assert rfc6349.judge(first_of_1m(), {}, tools.get("ping"), 1e9) == first_of_1m()
