"""mtr: the hops of a path with loss and times, in four forms of output."""

import dataclasses
import json

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef
from tests.bench.tools import recordings
from tests.bench.tools.reading import changed, fail, figures, flags, parse, read, recognised_as

NODES = {"server": [NodeRef("south", "192.0.2.2")], "client": [NodeRef("north", "192.0.2.1")]}


def edited(edit):
    output = recordings.load("mtr", "json.json.txt")
    data = json.loads(output.stdout)
    edit(data["report"])
    return dataclasses.replace(output, stdout=json.dumps(data).encode())


def test_the_end_and_every_hop_are_read_in_base_units():
    reading = read("mtr", "json.json.txt")
    assert figures(reading) == pytest.approx(
        {
            "hops": 3,
            "rtt_min": 4.87e-3,
            "rtt_mean": 4.927e-3,
            "rtt_max": 4.996e-3,
            "rtt_deviation": 55e-6,
            "loss": 0,
        }
    )
    hops = reading.observed["hops"]
    assert [hop["addresses"] for hop in hops] == [["10.9.1.1"], ["10.9.0.2"], ["10.9.2.2"]]
    assert [hop["hop"] for hop in hops] == [1, 2, 3]
    assert hops[1]["rtt_s"] == pytest.approx(4.778e-3)
    assert hops[1]["loss"] == 0
    assert reading.flags == ()


@pytest.mark.parametrize(
    ("name", "hops", "least", "mean"),
    [
        ("report.txt", 3, 4.8e-3, 4.9e-3),
        # Two probes of three reached the end before it counted the end as a fourth hop.
        ("raw.txt", 3, 4.82e-3, 4.8855e-3),
        ("ipv6.txt", 1, 52e-6, 76e-6),
        ("plan_udp.txt", 2, 4.784e-3, 4.841e-3),
        ("plan_tcp.txt", 2, 4.775e-3, 4.825e-3),
    ],
)
def test_all_of_its_forms_are_read(name, hops, least, mean):
    reading = read("mtr", name)
    assert reading.value("hops") == hops
    assert reading.value("rtt_min") == pytest.approx(least)
    assert reading.value("rtt_mean") == pytest.approx(mean)
    assert reading.value("loss") == 0


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("noreply.json.txt", "not-reached", "10.9.1.1"),
        # It exits with 0 for a name that does not resolve, and for an address that is not its own.
        ("err_badhost.txt", "bad-host", "nosuch.invalid"),
        ("err_bind.txt", "no-route", "127.0.1.2"),
        ("err_badopt.txt", "unknown-option", "--frob"),
        ("err_permission.txt", "permission", "interval < 1.0 seconds"),
    ],
)
def test_a_failure_has_its_reason_whatever_the_exit_status(name, code, words):
    failure = fail("mtr", recordings.load("mtr", name))
    assert failure.code == code
    assert words in str(failure.message)


def test_loss_silent_hops_and_missing_probes_are_told():
    def spoil(report):
        report["hubs"][1] |= {"host": "???", "Loss%": 100.0, "Best": 0.0, "Avg": 0.0}
        report["hubs"][2] |= {"Loss%": 25.0, "Snt": 4}

    reading = parse("mtr", edited(spoil))
    assert reading.value("loss") == 0.25
    assert flags(reading) == {"loss": "warning", "silent-hops": "info", "few-probes": "warning"}
    assert reading.observed["hops"][1]["addresses"] == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"host": "10.9.9.9"}, "not-reached"),
        ({"Loss%": 100.0}, "not-reached"),
        ({"Avg": None}, "unreadable"),
        ({"Best": 9.9}, "unreadable"),
        ({"count": 7, "Loss%": 250}, "unreadable"),
        ({"count": 2}, "unreadable"),
    ],
)
def test_an_end_that_was_not_reached_or_contradicts_itself_is_refused(change, code):
    assert fail("mtr", edited(lambda report: report["hubs"][2].update(change))).code == code


def test_the_packet_size_that_is_a_text_is_recovered():
    assert tools.get("mtr").recover(recordings.load("mtr", "plan_tcp.txt")) == {
        "count": "3",
        "interval": "0.2",
        "max_hops": "30",
        "size": "64",
        "port": "9",
        "method": "tcp",
    }


def test_the_command_of_each_method():
    tool = tools.get("mtr")

    def argv_of(**params):
        return " ".join(tool.plan(tool.clean(params), NODES).stages[0].commands[0].argv)

    assert argv_of() == "mtr -n --json -c 10 -i 1 -G 2 -m 30 -s 64 -a 192.0.2.1 192.0.2.2"
    assert "-u" in argv_of(method="udp").split()
    assert "-T -P 443" in argv_of(method="tcp", port=443)


@pytest.mark.parametrize("name", ["json.json.txt", "noreply.json.txt", "raw.txt", "report.txt", "err_badhost.txt"])
def test_its_outputs_are_recognised(name):
    assert recognised_as("mtr", name) == ["mtr"]


@pytest.mark.parametrize(("time", "is_coarse"), [(b"0.1", True), (b"2.4", True), (b"2.6", False), (b"40.0", False)])
def test_times_hardly_longer_than_the_last_digit_are_flagged(time, is_coarse):
    row = b"  3.|-- 10.9.2.2  0.0%     5    5.0   4.9   4.8   5.0   0.1"
    same = b"  3.|-- 10.9.2.2  0.0%     5    " + b" ".join([time] * 4) + b"   0.1"
    reading = parse("mtr", changed("mtr", "report.txt", (row, same)))
    assert ("coarse-time" in flags(reading)) == is_coarse
    for flag in reading.flags:
        assert {*flag.metrics} == {"rtt_min", "rtt_mean", "rtt_max"}
