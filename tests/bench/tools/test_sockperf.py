"""sockperf: latencies with percentiles, its binary megabits, and failures that exit with 0."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef
from tests.bench.tools import recordings
from tests.bench.tools.reading import changed, fail, figures, flags, parse, read, recognised_as, said

NODES = {"server": [NodeRef("south", "192.0.2.2")], "client": [NodeRef("north", "192.0.2.1")]}


def test_latencies_are_read_with_their_percentiles():
    reading = read("sockperf", "pingpong.txt")
    assert figures(reading) == pytest.approx(
        {
            "latency": 2535.128e-6,
            "latency_min": 2337.988e-6,
            "latency_p50": 2416.434e-6,
            "latency_p90": 2761.208e-6,
            "latency_p99": 4626.981e-6,
            "latency_p999": 7404.897e-6,
            "latency_max": 7404.897e-6,
            "latency_deviation": 446.873e-6,
            "loss": 0,
            "message_rate": 305 / 1.547,
        }
    )
    assert reading.observed["received"] == 305
    assert reading.tool_version == "3.7"
    assert reading.flags == ()


def test_its_megabits_are_binary():
    reading = read("sockperf", "throughput.txt")
    # It prints 161.614 MBps and 1292.911 Mbps of 121046 messages of 1400 B a second.
    assert reading.value("sent_rate") == pytest.approx(121046 * 1400 * 8, rel=1e-4)
    assert reading.value("message_rate") == 121046
    assert flags(reading) == {"receiver-unseen": "warning"}
    assert reading.value("latency") is None


@pytest.mark.parametrize(
    ("name", "latency", "protocol", "mode"),
    [
        ("plan_pingpong_tcp.txt", 2578.11e-6, "tcp", "ping-pong"),
        ("plan_underload.txt", 2776.41e-6, "udp", "under-load"),
    ],
)
def test_other_modes_are_read(name, latency, protocol, mode):
    reading = read("sockperf", name)
    assert reading.value("latency") == pytest.approx(latency, rel=1e-4)
    assert (reading.requested["protocol"], reading.requested["mode"]) == (protocol, mode)
    assert reading.flags == ()


def test_too_few_observations_for_a_percentile_are_told():
    assert flags(read("sockperf", "underload_few.txt")) == {"few-observations": "warning"}


def test_lost_messages_are_told():
    output = changed("sockperf", "pingpong.txt", (b"# dropped messages = 0", b"# dropped messages = 61"))
    reading = parse("sockperf", output)
    assert reading.value("loss") == pytest.approx(0.2)
    assert flags(reading) == {"loss": "warning"}


def test_a_sender_below_the_rate_asked_for_is_told():
    reading = read("sockperf", "plan_underload.txt", message_rate=4000)
    assert flags(reading) == {"sender-too-slow": "warning"}


def test_round_trips_are_halved():
    words = [(b"Summary: Latency is", b"Summary: Round trip is"), (b"avg-latency", b"avg-rtt")]
    reading = parse("sockperf", changed("sockperf", "pingpong.txt", *words))
    assert reading.value("latency") == pytest.approx(2535.128e-6 / 2)
    assert reading.value("latency_min") == pytest.approx(2337.988e-6 / 2)


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err_refused.txt", "refused", "127.0.1.2"),
        ("err_silent.txt", "no-reply", "127.0.1.2"),
        ("err_badhost.txt", "bad-host", "nosuch.invalid"),
        ("err_badsize.txt", "bad-parameter", "Invalid message size"),
        ("plan_server.txt", "no-result", "server"),
    ],
)
def test_a_failure_has_its_reason_though_it_exits_with_0(name, code, words):
    output = recordings.load("sockperf", name)
    failure = fail("sockperf", output)
    assert failure.code == code
    assert words in str(failure.message)


def test_a_server_whose_port_is_taken_tells_why():
    text = (
        b"sockperf: ERROR: [fd=3] Can`t bind socket, IP to bind: 127.0.1.2:11111\n (errno=98 Address already in use)"
    )
    assert fail("sockperf", said("sockperf", text, role="server")).code == "port-busy"


@pytest.mark.parametrize(
    "pairs",
    [
        [(b"percentile 50.000 = 2416.434", b"percentile 50.000 = 9416.434")],
        [(b"<MIN> observation = 2337.988", b"<MIN> observation = 4337.988")],
        [(b"# dropped messages = 0", b"# dropped messages = 999")],
        [(b"Summary: Latency is 2535.128", b"Summary: Latency is 9535.128")],
        [(b"<MAX> observation", b"<XAM> observation")],
        [(b".", b",")],
    ],
)
def test_a_report_that_contradicts_itself_is_refused(pairs):
    assert fail("sockperf", changed("sockperf", "pingpong.txt", *pairs)).code == "unreadable"


def test_a_rate_that_contradicts_its_count_is_refused():
    output = changed("sockperf", "throughput.txt", (b"Message Rate is 121046", b"Message Rate is 221046"))
    assert fail("sockperf", output).code == "unreadable"


def test_two_summaries_in_one_output_are_refused():
    output = recordings.load("sockperf", "pingpong.txt")
    assert fail("sockperf", dataclasses.replace(output, stdout=2 * output.stdout)).code == "several-results"


def test_the_commands_of_each_mode():
    tool = tools.get("sockperf")

    def argv_of(**params):
        return [" ".join(stage.commands[0].argv) for stage in tool.plan(tool.clean(params), NODES).stages]

    common = "-i 192.0.2.2 -p 11111"
    assert argv_of() == [
        f"sockperf server {common}",
        f"sockperf ping-pong {common} --client_ip 192.0.2.1 -t 5 -m 64",
    ]
    assert argv_of(protocol="tcp", mode="under-load", message_rate=100, duration=2)[1] == (
        f"sockperf under-load {common} --tcp --client_ip 192.0.2.1 -t 2 -m 64 --mps 100 --reply-every 1"
    )
    assert argv_of(mode="throughput", message_size=1400)[1].endswith("-m 1400 --mps 10000")


def test_a_set_rate_over_udp_is_declared():
    tool = tools.get("sockperf")
    load = tool.estimate(tool.clean({"mode": "throughput", "message_size": 1000, "message_rate": 1000}))
    assert load.offered_bps == 8e6
    assert tool.estimate(tool.clean({"mode": "throughput", "protocol": "tcp"})).offered_bps == 0
    assert tool.estimate(tool.clean({})).offered_bps == 0


@pytest.mark.parametrize("name", recordings.names("sockperf"))
def test_its_outputs_are_recognised(name):
    assert recognised_as("sockperf", name) == ["sockperf"]
