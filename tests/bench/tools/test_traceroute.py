"""traceroute: readings and reasons of recorded outputs."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import Output, ToolFailure
from tests.bench.tools import recordings

TOOL = tools.get("traceroute")


def parse(output):
    return TOOL.parse([output], TOOL.clean({}))


def fail(output):
    with pytest.raises(ToolFailure) as caught:
        parse(output)
    return caught.value


def changed(old, new):
    output = recordings.load("traceroute", "udp.txt")
    assert old in output.stdout
    return dataclasses.replace(output, stdout=output.stdout.replace(old, new))


@pytest.mark.parametrize("name", ["udp.txt", "tcp.txt"])
def test_it_reads_hops_and_times(name):
    reading = parse(recordings.load("traceroute", name))
    assert reading.value("hops") == 3
    assert 4.7e-3 < reading.value("rtt_min") <= reading.value("rtt_mean") <= reading.value("rtt_max") < 5e-3
    assert reading.value("path_mtu") is None
    assert [hop["addresses"] for hop in reading.observed["hops"]] == [["10.9.1.1"], ["10.9.0.2"], ["10.9.2.2"]]


def test_it_reads_where_the_mtu_falls():
    assert parse(recordings.load("traceroute", "mtu_drop_1500.txt")).value("path_mtu") == 1500


def test_it_reads_scoped_ipv6():
    reading = parse(recordings.load("traceroute", "ipv6_scoped.txt"))
    assert reading.value("hops") == 1
    assert reading.observed["hops"][0]["addresses"] == ["fe80::fc:ff:fe00:1%eth0"]


def test_a_silent_hop_on_the_way_does_no_harm():
    reading = parse(changed(b" 2  10.9.0.2  5.007 ms  4.971 ms  4.952 ms", b" 2  * * *"))
    assert reading.value("hops") == 3
    assert reading.observed["hops"][1] == {"hop": 2, "addresses": [], "rtt_s": None}


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err_badhost.txt", "bad-host", "nosuch.invalid"),
        ("err_bind.txt", "bad-host", "no interface"),
        ("err_noroute.txt", "no-route", "Network is unreachable"),
        ("err_permission.txt", "permission", "privileges"),
        ("err_badopt.txt", "unknown-option", "--frobnicate"),
        ("noreply.txt", "no-route", "!N"),
        ("unreach.txt", "not-reached", "came from -"),
    ],
)
def test_a_failure_has_its_reason(name, code, words):
    failure = fail(recordings.load("traceroute", name))
    assert failure.code == code
    assert words in str(failure.message)


def test_an_end_that_was_not_reached_names_the_last_that_answered():
    failure = fail(changed(b" 3  10.9.2.2  4.939 ms  4.947 ms  4.913 ms", b" 3  * * *"))
    assert failure.code == "not-reached"
    assert "10.9.0.2" in str(failure.message)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b" 2  10.9.0.2", b"12  10.9.0.2"),
        (b"4.939 ms  4.947 ms  4.913 ms", b"4,939 ms  4,947 ms  4,913 ms"),
        (b"\n 1  10.9.1.1  1.063 ms  1.006 ms  0.979 ms", b""),
    ],
)
def test_a_damaged_report_is_refused(old, new):
    assert fail(changed(old, new)).code == "unreadable"


def test_a_report_without_hops_is_refused():
    first_line = recordings.load("traceroute", "udp.txt").stdout.splitlines(keepends=True)[0]
    output = Output("client", "measure", "north", ("traceroute", "10.9.2.2"), first_line, b"", 0)
    assert fail(output).code == "unreadable"
    assert fail(dataclasses.replace(output, stdout=b"")).code == "no-result"
    assert fail(dataclasses.replace(output, timed_out=True)).code == "timed-out"
