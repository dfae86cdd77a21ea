"""Beside what a tool printed stands what the kernels of its nodes said."""

import copy
import dataclasses
from typing import Any

import pytest

from apps.bench import judges, telemetry, tools
from apps.bench.toolkit import Output, Reading, SampleValue
from tests.bench.telemetry import recorded

TOOL = tools.get("iperf3-tcp")


def output(raw: Any, role: str = "client", stage: str = "measure", node: str = "kisti01") -> Output:
    return Output(role, stage, node, ("iperf3",), b"", b"", 0, telemetry=raw)


def judged(*outputs: Output) -> Reading:
    return telemetry.judge(Reading(samples=(SampleValue("goodput", 1e9),)), outputs, {}, TOOL)


def names(reading: Reading) -> list[str]:
    return [flag.name for flag in reading.flags]


def test_it_adds_what_limited_tcp() -> None:
    reading = judged(output(recorded.raw("iperf3_loopback_window_16k")), output({}, role="server"))
    tcp = reading.observed["tcp"]
    assert tcp["receiver_window_limited"] == pytest.approx(0.569, abs=0.001)
    assert tcp["receiver_window_limited"] + tcp["send_buffer_limited"] + tcp["congestion_window_limited"] == 1
    assert (tcp["nodes"], tcp["connections"], tcp["retransmits"]) == (["kisti01"], 1, 0)
    assert {line.metric for line in reading.series} == {"kernel_tcp_limits", "kernel_tcp_window", "kernel_tcp_rtt"}
    assert reading.samples == (SampleValue("goodput", 1e9),)


def test_senders_on_several_nodes_are_told_together() -> None:
    raw = recorded.raw("iperf3_loopback_window_16k")
    reading = judged(output(raw), output(raw, node="pnu01"))
    assert (reading.observed["tcp"]["connections"], reading.observed["tcp"]["nodes"]) == (2, ["kisti01", "pnu01"])
    assert reading.series == ()


def test_what_stands_around_the_measurement_is_not_of_it() -> None:
    assert judged(output(recorded.raw("iperf3_loopback_window_16k"), stage="around-before")).observed == {}


@pytest.mark.parametrize("raw", [{}, {"v": 1}, {"v": 1, "times": "x"}])
def test_without_telemetry_nothing_is_said(raw: Any) -> None:
    assert judged(output(raw)) == judged()


def test_a_full_processor_is_said_once_a_node() -> None:
    raw = recorded.raw("iperf3_loopback_4_streams")
    found = judged(output(raw), output(raw, role="server"), output(raw, node="pnu01"))
    assert names(found) == ["processor-full", "processor-full"]
    assert {flag.message.params["node"] for flag in found.flags} == {"kisti01", "pnu01"}
    idle = {**raw, "core": [0, 99, 20, 30, 10, 99]}
    assert names(judged(output(idle))) == []


def test_lost_packets_and_datagrams_are_said() -> None:
    raw = copy.deepcopy(recorded.raw("dd_write"))
    raw["nic"]["rx_drops"] = [0, 7]
    raw["nic"]["tx_errors"] = [0, 2]
    raw["udp"]["receive_buffer_errors"] = [0, 11]
    found = judged(output(raw))
    assert names(found) == ["receive-buffer-full", "interface-errors", "interface-drops"]
    assert [flag.message.params["count"] for flag in found.flags] == [11, 2, 7]
    assert all(str(flag.message) for flag in found.flags)


def test_it_is_one_of_the_judges() -> None:
    assert telemetry.judge in judges.JUDGES
    reading = judged(output(recorded.raw("iperf3_loopback_4_streams")))
    assert Reading.from_json(reading.as_json()) == dataclasses.replace(reading)
