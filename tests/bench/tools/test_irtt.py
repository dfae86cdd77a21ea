"""irtt: one-way delays, IPDV and loss in each direction, from JSON and from its table."""

import dataclasses
import json

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef
from tests.bench.tools import recordings
from tests.bench.tools.reading import fail, figures, flags, parse, read, recognised_as, said

NODES = {"server": [NodeRef("south", "192.0.2.2")], "client": [NodeRef("north", "192.0.2.1")]}


def edited(edit, name="client.json"):
    output = recordings.load("irtt", name)
    data = json.loads(output.stdout)
    edit(data)
    return dataclasses.replace(output, stdout=json.dumps(data).encode())


def test_delays_are_read_in_seconds():
    reading = read("irtt", "client.json")
    assert figures(reading) == pytest.approx(
        {
            "rtt_min": 4.920004e-3,
            "rtt_mean": 5.782561e-3,
            "rtt_median": 5.341768e-3,
            "rtt_max": 12.178408e-3,
            "send_delay_min": 2.482914e-3,
            "send_delay_median": 2.590427e-3,
            "receive_delay_min": 2.3972e-3,
            "receive_delay_median": 2.503029e-3,
            "ipdv_mean": 703410e-9,
            "send_ipdv_mean": 489485e-9,
            "receive_ipdv_mean": 416011e-9,
            "loss": 0,
            "send_loss": 0,
            "receive_loss": 0,
        }
    )
    assert reading.granted == {"interval": 0.02, "length": 60}
    assert reading.observed["server_packets_received"] == 48
    assert reading.tool_version == "0.9.0"
    assert reading.flags == ()


def test_each_packet_is_a_point_over_time():
    (series,) = read("irtt", "client.json").series
    assert series.times[:2] == (0, 0.02)
    assert len(series.values) == 48
    assert series.values[0] == pytest.approx(12.178408e-3)


def test_the_table_is_read_too():
    reading = read("irtt", "client.txt")
    expected = {"rtt_min": 4.85e-3, "rtt_median": 5.02e-3, "receive_delay_min": 2.37e-3, "ipdv_mean": 465e-6}
    assert {name: reading.value(name) for name in expected} == pytest.approx(expected)
    assert reading.value("send_loss") == 0
    assert reading.series == ()


def test_the_report_that_the_plan_asks_for_is_read():
    reading = read("irtt", "plan.txt")
    assert reading.requested["interval"] == 0.05
    assert reading.value("rtt_median") == pytest.approx(4.88e-3, rel=1e-3)
    assert reading.observed["packets_sent"] == 20


def test_the_loss_is_told_for_each_direction():
    def lose(data):
        data["stats"] |= {"packets_received": 36, "server_packets_received": 40}

    reading = parse("irtt", edited(lose))
    assert reading.value("loss") == pytest.approx(12 / 48)
    assert reading.value("send_loss") == pytest.approx(8 / 48)
    assert reading.value("receive_loss") == pytest.approx(4 / 40)
    assert flags(reading) == {"loss": "warning"}


def test_delays_below_zero_are_clocks_that_differ():
    def shift(data):
        for name, offset in (("send_delay", 10**7), ("receive_delay", -(10**7))):
            data["stats"][name]["min"] += offset

    reading = parse("irtt", edited(shift))
    assert reading.value("receive_delay_min") == pytest.approx(2.3972e-3 - 0.01)
    assert flags(reading) == {"clock-offset": "warning"}


def test_a_server_that_allows_less_is_told():
    def restrict(data):
        data["config"]["params"]["interval"] = 40_000_000

    reading = parse("irtt", edited(restrict), interval=0.02)
    assert reading.requested["interval"] == 0.02
    assert reading.granted["interval"] == 0.04
    assert flags(reading) == {"restricted": "warning"}


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err_refused.txt", "refused", "127.0.1.2"),
        ("err_badhost.txt", "bad-host", "nosuch.invalid"),
        ("err_badopt.txt", "unknown-option", "--frob"),
        ("err_restricted.txt", "bad-parameter", "increased interval from 1ms to 10ms"),
        ("plan_server.txt", "no-result", "server"),
    ],
)
def test_a_failure_has_its_reason(name, code, words):
    failure = fail("irtt", recordings.load("irtt", name))
    assert failure.code == code
    assert words in str(failure.message)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"Error: listen udp4 192.0.2.2:2112: bind: address already in use\n", "port-busy"),
        (b"Error: listen udp4 192.0.2.2:2112: bind: cannot assign requested address\n", "bad-host"),
    ],
)
def test_a_server_that_could_not_serve_tells_why(text, code):
    assert fail("irtt", said("irtt", stderr=text, role="server")).code == code


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"packets_received": 0}, "no-reply"),
        ({"packets_received": 49}, "unreadable"),
        ({"packets_sent": None}, "unreadable"),
        ({"rtt": {"min": 9, "mean": 8, "median": 7, "max": 6}}, "unreadable"),
        ({"rtt": None}, "unreadable"),
        ({"duration": 10**8}, "stopped"),
    ],
)
def test_a_report_that_contradicts_itself_or_ends_early_is_refused(change, code):
    assert fail("irtt", edited(lambda data: data["stats"].update(change))).code == code


def test_a_report_cut_short_is_refused():
    output = recordings.load("irtt", "client.json")
    assert fail("irtt", dataclasses.replace(output, stdout=output.stdout[:9000])).code == "unreadable"


def test_the_client_writes_json_and_the_port_stands_beside_the_address():
    tool = tools.get("irtt")
    plan = tool.plan(tool.clean({"duration": 2, "interval": "50 ms"}), NODES)
    serve, measure = (stage.commands[0] for stage in plan.stages)
    assert serve.argv == ("irtt", "server", "-b", "192.0.2.2:2112")
    assert " ".join(measure.argv) == (
        "irtt client -Q -o - -i 50000us -d 2000000us -l 172 --local=192.0.2.1 192.0.2.2:2112"
    )
    nodes = {"server": [NodeRef("south", "2001:db8::2")], "client": [NodeRef("north", "2001:db8::1")]}
    measure = tool.plan(tool.clean({}), nodes).stages[1].commands[0]
    assert measure.argv[-2:] == ("--local=[2001:db8::1]", "[2001:db8::2]:2112")


@pytest.mark.parametrize("name", ["client.json", "client.txt", "plan.txt", "plan_server.txt"])
def test_its_outputs_are_recognised(name):
    assert recognised_as("irtt", name) == ["irtt"]
