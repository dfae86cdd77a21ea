"""ping: readings and reasons of recorded outputs."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import Output, ToolFailure
from tests.bench.tools import recordings

TOOL = tools.get("ping")


def parse(output, count):
    return TOOL.parse([output], TOOL.clean({"count": count, "interval": 0.2}))


def fail(output, count=2):
    with pytest.raises(ToolFailure) as caught:
        parse(output, count)
    return caught.value


def changed(old, new):
    output = recordings.load("ping", "ok.txt")
    assert old in output.stdout
    return dataclasses.replace(output, stdout=output.stdout.replace(old, new))


def test_it_reads_the_round_trip_times():
    reading = parse(recordings.load("ping", "ok.txt"), 10)
    assert {sample.metric: sample.value for sample in reading.samples} == pytest.approx(
        {"rtt_min": 4.788e-3, "rtt_mean": 4.893e-3, "rtt_max": 5.328e-3, "rtt_mdev": 0.148e-3, "loss": 0.0}
    )
    assert reading.flags == ()
    (series,) = reading.series
    assert series.unit == "s"
    assert series.times == pytest.approx([0.2 * number for number in range(10)])
    assert series.values[0] == pytest.approx(5.33e-3)


@pytest.mark.parametrize(("name", "count"), [("timestamp_D.txt", 3), ("ipv6_scoped.txt", 2), ("mtu_ok_8972.txt", 2)])
def test_it_reads_the_other_forms(name, count):
    reading = parse(recordings.load("ping", name), count)
    assert 0 < reading.value("rtt_min") <= reading.value("rtt_mean") <= reading.value("rtt_max")
    assert len(reading.series[0].values) == count


def test_lost_probes_are_counted_and_flagged():
    output = changed(
        b"10 packets transmitted, 10 received, 0% packet", b"10 packets transmitted, 9 received, 10% packet"
    )
    lines = [line for line in output.stdout.splitlines(keepends=True) if b"icmp_seq=5 " not in line]
    reading = parse(dataclasses.replace(output, stdout=b"".join(lines)), 10)
    assert reading.value("loss") == pytest.approx(0.1)
    assert [flag.name for flag in reading.flags] == ["loss"]
    assert len(reading.series[0].values) == 9


@pytest.mark.parametrize(
    ("name", "code", "retryable", "words"),
    [
        ("unknown_host.txt", "bad-host", False, "no-such-host.invalid"),
        ("err_bind.txt", "bad-host", False, "no interface"),
        ("err_noroute.txt", "no-route", True, "Network is unreachable"),
        ("timeout_noreply.txt", "no-route", True, "Destination Net Unreachable"),
        ("silent.txt", "no-reply", True, "192.0.2.77"),
        ("mtu_fragneeded_router.txt", "too-big", False, "1500"),
        ("mtu_too_big_local.txt", "too-big", False, "9000"),
        ("interval_too_short_nonroot.txt", "permission", False, "minimal interval"),
        ("err_badopt.txt", "unknown-option", False, "option"),
    ],
)
def test_a_failure_has_its_reason(name, code, retryable, words):
    failure = fail(recordings.load("ping", name))
    assert failure.code == code
    assert failure.retryable is retryable
    assert words in str(failure.message)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("Destination Port Unreachable", "refused", "turned away"),
        ("Packet filtered", "refused", "turned away"),
        ("Destination Host Prohibited", "refused", "turned away"),
        ("Destination Host Unreachable", "no-route", "not delivered"),
        ("Destination Net Unreachable", "no-route", "not delivered"),
    ],
)
def test_what_a_gateway_answers_is_not_called_a_missing_route_of_the_node(words, code, told):
    output = recordings.load("ping", "timeout_noreply.txt")
    stdout = output.stdout.replace(b"Destination Net Unreachable", words.encode())
    failure = fail(dataclasses.replace(output, stdout=stdout))
    assert failure.code == code
    assert words in str(failure.message)
    assert told in str(failure.message)
    assert "no route" not in str(failure.message)


def test_fewer_probes_than_asked_for_are_no_result():
    failure = fail(recordings.load("ping", "ok.txt"), count=20)
    assert failure.code == "stopped"
    assert "2.0 s of 4.0 s" in str(failure.message)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"10 received", b"11 received"),
        (b"10 packets transmitted", b"0 packets transmitted"),
        (b" 0% packet loss", b" 50% packet loss"),
        (b"4.788/4.893", b"4.988/4.893"),
        (b"= 4.788/", b"= 1.788/"),
        (b"rtt min/avg", b"rtt mxn/avg"),
        (b"= 4.788/", b"= 4.7.8/"),
        (b"4.788/4.893/5.328", b"4,788/4,893/5,328"),
        (b"packets transmitted", b"Pakete gesendet"),
    ],
)
def test_a_report_that_is_damaged_or_contradicts_itself_is_refused(old, new):
    assert fail(changed(old, new), count=10).code == "unreadable"


def test_a_run_cut_short_is_a_failure():
    output = recordings.load("ping", "ok.txt")
    assert fail(dataclasses.replace(output, timed_out=True), 10).code == "timed-out"
    assert fail(dataclasses.replace(output, signal=15), 10).code == "stopped"


def test_silence_is_no_result():
    assert fail(Output("client", "measure", "north", ("ping", "x"), b"", b"", 1)).code == "no-result"


FLOOD = """\
PING 10.9.2.2 (10.9.2.2) 56(84) bytes of data.
..
--- 10.9.2.2 ping statistics ---
1000 packets transmitted, 998 received, 0.2% packet loss, time 5001ms
rtt min/avg/max/mdev = 4.701/4.833/6.100/0.133 ms, pipe 2, ipg/ewma 5.006/4.811 ms
"""


def test_probes_that_leave_as_answers_come_are_not_a_second_apart():
    argv = ("ping", "-f", "-c", "1000", "10.9.2.2")
    output = Output("client", "measure", "north", argv, FLOOD.encode(), b"", 0)
    assert tools.get("ping").recover(output)["interval"] == 0.005
    alone = dataclasses.replace(output, argv=())
    assert tools.get("ping").recover(alone)["interval"] == 0.005
    untimed = dataclasses.replace(output, stdout=output.stdout.replace(b", time 5001ms", b""))
    assert "interval" not in tools.get("ping").recover(untimed)
