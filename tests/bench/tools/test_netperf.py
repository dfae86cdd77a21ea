"""netperf: transactions and streams by name or as tables, and the time in which nothing was answered."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef
from tests.bench.tools import recordings
from tests.bench.tools.reading import changed, fail, figures, flags, parse, read, recognised_as, said

NODES = {"server": [NodeRef("south", "192.0.2.2")], "client": [NodeRef("north", "192.0.2.1")]}


def test_transactions_are_timed_in_seconds():
    reading = read("netperf", "plan_tcp_rr.txt")
    assert figures(reading) == pytest.approx(
        {
            "rtt_mean": 5.33496e-3,
            "rtt_min": 4.679e-3,
            "rtt_p50": 4.768e-3,
            "rtt_p90": 6.5e-3,
            "rtt_p99": 12.666e-3,
            "rtt_max": 15.612e-3,
            "rtt_deviation": 1.65233e-3,
            "transaction_rate": 187.44,
            "retransmits": 0,
            "cpu_local": 100,
            "cpu_remote": 100,
        },
        rel=1e-3,
    )
    assert reading.granted == {"send_buffer": 16384, "receive_buffer": 131072, "congestion_sender": "bbr"}
    assert reading.flags == ()


def test_datagrams_have_no_retransmits_and_no_segments():
    reading = read("netperf", "plan_udp_rr.txt")
    assert reading.requested["request"] == 100
    assert reading.requested["response"] == 1000
    assert reading.value("rtt_p50") == pytest.approx(4.774e-3)
    assert reading.value("retransmits") is None
    assert "mss" not in reading.observed


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("omni.txt", {"goodput": 975.29e6, "retransmits": 0}),
        ("stream.txt", {"goodput": 975.68e6}),
        ("rr_P0.txt", {"transaction_rate": 195.81, "rtt_mean": 1 / 195.81}),
        ("plan_maerts.txt", {"goodput": 99.88e6, "window_granted": 131072}),
    ],
)
def test_tables_and_named_values_are_read(name, expected):
    reading = read("netperf", name)
    assert {key: reading.value(key) for key in expected} == pytest.approx(expected)


def test_buffers_at_the_end_are_what_autotuning_made_of_them():
    reading = read("netperf", "omni.txt")
    assert reading.observed == {"mss": 8948, "send_buffer_end": 4194304, "receive_buffer_end": 9032329}


def test_a_time_without_answers_makes_the_latency_invalid():
    output = changed("netperf", "plan_udp_rr.txt", (b"\nRT_LATENCY=5372.84", b"\nRT_LATENCY=53728.4"))
    assert flags(parse("netperf", output)) == {"stalled": "invalid"}


def test_a_window_that_the_kernel_capped_is_told():
    output = changed("netperf", "plan_maerts.txt", (b"LSS_SIZE=131072", b"LSS_SIZE=100000"))
    assert flags(parse("netperf", output)) == {"window-capped": "warning"}


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err.txt", "refused", "10.9.2.2"),
        ("err_badhost.txt", "bad-host", "not known"),
        ("err_badopt.txt", "unknown-option", "option"),
        ("err_unknown_test.txt", "bad-parameter", "NO_TEST"),
        ("err_server_killed.txt", "stopped", "partial response"),
        ("plan_server.txt", "no-result", "server"),
    ],
)
def test_a_failure_has_its_reason(name, code, words):
    failure = fail("netperf", recordings.load("netperf", name))
    assert failure.code == code
    assert words in str(failure.message)


def test_a_server_that_could_not_serve_tells_why():
    text = b"Unable to start netserver with  '192.0.2.2' port '12865' and family AF_UNSPEC\n"
    failure = fail("netperf", said("netperf", stderr=text, role="server"))
    assert "Unable to start netserver" in str(failure.message)


@pytest.mark.parametrize(
    ("pairs", "code"),
    [
        ([(b"THROUGHPUT_UNITS=Trans/s", b"THROUGHPUT_UNITS=KBytes/s")], "unreadable"),
        ([(b"\nTHROUGHPUT=", b"\nTHROUGHPUT=-")], "unreadable"),
        ([(b"ELAPSED_TIME=2.0", b"ELAPSED_TIME=1.0")], "stopped"),
    ],
)
def test_a_report_in_other_units_or_cut_short_is_refused(pairs, code):
    assert fail("netperf", changed("netperf", "plan_tcp_rr.txt", *pairs)).code == code


def test_a_stream_where_transactions_were_asked_for_is_refused():
    assert fail("netperf", recordings.load("netperf", "omni.txt"), test="TCP_RR").code == "unreadable"


def test_two_reports_in_one_output_are_refused():
    output = recordings.load("netperf", "omni.txt")
    assert fail("netperf", dataclasses.replace(output, stdout=2 * output.stdout)).code == "several-results"


def test_the_server_stays_in_the_foreground_and_the_client_names_its_values():
    tool = tools.get("netperf")
    plan = tool.plan(tool.clean({"test": "UDP_RR", "request": 100, "window": "64K", "duration": 3}), NODES)
    serve, measure = (stage.commands[0] for stage in plan.stages)
    assert serve.argv == ("netserver", "-D", "-L", "192.0.2.2", "-p", "12865")
    assert serve.ready_pattern == "Starting netserver with host"
    options = "netperf -H 192.0.2.2 -L 192.0.2.1 -p 12865 -l 3 -c -C -j -t UDP_RR -- -s 65536 -S 65536 -r 100,1 -k"
    assert " ".join(measure.argv[:-1]) == options
    assert measure.argv[-1].startswith("THROUGHPUT,THROUGHPUT_UNITS,")
    assert "-r" not in tool.plan(tool.clean({"test": "TCP_STREAM"}), NODES).stages[1].commands[0].argv


def test_only_streams_fill_the_path():
    tool = tools.get("netperf")
    assert tool.estimate(tool.clean({}), 1e9).bytes_sent == {}
    assert tool.estimate(tool.clean({"test": "TCP_MAERTS"}), 1e9).bytes_sent == {("server", "client"): 1_250_000_000}


@pytest.mark.parametrize("name", [name for name in recordings.names("netperf") if name != "err_badopt.txt"])
def test_its_outputs_are_recognised(name):
    assert recognised_as("netperf", name) == ["netperf"]


@pytest.mark.parametrize(("unit", "printed"), [("GBytes/s", "0.01"), ("GBytes/s", "0.10"), ("10^9bits/s", "0.94")])
def test_a_rate_of_too_few_digits_is_none(unit, printed):
    pairs = (b"THROUGHPUT=975.29", f"THROUGHPUT={printed}".encode()), (b"10^6bits/s", unit.encode())
    failure = fail("netperf", changed("netperf", "omni.txt", *pairs))
    assert failure.code == "unreadable"
    assert f"{printed} {unit}" in str(failure.message)


@pytest.mark.parametrize("test", ["TCP_STREAM", "TCP_MAERTS"])
def test_of_a_stream_so_small_a_unit_is_asked_for_that_its_digits_tell_the_rate(test):
    tool = tools.get("netperf")
    argv = tool.plan(tool.clean({"test": test}), NODES).stages[1].commands[0].argv
    assert argv[argv.index("-f") + 1] == "k"
    assert argv.index("-f") < argv.index("--")


def test_nobody_but_the_runs_client_has_the_server_measure():
    """It sends files, and to any address, for whoever speaks to it."""
    tool = tools.get("netperf")
    nodes = {"client": [NodeRef("a", "10.9.0.1")], "server": [NodeRef("b", "10.9.0.2", mark="1f2e3d4c")]}
    serve, measure = (stage.commands[0].argv for stage in tool.plan(tool.clean({}), nodes).stages)
    assert " -Z 1f2e3d4c" in " ".join(serve)
    assert measure[measure.index("--") - 2 :][:2] == ("-Z", "1f2e3d4c")


ROW = b"16384  131072 1        1       1.00     4455.04\n16384  131072\n"
NAMED = b"THROUGHPUT=4455.04\nTHROUGHPUT_UNITS=Trans/s\nPROTOCOL=TCP\nDIRECTION=Send|Recv\n"
LINE = b"Throughput,Throughput Units,Protocol\n4455.04,Trans/s,TCP\n"


@pytest.mark.parametrize("printed", [ROW, NAMED, LINE])
def test_transactions_of_a_test_that_nothing_names_have_no_time(printed):
    """They look the same with a connection for each (TCP_CRR), with several under way (-b), and over UDP."""
    unnamed = dataclasses.replace(said("netperf", printed), argv=(), exit_code=0)
    assert str(fail("netperf", unnamed).message).endswith("of which protocol it is.")
    named = dataclasses.replace(unnamed, argv=("netperf", "-P", "0", "-t", "TCP_RR"))
    assert parse("netperf", named).value("rtt_mean") == pytest.approx(1 / 4455.04)
    burst = dataclasses.replace(unnamed, argv=(*named.argv, "--", "-b", "4"))
    assert parse("netperf", burst).value("rtt_mean") is None
    for other in ("TCP_CRR", "TCP_CC", "SCTP_RR"):
        failure = fail("netperf", dataclasses.replace(unnamed, argv=("netperf", "-P", "0", "-t", other)))
        assert other in str(failure.message)
