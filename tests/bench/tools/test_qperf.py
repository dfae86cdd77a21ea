"""qperf: decimal rates, half round trips, and the latency it shows of messages that were never answered."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef
from tests.bench.tools import recordings
from tests.bench.tools.reading import changed, fail, figures, flags, parse, read, recognised_as, said

NODES = {"server": [NodeRef("south", "192.0.2.2")], "client": [NodeRef("north", "192.0.2.1")]}


def test_rates_and_latency_are_read_in_base_units():
    reading = read("qperf", "plan_tcp.txt")
    assert figures(reading) == pytest.approx({"goodput": 109838336, "latency": 2.564103e-3, "message_rate": 210})
    assert reading.flags == ()


def test_datagrams_that_did_not_arrive_are_the_loss():
    reading = read("qperf", "plan_udp.txt")
    assert figures(reading) == pytest.approx(
        {
            "goodput": 8 * 45865400,
            "sent_rate": 8 * 62943168,
            "loss": 0.278535,
            "latency": 2.538071e-3,
            "message_rate": 32437,
        },
        rel=1e-4,
    )
    assert flags(reading) == {"loss": "warning"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # 122 MB/sec are 122 * 10^6 B/s.
        ("tcp.txt", {"goodput": 976e6, "latency": 2.41e-3}),
        ("unify.txt", {"goodput": 8 * 121929728, "message_rate": 1860}),
    ],
)
def test_what_is_printed_for_people_is_read_too(name, expected):
    assert figures(read("qperf", name)) == pytest.approx(expected)


def test_tests_of_the_other_protocol_are_kept_apart():
    reading = read("qperf", "tcp.txt")
    assert reading.observed["others"] == {"udp_lat": {"latency": pytest.approx(2.44e-3)}}
    assert reading.tool_version == "0.4.11"


def test_the_results_of_a_loop_are_refused():
    failure = fail("qperf", recordings.load("qperf", "loop_msgsize.txt"))
    assert failure.code == "several-results"
    assert failure.message.params["n"] == 4


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err.txt", "refused", "10.9.0.2"),
        ("err_badhost.txt", "bad-host", "nosuch.invalid"),
        ("err_badtest.txt", "bad-parameter", "nosuch_test"),
        ("err_badopt.txt", "bad-parameter", "--frob"),
        ("err_server_killed.txt", "stopped", "server not responding"),
        # Both exit with 0 and show a latency: of a second, and of nothing.
        ("err_udp_lat_multihomed.txt", "no-reply", "127.0.1.2"),
        ("err_udp_lat_behind_flood.txt", "no-reply", "10.9.12.2"),
    ],
)
def test_a_failure_has_its_reason(name, code, words):
    failure = fail("qperf", recordings.load("qperf", name))
    assert failure.code == code
    assert words in str(failure.message)


def test_a_client_that_met_nobody_lets_the_server_tell_why():
    server = said("qperf", stderr=b"unable to bind to listen port\n", role="server")
    failure = fail("qperf", dataclasses.replace(server, node="south"), recordings.load("qperf", "err.txt"))
    assert failure.code == "port-busy"
    assert "south" in str(failure.message)


@pytest.mark.parametrize(
    ("name", "pairs", "code"),
    [
        ("plan_tcp.txt", [(b"tcp_lat:", b"tcp_tal:")], "unreadable"),
        ("plan_tcp.txt", [(b"bytes/sec", b"bits/fortnight")], "unreadable"),
        ("plan_udp.txt", [(b"    recv_bw     =  45865400", b"    recv_bw     =  0")], "no-reply"),
        ("plan_udp.txt", [(b"    recv_msgs   =     32", b"    recv_msgs   =  99932")], "unreadable"),
    ],
)
def test_a_report_without_a_result_or_that_contradicts_itself_is_refused(name, pairs, code):
    assert fail("qperf", changed("qperf", name, *pairs)).code == code


def test_one_of_the_two_is_enough_if_only_that_was_asked_for():
    output = recordings.load("qperf", "unify.txt")
    assert fail("qperf", output, measure="both").code == "unreadable"
    assert parse("qperf", output).requested["measure"] == "bandwidth"


def test_the_client_waits_for_a_server_that_prints_nothing():
    tool = tools.get("qperf")
    plan = tool.plan(tool.clean({"protocol": "udp", "duration": 3, "message_size": 1400, "window": "64K"}), NODES)
    serve, measure = (stage.commands[0] for stage in plan.stages)
    assert serve.argv == ("qperf", "-lp", "19765")
    assert serve.ready_pattern is None
    assert " ".join(measure.argv) == (
        "qperf -lp 19765 -ws 10 -uu -vvs -t 3 -m 1400 -sb 65536 192.0.2.2 udp_lat udp_bw"
    )
    only = tool.plan(tool.clean({"measure": "latency"}), NODES).stages[1].commands[0]
    assert only.argv[-1] == "tcp_lat"
    assert only.time_limit_s < measure.time_limit_s + 10


def test_the_flood_of_a_udp_rate_is_declared():
    tool = tools.get("qperf")
    assert tool.estimate(tool.clean({"protocol": "udp"}), 1e9).offered_bps == 1e9
    assert tool.estimate(tool.clean({"protocol": "udp"})).offered_bps > 1e9
    assert tool.estimate(tool.clean({"protocol": "udp", "measure": "latency"}), 1e9).offered_bps == 0
    assert tool.estimate(tool.clean({}), 1e9).offered_bps == 0


@pytest.mark.parametrize("name", [name for name in recordings.names("qperf") if name != "err_server_killed.txt"])
def test_its_outputs_are_recognised(name):
    assert recognised_as("qperf", name) == ["qperf"]
