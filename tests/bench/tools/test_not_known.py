"""What an output does not tell is not taken from it: other tests, both ways at once, senders' own counts."""

import pytest

from apps.bench import recognition, tools
from apps.bench.network import rfc6349
from apps.bench.recognition.outputs import Finding
from apps.bench.toolkit import Reading, SampleValue
from tests.bench.tools import recordings

INVALID = "Performance measurements are invalid in this mode."
IPERF2_UDP = (
    "20261123154624,127.0.0.1,58429,127.0.0.1,5902,1,0.0-1.0,1312710,10501680,0.000,0,893,0.000,0\n"
    "20261123154625,127.0.0.1,58429,127.0.0.1,5902,1,1.0-2.0,1308300,10466400,0.000,0,890,0.000,0\n"
    "20261123154625,127.0.0.1,58429,127.0.0.1,5902,1,0.0-2.0,2623950,10477584,0.000,0,-1,-0.000,0\n"
)
IPERF2_SERVERS_ROW = (
    "20261123154625,127.0.0.1,5902,127.0.0.1,58429,1,0.0-2.0,2600000,10400000,0.010,10,1785,0.560,0\n"
)
IPERF2_ONE_AFTER_THE_OTHER = (
    "19700101000000,127.0.0.1,40698,127.0.0.1,5901,1,0.0-2.0,193069116,759903711\n"
    "19700101000000,127.0.0.1,54420,127.0.0.1,6004,2,0.0-2.0,228196352,894474179\n"
)
IPERF2_TWO_STREAMS = (
    "19700101000000,127.0.0.1,40698,127.0.0.1,5901,1,0.0-2.0,193069116,759903711\n"
    "19700101000000,127.0.0.1,54420,127.0.0.1,5901,2,0.0-2.0,228196352,894474179\n"
)
IPERF2_BOTH_WAYS = """\
------------------------------------------------------------
Server listening on TCP port 6001
TCP window size:  128 KByte (default)
------------------------------------------------------------
Client connecting to 127.0.0.1, TCP port 5901
TCP window size: 4.00 MByte (default)
------------------------------------------------------------
[  1] local 127.0.0.1 port 38420 connected with 127.0.0.1 port 5901 (icwnd/mss/irtt=319/32741/60)
[  2] local 127.0.0.1 port 6001 connected with 127.0.0.1 port 45040
[ ID] Interval       Transfer     Bandwidth
[  1] 0.0000-2.0655 sec   265 MBytes  1.07 Gbits/sec
[  2] 0.0000-2.0472 sec   187 MBytes   765 Mbits/sec
"""
IPERF2_REVERSE = """\
------------------------------------------------------------
Server listening on TCP port 5905
TCP window size:  128 KByte (default)
------------------------------------------------------------
[  1] local 127.0.0.1 port 5905 connected with 127.0.0.1 port 40542 (reverse) (icwnd/mss/irtt=320/32768/21)
[ ID] Interval       Transfer     Bandwidth
[  1] 0.0000-2.0154 sec   481 MBytes  2.00 Gbits/sec
"""
IPERF2_CLIENT = """\
------------------------------------------------------------
Client connecting to 127.0.0.1, TCP port 5901
TCP window size: 2.50 MByte (default)
------------------------------------------------------------
[{stream}] local 127.0.0.1 port 38420 connected with 127.0.0.1 port 5901 {way}(icwnd/mss/irtt=319/32741/60)
[ ID] Interval       Transfer     Bandwidth
[{stream}] 0.0000-{end} sec   {amount}
"""
NETPERF = """\
{banner} TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 127.0.0.1 () port 0 AF_INET : demo{burst}
Local /Remote
Socket Size   Request  Resp.   Elapsed  {head}
Send   Recv   Size     Size    Time     {unit}
bytes  Bytes  bytes    bytes   secs.    {per}

16384  131072 100      1000    1.00     2970.21
16384  131072
"""
TRANSACTIONS = {"head": "Trans.", "unit": "Rate", "per": "per sec"}
RR = "MIGRATED TCP REQUEST/RESPONSE"


