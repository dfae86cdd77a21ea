"""iperf3 without -J: the same figures from text, to the three digits it prints."""

import dataclasses
import re

import pytest

from apps.bench import tools
from apps.bench.toolkit import ToolFailure
from tests.bench.tools import recordings

TCP, UDP = tools.get("iperf3-tcp"), tools.get("iperf3-udp")


def read(tool, name):
    output = recordings.load(tool.slug, name)
    return tool.parse([output], tool.clean(tool.recover(output)))


def test_a_stream_gives_goodput_and_series():
    reading = read(TCP, "text_tcp.txt")
    assert reading.value("goodput") == 925e6
    assert reading.value("sent_rate") == 937e6
    assert reading.value("retransmits") == 0
    assert reading.value("cwnd_max") == pytest.approx(3.67 * 1024**2)
    sent = next(item for item in reading.series if (item.metric, item.stream) == ("sent_rate", "sum"))
    assert sent.times == (1.0, 2.0, 3.0)
    assert sent.values == (924e6, 944e6, 944e6)


def test_bytes_per_second_are_binary():
    assert read(TCP, "text_fM.txt").value("goodput") == 107 * 1024**2 * 8


def test_parallel_streams_give_their_sum_and_fairness():
    reading = read(TCP, "text_parallel4.txt")
    assert reading.value("goodput") == 804e6
    assert reading.value("retransmits") == 6294
    assert 0.8 < reading.value("fairness") < 1
    assert {item.stream for item in reading.series} == {"sum", "1", "2", "3", "4"}


def test_reverse_and_omitted_seconds():
    reading = read(TCP, "text_reverse_omit.txt")
    assert reading.requested["direction"] == "reverse"
    assert reading.requested["omit"] == 1
    assert reading.value("cwnd_max") is None
    goodput = next(item for item in reading.series if item.stream == "sum")
    assert goodput.metric == "goodput"
    assert goodput.times == (0.0, 1.0, 2.0)


def test_both_ways_are_kept_apart():
    reading = read(TCP, "text_bidir_P2.txt")
    assert reading.requested["direction"] == "both"
    assert reading.requested["streams"] == 2
    assert reading.value("goodput") == 26.7e9
    assert reading.value("goodput_reverse") == 5.93e9


def test_a_verbose_report_tells_version_load_and_congestion_control():
    reading = read(TCP, "text_verbose_fK.txt")
    assert reading.tool_version == "3.12"
    assert reading.value("cpu_local") == 85.1
    assert reading.value("cpu_remote") == 65.6
    assert reading.granted["congestion_sender"] == "bbr"
    assert reading.observed["mss"] == 32768
    assert reading.value("goodput") == 4141499 * 1024 * 8


def test_a_run_of_an_amount_is_not_measured_by_its_time():
    assert read(TCP, "text_bytes.txt").value("goodput") == 23e9
    assert read(TCP, "json_zerocopy_bytes.txt").value("goodput") == pytest.approx(865_000_010, rel=1e-6)


def test_datagrams_give_loss_and_jitter_both_ways():
    forward = read(UDP, "text_P2.txt")
    assert forward.requested["rate"] == 100_000_000
    assert (forward.value("goodput"), forward.value("loss"), forward.value("jitter")) == (100e6, 0, 6e-6)
    assert read(UDP, "text_reverse.txt").value("goodput") == 20.2e6
    both = read(UDP, "text_bidir.txt")
    assert (both.value("jitter"), both.value("jitter_reverse")) == (7e-6, 7e-6)


@pytest.mark.parametrize(
    ("cut", "code"),
    [(b"receiver", "unreadable"), (b"- - - -", "unreadable"), (b"[ ID]", "unreadable")],
)
def test_a_report_that_breaks_off_is_no_result(cut, code):
    output = recordings.load("iperf3-tcp", "text_tcp.txt")
    half = dataclasses.replace(output, stdout=output.stdout.partition(cut)[0])
    with pytest.raises(ToolFailure) as caught:
        TCP.parse([half], TCP.clean({"duration": 3}))
    assert caught.value.code == code


def test_a_rate_that_its_bytes_contradict_is_refused():
    output = recordings.load("iperf3-tcp", "text_tcp.txt")
    wrong = dataclasses.replace(output, stdout=output.stdout.replace(b"925 Mbits", b"825 Mbits"))
    with pytest.raises(ToolFailure, match="contradicts itself"):
        TCP.parse([wrong], TCP.clean({"duration": 3}))


def test_a_servers_log_sends_one_to_the_client():
    with pytest.raises(ToolFailure, match="server"):
        read(TCP, "text_server.txt")


