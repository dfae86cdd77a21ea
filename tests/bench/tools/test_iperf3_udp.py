"""iperf3 over UDP: the readings of recorded reports."""

import dataclasses
import json

import pytest

from apps.bench import tools
from apps.bench.toolkit import ToolFailure
from tests.bench.tools import recordings

TOOL = tools.get("iperf3-udp")


def parse(name, **params):
    return TOOL.parse([recordings.load("iperf3-udp", name)], TOOL.clean({"duration": 2, "omit": 0, **params}))


def edited(name, edit):
    output = recordings.load("iperf3-udp", name)
    text = output.stdout.decode()
    data = json.JSONDecoder().raw_decode(text, text.index("{"))[0]
    edit(data)
    return dataclasses.replace(output, stdout=json.dumps(data).encode())


def fail(output, **params):
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse([output], TOOL.clean({"duration": 2, "omit": 0, **params}))
    return caught.value


def test_goodput_is_what_arrived_and_not_the_senders_rate():
    reading = parse("json_udp_overload.txt", rate="1200M")
    assert reading.value("offered_load") == pytest.approx(1_199_663_594, rel=1e-6)
    assert reading.value("goodput") == pytest.approx(760_295_462, rel=1e-6)
    assert reading.value("loss") == pytest.approx(0.32694, abs=1e-4)
    assert reading.value("jitter") == pytest.approx(6.814e-6, rel=1e-3)
    assert reading.value("out_of_order") == 0
    assert reading.tool_version == "3.12"
    assert reading.flags == ()


def test_it_keeps_what_was_asked_granted_and_seen_apart():
    reading = parse("json_udp.txt", rate="200M")
    assert reading.requested["rate"] == 200_000_000
    assert reading.granted == {"send_buffer": 212992, "receive_buffer": 212992}
    assert reading.observed["loss"] == 0


def test_a_sender_that_is_too_slow_is_flagged():
    reading = parse("json_udp.txt", rate="300M")
    assert [flag.name for flag in reading.flags] == ["sender-too-slow"]
    assert "199.9 Mbit/s of the 300.0 Mbit/s" in str(reading.flags[0].message)


def test_reverse_counts_what_the_client_received():
    reading = parse("reverse_P2.txt", direction="reverse", streams=2, omit=1, rate="10M")
    assert reading.value("goodput") == pytest.approx(10e6, rel=0.01)
    assert reading.value("out_of_order") == 0
    assert {item.metric for item in reading.series} == {"goodput"}
    assert {item.stream for item in reading.series} == {"sum", "1", "2"}


def test_both_ways_are_two_sets_of_metrics():
    reading = parse("bidir.txt", direction="both", omit=1, rate="5M")
    assert reading.value("goodput") == pytest.approx(5e6, rel=0.01)
    assert reading.value("goodput_reverse") == pytest.approx(5e6, rel=0.01)
    assert reading.value("loss_reverse") == 0
    assert reading.value("jitter_reverse") > 0
    assert reading.value("out_of_order_reverse") == 0
    assert {sample.metric for sample in reading.samples} <= {metric.name for metric in TOOL.metrics}


@pytest.mark.parametrize(
    ("name", "loss"), [("b450M.json", 0.0234), ("b500M.json", 0.1221), ("frag_l5888_b622M.json", 0.4028)]
)
def test_loss_grows_with_the_load(name, loss):
    assert parse(name, duration=5 if name[0] == "b" else 4, rate="450M").value("loss") == pytest.approx(
        loss, abs=1e-4
    )


def test_nothing_received_is_a_loss_of_everything():
    def lose(data):
        data["end"]["sum_received"].update(bytes=0, bits_per_second=0, packets=0, lost_packets=0)

    reading = TOOL.parse([edited("json_udp.txt", lose)], TOOL.clean({"duration": 2, "rate": "200M"}))
    assert reading.value("goodput") == 0
    assert reading.value("loss") == 1


def test_a_version_that_tells_only_the_senders_rate_is_too_old():
    def age(data):
        data["start"]["version"] = "iperf 3.9"

    assert fail(edited("json_udp.txt", age)).code == "version-too-old"


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data["end"].pop("sum_received"),
        lambda data: data["end"]["sum_received"].pop("jitter_ms"),
        lambda data: data["end"]["sum_received"].update(lost_packets=10**9),
        lambda data: data["end"]["sum_received"].update(bits_per_second=1),
        lambda data: data["end"].update(sum_sent=None),
    ],
)
def test_a_report_without_sound_figures_is_refused(edit):
    assert fail(edited("json_udp.txt", edit)).code in {"unreadable", "stopped"}


def test_a_run_that_ended_early_is_a_failure():
    assert fail(recordings.load("iperf3-udp", "json_udp.txt"), duration=10).code == "stopped"


def test_errors_are_those_of_the_tcp_tool():
    assert fail(recordings.load("iperf3-tcp", "err_refused.txt")).code == "refused"
