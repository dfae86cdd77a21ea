"""nuttcp: both sides of a report, its binary megabytes and whole kilobits, and its doubtful old mode."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, ParameterError
from tests.bench.tools import recordings
from tests.bench.tools.reading import changed, fail, figures, flags, parse, read, recognised_as, said

NODES = {"server": [NodeRef("south", "192.0.2.2")], "client": [NodeRef("north", "192.0.2.1")]}


def argv_of(nodes=NODES, **params):
    tool = tools.get("nuttcp")
    return [" ".join(stage.commands[0].argv) for stage in tool.plan(tool.clean(params), nodes).stages]


def test_the_receivers_side_is_the_goodput():
    reading = read("nuttcp", "plan_tcp.txt")
    assert figures(reading) == pytest.approx(
        {
            "goodput": 91422700,
            "sent_rate": 92011200,
            "retransmits": 0,
            "connect_rtt": 4.881e-3,
            "window_granted": 131072,
            "cpu_sender": 0,
            "cpu_receiver": 1,
        },
        rel=1e-4,
    )
    assert reading.granted == {"send_buffer": 131072, "receive_buffer": 131072}
    assert reading.observed == {"mss": 1448}
    assert reading.tool_version == "6.1.2"
    assert reading.flags == ()
    (series,) = reading.series
    assert series.times == (1, 2)


def test_reverse_is_received_by_the_client():
    reading = read("nuttcp", "plan_reverse_N4.txt")
    assert reading.requested["direction"] == "reverse"
    assert reading.requested["streams"] == 4
    assert reading.value("goodput") == pytest.approx(380.926e6, rel=1e-4)
    assert reading.value("sent_rate") == pytest.approx(418.279e6, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tcp.txt", {"goodput": 977748300, "retransmits": 0, "connect_rtt": 4.91e-3, "cpu_sender": 5}),
        ("tcp_w.txt", {"goodput": 978397900, "connect_rtt": 9.07e-3, "cpu_receiver": 17}),
        ("streams_N4.txt", {"goodput": 978367600, "connect_rtt": 4.89e-3, "cpu_receiver": 9}),
        ("udp_fparse.txt", {"goodput": 200069900, "loss": 2 / 6104, "cpu_sender": 98}),
        ("plan_udp_over.txt", {"goodput": 321712000, "sent_rate": 708064000, "loss": 0.311689}),
    ],
)
def test_brief_and_verbose_reports_are_read(name, expected):
    reading = read("nuttcp", name)
    assert {key: reading.value(key) for key in expected} == pytest.approx(expected, rel=1e-4)


def test_intervals_become_a_series():
    (series,) = read("nuttcp", "tcp.txt").series
    assert series.times == (1, 2, 3)
    assert series.values == pytest.approx((973.5668e6, 989.826e6, 974.1661e6))


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err_refused.txt", "refused", "10.9.2.2"),
        ("err_badhost.txt", "bad-host", "nosuch.invalid"),
        ("err_badport.txt", "bad-parameter", "80000"),
        ("err_badopt.txt", "bad-parameter", "Usage"),
        ("err_server_killed.txt", "stopped", "reset by peer"),
        # A server of one thread reads nothing of datagrams larger than the MSS of its control connection.
        ("err_nothing_received.txt", "no-reply", "10.9.12.2"),
    ],
)
def test_a_failure_has_its_reason(name, code, words):
    failure = fail("nuttcp", recordings.load("nuttcp", name))
    assert failure.code == code
    assert words in str(failure.message)


def test_its_old_mode_that_no_receiver_confirms_is_no_result():
    output = recordings.load("nuttcp", "tcp.txt")
    warning = b'nuttcp-t: Info: attempting to switch to deprecated "classic" mode\n'
    assert fail("nuttcp", dataclasses.replace(output, stderr=warning)).code == "refused"


def test_a_busy_server_prints_nothing_and_the_client_tells_what_it_met():
    output = said("nuttcp", stderr=b"server aborted connection\n", words=("192.0.2.2",))
    assert fail("nuttcp", output).code == "stopped"
    assert fail("nuttcp", said("nuttcp", role="server")).code == "no-result"


@pytest.mark.parametrize(
    ("pairs", "code"),
    [
        ([(b"rate_Mbps=91.4227", b"rate_Mbps=914.227")], "unreadable"),
        ([(b"nuttcp-r: megabytes", b"nuttcp-r: Megabytes")], "unreadable"),
        ([(b"real_seconds=2.01", b"real_seconds=1.01"), (b"=91.4227", b"=182.2000")], "stopped"),
    ],
)
def test_a_report_that_contradicts_itself_or_ends_early_is_refused(pairs, code):
    assert fail("nuttcp", changed("nuttcp", "plan_tcp.txt", *pairs)).code == code


def test_two_reports_in_one_output_are_refused():
    output = recordings.load("nuttcp", "tcp.txt")
    assert fail("nuttcp", dataclasses.replace(output, stdout=2 * output.stdout)).code == "several-results"


def test_doubts_are_told():
    assert flags(read("nuttcp", "plan_udp_over.txt")) == {"sender-too-slow": "warning"}
    capped = changed("nuttcp", "plan_tcp.txt", (b"window_size=131072", b"window_size=100000"))
    assert flags(parse("nuttcp", capped)) == {"window-capped": "warning"}
    fragments = dataclasses.replace(
        recordings.load("nuttcp", "plan_udp_over.txt"),
        stderr=recordings.load("nuttcp", "err_nothing_received.txt").stderr,
    )
    assert "fragments" in flags(parse("nuttcp", fragments))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-w64"], {"window": 65536}),
        (["-w", "1m"], {"window": 2**20}),
        (["-R", "200m", "-u"], {"rate": 200_000_000, "protocol": "udp"}),
        (["-R", "500", "-u"], {"rate": 500_000}),
        (["-r", "-T5", "-N", "4"], {"direction": "reverse", "duration": "5", "streams": "4"}),
    ],
)
def test_its_options_are_recovered_in_its_units(words, expected):
    recovered = tools.get("nuttcp").recover(said("nuttcp", words=[*words, "192.0.2.2"]))
    assert {key: recovered[key] for key in expected} == expected


def test_the_server_serves_once_in_the_foreground_and_the_client_knocks_again():
    assert argv_of(window="64K", streams=2, duration=5, direction="reverse") == [
        "nuttcp -1 --nofork -P 5000",
        "nuttcp -a -v -fparse -P 5000 -p 5101 -T 5 -i 1 -r -N 2 -w 64 192.0.2.2",
    ]
    assert argv_of(protocol="udp", rate="10M", length=1200, port=6000)[1] == (
        "nuttcp -a -v -fparse -P 6000 -p 5101 -T 10 -i 1 -u -R 10000 -l 1200 192.0.2.2"
    )
    nodes = {"server": [NodeRef("south", "2001:db8::2")], "client": [NodeRef("north", "2001:db8::1")]}
    assert argv_of(nodes)[0] == "nuttcp -1 --nofork -6 -P 5000"


@pytest.mark.parametrize(("name", "value"), [("window", 1000), ("rate", 1500), ("duration", 1.5)])
def test_what_its_whole_numbers_can_not_say_is_refused(name, value):
    with pytest.raises(ParameterError) as caught:
        tools.get("nuttcp").clean({name: value})
    assert set(caught.value.errors) == {name}


@pytest.mark.parametrize("name", [name for name in recordings.names("nuttcp") if name != "err_badport.txt"])
def test_its_outputs_are_recognised(name):
    assert recognised_as("nuttcp", name) == ["nuttcp"]
