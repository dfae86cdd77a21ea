"""netperf's OMNI test is of any protocol and burst: what neither its report nor its command tells is not known."""

import pytest

from apps.bench import tools
from apps.bench.toolkit import Output
from tests.bench.tools.test_not_known import figures, refusal

BANNER = "OMNI {way} TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 127.0.0.1 () port 0 AF_INET : demo\n"
STREAM = "THROUGHPUT=502.43\nTHROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=1.00\n"
TRANSACTIONS = "THROUGHPUT=22347.88\nTHROUGHPUT_UNITS=Trans/s\nELAPSED_TIME=1.00\n"
TOOL = tools.get("netperf")


def output(text: str, command: str) -> Output:
    return Output("client", "measure", "north", tuple(command.split()), text.encode(), b"", 0)


def reading_of(text: str, command: str):
    report = output(text, command)
    params = TOOL.clean(TOOL.recover(report))
    return params, TOOL.parse([report], params)


@pytest.mark.parametrize("way", ["Send", "Receive", "Send|Recv"])
def test_a_report_that_names_no_protocol_is_of_none(way: str) -> None:
    text = BANNER.format(way=way) + (TRANSACTIONS if "|" in way else STREAM)
    assert "which protocol" in refusal(text)


@pytest.mark.parametrize(("way", "test"), [("Send", "TCP_STREAM"), ("Receive", "TCP_MAERTS")])
def test_the_report_or_its_command_tells(way: str, test: str) -> None:
    text = BANNER.format(way=way) + STREAM
    assert figures(text.replace("THROUGHPUT=", "PROTOCOL=TCP\nTHROUGHPUT=", 1)) == {"goodput": 502.43e6}
    params, reading = reading_of(text, f"netperf -t omni -- -d {way} -T tcp")
    assert params["test"] == test
    assert [(sample.metric, sample.value) for sample in reading.samples] == [("goodput", 502.43e6)]
    # Before "--" it says on which processors the programs run.
    assert reading_of(text, f"netperf -T 0,1 -t omni -- -d {way}")[0]["test"] == test


@pytest.mark.parametrize("command", ["netperf -t omni -- -T udp", "netperf -t omni -- -d send -T UDP -k THROUGHPUT"])
def test_datagrams_are_no_stream_of_tcp(command: str) -> None:
    report = output(BANNER.format(way="Send") + STREAM, command)
    assert TOOL.recover(report).get("test") not in ("TCP_STREAM", "TCP_MAERTS")


@pytest.mark.parametrize(
    ("extra", "command", "is_timed"),
    [
        ("PROTOCOL=TCP\n", "", False),
        ("PROTOCOL=TCP\nBURST_SIZE=8\n", "", False),
        ("PROTOCOL=TCP\nBURST_SIZE=0\n", "", True),
        ("", "netperf -t omni -- -d rr", True),
        ("", "netperf -t omni -- -d rr -b 8", False),
        # Before "--" it is how many requests come between two pauses.
        ("", "netperf -b 8 -t omni -- -d rr", True),
    ],
)
def test_a_rate_tells_the_time_of_one_after_the_other_alone(extra: str, command: str, is_timed: bool) -> None:
    text = BANNER.format(way="Send|Recv") + extra + TRANSACTIONS
    if command:
        samples = {sample.metric for sample in reading_of(text, command)[1].samples}
        assert ("rtt_mean" in samples) == is_timed
    else:
        assert ("rtt_mean" in figures(text)) == is_timed