def read(text: str) -> Finding:
    (finding,) = recognition.read_file(text.encode())
    return finding


def figures(text: str) -> dict[str, float]:
    finding = read(text)
    assert finding.reading is not None, finding.failure
    return {sample.metric: sample.value for sample in finding.reading.samples}


def flags(text: str) -> set[str]:
    finding = read(text)
    assert finding.reading is not None, finding.failure
    return {flag.name for flag in finding.reading.flags}


def refusal(text: str) -> str:
    finding = read(text)
    assert finding.failure is not None
    return str(finding.failure)


def test_a_senders_own_count_of_datagrams_is_not_what_arrived() -> None:
    assert "nothing came back" in refusal(IPERF2_UDP)
    arrived = figures(IPERF2_UDP + IPERF2_SERVERS_ROW)
    assert arrived["loss"] == pytest.approx(10 / 1785)
    assert arrived["goodput"] == pytest.approx(10_400_000)
    assert arrived["sent_rate"] == pytest.approx(10_477_584)


@pytest.mark.parametrize("text", [IPERF2_ONE_AFTER_THE_OTHER, IPERF2_BOTH_WAYS], ids=["in-turn", "at-once"])
def test_two_ways_are_not_added_up(text: str) -> None:
    assert "holds 2 results" in refusal(text)


def test_two_streams_of_one_test_are() -> None:
    assert figures(IPERF2_TWO_STREAMS)["sent_rate"] == pytest.approx(1_654_378_000, rel=0.01)


def test_a_server_that_sends_does_not_know_what_arrived() -> None:
    assert figures(IPERF2_REVERSE) == {"sent_rate": 2e9}
    assert flags(IPERF2_REVERSE) == {"receiver-unseen"}


def test_a_client_that_receives_does() -> None:
    text = IPERF2_CLIENT.format(stream=" *1", way="(reverse) ", end="2.0154", amount="481 MBytes  2.00 Gbits/sec")
    assert figures(text) == {"goodput": 2e9}
    assert flags(text) == set()


def test_a_rate_that_is_too_small_for_its_unit_is_not_zero() -> None:
    text = IPERF2_CLIENT.format(stream="  1", way="", end="2.0154", amount="0.000 TBytes  0.000 Tbits/sec")
    assert "cannot be read" in refusal(text)


def test_nobody_judges_by_a_time_that_nobody_told() -> None:
    text = IPERF2_CLIENT.format(stream="  1", way="", end="0.6000", amount="71.5 MBytes  1.00 Gbits/sec")
    assert figures(text) == {"sent_rate": 1e9}


@pytest.mark.parametrize("banner", ["TCP Connect/Close", "MIGRATED TCP Connect/Request/Response", "UDP STREAM"])
def test_other_tests_of_netperf_are_not_requests_and_responses(banner: str) -> None:
    assert banner.removeprefix("MIGRATED ") in refusal(NETPERF.format(banner=banner, burst="", **TRANSACTIONS))


def test_bits_are_not_transactions() -> None:
    text = NETPERF.format(banner=RR, burst=" : first burst 0", head="", unit="Throughput", per="10^3bits/sec")
    assert "cannot be read" in refusal(text)
    named = text.partition("\n")[0] + "\nTHROUGHPUT=1.74\nTHROUGHPUT_UNITS=KBytes/s\n"
    assert "cannot be read" in refusal(named)


def test_the_rate_of_several_at_once_tells_no_time() -> None:
    several = NETPERF.format(banner=RR, burst=" : first burst 8", **TRANSACTIONS)
    assert figures(several) == {"transaction_rate": 2970.21}
    assert flags(several) == {"burst"}
    single = NETPERF.format(banner=RR, burst=" : first burst 0", **TRANSACTIONS)
    assert figures(single)["rtt_mean"] == pytest.approx(1 / 2970.21)
    reading = read(single).reading
    assert reading is not None
    assert (reading.requested["request"], reading.requested["response"]) == (100, 1000)