@pytest.mark.parametrize(
    ("tool", "name", "expected"),
    [
        (TCP, "json_parallel.txt", {"duration": 2, "streams": 4, "congestion": "cubic"}),
        (TCP, "json_bidir.txt", {"duration": 2, "direction": "both"}),
        (TCP, "err_w_exceeds_rmem_max.txt", {"duration": 1, "window": 8 * 1024**2}),
        (TCP, "winsweep_pnu/w64K_cubic_r1.json", {"duration": 4, "omit": 1, "window": 65536}),
        (UDP, "json_udp.txt", {"duration": 2, "rate": 200_000_000, "length": 1448}),
        (UDP, "reverse_P2.txt", {"rate": 10_000_000, "streams": 2, "direction": "reverse"}),
    ],
)
def test_the_parameters_of_a_recorded_run_are_found_again(tool, name, expected):
    cleaned = tool.clean(tool.recover(recordings.load(tool.slug, name)))
    assert {key: cleaned[key] for key in expected} == expected


def test_without_intervals_there_is_one_as_long_as_the_test():
    assert tools.get("iperf3-tcp").recover(recordings.load("iperf3-tcp", "text_i0_P3.txt"))["interval"] == 1.0
    output = recordings.load("iperf3-tcp", "text_i0_P3.txt")
    longer = dataclasses.replace(output, stdout=output.stdout.replace(b"0.00-1.01 ", b"0.00-7.01 "))
    assert tools.get("iperf3-tcp").recover(longer)["interval"] == 7.0


@pytest.mark.parametrize("streams", [1, 2, 4])
def test_a_verbose_report_tells_the_limit_and_the_segments_that_were_asked_for(streams):
    output = recordings.load("iperf3-tcp", f"text_limited_P{streams}_r0.txt")
    alone = dataclasses.replace(output, argv=())
    params = TCP.clean(TCP.recover(alone))
    assert params["pace"] == 200e6 * streams
    assert "held-by-limit" in {flag.name for flag in TCP.parse([alone], params).flags}
    small = alone.stdout.replace(b"TCP MSS: 32768 (default)", b"TCP MSS: 500")
    assert TCP.recover(dataclasses.replace(alone, stdout=small))["mss"] == 500


@pytest.mark.parametrize(
    ("ends", "interval"),
    [
        (("1.00", "2.00", "3.00"), 1.0),
        (("1.20", "2.20", "3.00"), None),
        (("0.50", "1.00", "1.50", "2.00", "2.50", "3.00"), 0.5),
        (("1.30", "2.30", "3.30", "3.40"), 1.0),
        (("3.00",), 3.0),
        (("3.20",), None),
    ],
)
def test_a_report_that_came_late_tells_no_other_interval(ends, interval):
    starts = ("0.00", *ends)
    lines = [
        f"[  5]   {start}-{end}   sec   110 MBytes   924 Mbits/sec    0   3.67 MBytes"
        for start, end in zip(starts, ends, strict=False)
    ]
    whole = recordings.load(TCP.slug, "text_tcp.txt").stdout.decode().splitlines()
    rest = [line for line in whole if "sec" not in line or "sender" in line or "receiver" in line]
    raw = "\n".join([*rest[:2], *lines, *rest[2:]]).replace("0.00-3.00 ", f"0.00-{ends[-1]} ").encode()
    output = dataclasses.replace(recordings.load(TCP.slug, "text_tcp.txt"), stdout=raw, argv=())
    assert TCP.recover(output).get("interval") == interval


@pytest.mark.parametrize("printed", ["0.86", "0.93", "0.9", "1", "0"])
def test_a_rate_that_is_printed_too_coarsely_is_that_of_its_bytes(printed):
    """With -f G a rate may be "0.01 GBytes/sec" beside 12.0 MBytes: that is one figure, and no contradiction."""
    output = recordings.load(TCP.slug, "text_tcp.txt")
    plain = read(TCP, "text_tcp.txt").value("goodput")
    text = re.sub(rb"\d+ Mbits/sec", printed.encode() + b" Gbits/sec", output.stdout)
    coarse = dataclasses.replace(output, stdout=text)
    half = 0.5 * 10.0 ** (9 - len(printed.partition(".")[2]))
    if abs(float(printed) * 1e9 - plain) > half + 0.02 * plain:
        with pytest.raises(ToolFailure):
            TCP.parse([coarse], TCP.clean(TCP.recover(coarse)))
    else:
        reading = TCP.parse([coarse], TCP.clean(TCP.recover(coarse)))
        assert reading.value("goodput") == pytest.approx(plain, rel=0.01)
        values = next(item for item in reading.series if item.stream == "sum").values
        assert all(value == pytest.approx(plain, rel=0.05) for value in values)