SOCKPERF = """\
sockperf: == version #3.7-no.git ==
sockperf[CLIENT] send on:
[ 0] IP = 127.0.0.1       PORT =  5951 # UDP
sockperf: Total of 509 messages sent in 1.021 sec
{size}
sockperf: Summary: Message Rate is 499 [msg/sec]
sockperf: Summary: BandWidth is {bandwidth}
"""
SIZE = "sockperf: NOTE: test was performed, using msg-size=1400. For getting maximum throughput consider using more"
QPERF = "udp_lat:\n    latency   =  20 ms\n    msg_size  =  {size}\n    time      =   1 sec\n"
NUTTCP = """\
nuttcp-t: v6.1.2: socket
nuttcp-t: buflen=65536, nstream=3, port=5101 tcp -> 127.0.0.1
nuttcp-t: 11.2490 MB in 1.00 real seconds = 11519.0 KB/sec = 94.3618 Mbps
nuttcp-r: v6.1.2: socket
nuttcp-r: buflen=65536, nstream=3, port=5101 tcp
nuttcp-r: 11.2490 MB in 1.11 real seconds = 10377.5 KB/sec = 85.0408 Mbps
"""


@pytest.mark.parametrize(
    "bandwidth", ["0.666236877 GBps (5.329895020 Gbps)", "0.005 GBps (0.005 Gbps)", "0.666 MBps (5.330 Mbps)"]
)
def test_sockperfs_unit_is_the_one_that_its_messages_bear_out(bandwidth: str) -> None:
    assert figures(SOCKPERF.format(size=SIZE, bandwidth=bandwidth))["sent_rate"] == pytest.approx(5.59e6, rel=0.1)


def test_without_the_size_of_its_messages_the_rate_is_not_known() -> None:
    text = SOCKPERF.format(size="", bandwidth="0.666 MBps (5.330 Mbps)")
    assert figures(text) == {"message_rate": 499}


def test_a_rate_that_its_messages_contradict_is_refused() -> None:
    assert "contradicts" in refusal(SOCKPERF.format(size=SIZE, bandwidth="9.666 MBps (77.33 Mbps)"))


@pytest.mark.parametrize(("size", "bytes_"), [("512 bytes", 512), ("64 KiB (65,536)", 65536)])
def test_a_size_that_is_told_is_no_assumed_one(size: str, bytes_: int) -> None:
    reading = read(QPERF.format(size=size)).reading
    assert reading is not None
    assert reading.requested["message_size"] == bytes_


def test_connections_that_are_told_are_no_assumed_ones() -> None:
    reading = read(NUTTCP).reading
    assert reading is not None
    assert (reading.requested["streams"], reading.requested["data_port"]) == (3, 5101)


def test_rates_that_the_program_calls_invalid_are() -> None:
    output = recordings.load("iozone", "auto_small.txt").stdout.decode()
    assert "verified" not in flags(output)
    assert "verified" in flags(output.replace("\tOutput is in", f"\t{INVALID}\n\tOutput is in", 1))


def test_the_efficiency_is_of_what_was_sent_in_the_time_that_it_took() -> None:
    tool = tools.get("iperf3-tcp")
    samples = tuple(SampleValue(*pair) for pair in (("goodput", 8e6), ("sent_rate", 8e6), ("retransmits", 1)))
    reading = Reading(samples=samples, observed={"mss": 1000, "seconds": 0.1})
    # 100,000 bytes, of which one segment went twice; not the million that 1 s would have sent.
    judged = rfc6349.judge(reading, {"duration": 1.0, "streams": 1}, tool)
    assert judged.value("tcp_efficiency") == pytest.approx(0.99)
