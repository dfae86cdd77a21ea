"""The planned commands of the further network tools, carried out by the real programs on this machine."""

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, ToolFailure
from tests.bench.tools.test_real_programs import NODES, carry_out, has_ipv6, measure, needs
from tests.ports import free_port

root = pytest.mark.skipif(os.geteuid() != 0, reason="this program needs the right of root")
LOOPBACK = {"server": [NodeRef("south", "127.0.0.1")], "client": [NodeRef("north", "127.0.0.1")]}
IPV6 = {"server": [NodeRef("south", "::1")], "client": [NodeRef("north", "::1")]}


def run(slug, nodes=NODES, **params):
    try:
        return measure(slug, nodes, port=free_port(), duration=1, **params)
    except ToolFailure as failure:
        # Others look for free ports, too: between the look and the server one may have taken it.
        if failure.code != "port-busy":
            raise
        return measure(slug, nodes, port=free_port(), duration=1, **params)


def figures(reading):
    return {sample.metric for sample in reading.samples}


@needs("iperf")
def test_iperf2_moves_data_over_tcp():
    # On a busy machine a client's stream may end long after what it sent has arrived: its rate is lower for that.
    for _ in range(3):
        reading = run("iperf2", window="64 KiB", streams=2)
        if agree := reading.value("goodput") == pytest.approx(reading.value("sent_rate"), rel=0.2):
            break
    assert agree
    assert reading.value("goodput") > 1e8
    assert reading.value("window_granted") == 131072
    assert {"retransmits", "cwnd_max", "mean_rtt", "fairness"} <= figures(reading)
    assert reading.tool_version.startswith("2.")
    assert reading.flags == ()


@needs("iperf")
@pytest.mark.parametrize("length", [1448, 8000])
def test_iperf2_offers_a_load_over_udp(length):
    reading = run("iperf2", protocol="udp", rate="20M", streams=2, length=length)
    assert reading.value("sent_rate") == pytest.approx(20e6, rel=0.1)
    assert reading.value("goodput") == pytest.approx(20e6, rel=0.2)
    assert 0 <= reading.value("loss") < 0.2


@needs("nuttcp")
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_nuttcp_moves_data_over_tcp(direction):
    reading = run("nuttcp", window="64 KiB", direction=direction, data_port=free_port())
    assert reading.value("goodput") > 1e8
    assert reading.value("window_granted") == 131072
    assert reading.tool_version


@needs("nuttcp")
def test_nuttcp_offers_a_load_over_udp():
    reading = run("nuttcp", protocol="udp", rate="20M", data_port=free_port())
    assert reading.value("goodput") == pytest.approx(20e6, rel=0.2)
    assert 0 <= reading.value("loss") < 0.2


@needs("netperf")
@needs("netserver")
@pytest.mark.parametrize("test", ["TCP_RR", "UDP_RR"])
def test_netperf_times_transactions(test):
    reading = run("netperf", test=test, request=100, response=1000)
    assert 0 < reading.value("rtt_min") <= reading.value("rtt_p50") <= reading.value("rtt_p99") < 1
    assert reading.value("transaction_rate") == pytest.approx(1 / reading.value("rtt_mean"), rel=0.02)


@needs("netperf")
@needs("netserver")
@pytest.mark.parametrize("test", ["TCP_STREAM", "TCP_MAERTS"])
def test_netperf_moves_a_stream(test):
    reading = run("netperf", test=test, window="64 KiB")
    assert reading.value("goodput") > 1e8
    assert reading.value("window_granted") == 131072


@needs("qperf")
def test_qperf_measures_rate_and_latency():
    reading = run("qperf")
    assert reading.value("goodput") > 1e8
    assert 0 < reading.value("latency") < 0.1


@needs("qperf")
def test_qperf_over_udp_needs_the_servers_main_address():
    reading = run("qperf", LOOPBACK, protocol="udp", message_size=1400)
    assert reading.value("goodput") > 1e6
    assert 0 < reading.value("latency") < 0.1
    assert 0 <= reading.value("loss") < 1
    with pytest.raises(ToolFailure) as caught:
        run("qperf", protocol="udp", measure="latency")
    assert caught.value.code == "no-reply"


@needs("sockperf")
@pytest.mark.parametrize("protocol", ["udp", "tcp"])
@pytest.mark.parametrize("mode", ["ping-pong", "under-load"])
def test_sockperf_times_messages(mode, protocol):
    reading = run("sockperf", mode=mode, protocol=protocol, message_rate=1000)
    assert 0 < reading.value("latency_min") <= reading.value("latency_p50") <= reading.value("latency_max")
    assert reading.value("latency_p99") < 1


@needs("sockperf")
def test_sockperf_sends_at_a_rate():
    reading = run("sockperf", mode="throughput", message_rate=1000, message_size=1000)
    assert reading.value("sent_rate") == pytest.approx(8e6, rel=0.2)


@needs("irtt")
def test_irtt_tells_the_delay_of_each_direction():
    reading = run("irtt", interval="20 ms")
    assert 0 < reading.value("rtt_min") < 0.1
    assert reading.value("send_delay_min") + reading.value("receive_delay_min") <= reading.value("rtt_max")
    # A busy machine may let one of them out.
    sent = reading.observed["packets_sent"]
    assert 45 <= sent <= 50
    assert reading.value("loss") == pytest.approx(1 - len(reading.series[0].values) / sent, abs=0.001)


@needs("mtr")
@pytest.mark.parametrize("method", ["icmp", pytest.param("udp", marks=root), pytest.param("tcp", marks=root)])
def test_mtr_finds_one_hop(method):
    reading = measure("mtr", count=1, method=method)
    assert reading.value("hops") == 1
    assert 0 < reading.value("rtt_mean") < 0.1
    assert reading.observed["hops"][0]["addresses"] == ["127.0.1.2"]


@root
@needs("pchar")
def test_pchar_finds_one_hop():
    reading = measure("pchar", repetitions=2, gap=0.01)
    assert reading.value("hops") == 1
    assert 0 < reading.value("rtt_min") < 0.1
    # A loopback is too fast for it: whatever rate it sees is doubted.
    assert {flag.name for flag in reading.flags} & {"capacity-unknown", "capacity-uncertain"}


@root
@needs("bing")
def test_bing_is_stopped_and_leaves_its_rounds():
    # On a busy machine it may print nothing before it is stopped.
    for _ in range(3):
        try:
            reading = measure("bing", duration=10)
            break
        except ToolFailure as failure:
            assert failure.code == "no-result"
    assert reading.value("hops") >= 1
    assert reading.observed["hosts"][-1] == "127.0.1.2"


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback address")
@pytest.mark.parametrize(
    ("slug", "metric"),
    [
        pytest.param("iperf2", "goodput", marks=needs("iperf")),
        pytest.param("nuttcp", "goodput", marks=needs("nuttcp")),
        pytest.param("netperf", "rtt_mean", marks=[needs("netperf"), needs("netserver")]),
        pytest.param("qperf", "latency", marks=needs("qperf")),
        pytest.param("irtt", "rtt_median", marks=needs("irtt")),
    ],
)
def test_they_work_over_ipv6(slug, metric):
    assert run(slug, IPV6).value(metric) > 0


@pytest.mark.parametrize(
    "slug",
    [
        pytest.param("iperf2", marks=needs("iperf")),
        pytest.param("nuttcp", marks=needs("nuttcp")),
        pytest.param("netperf", marks=[needs("netperf"), needs("netserver")]),
        pytest.param("qperf", marks=needs("qperf")),
        pytest.param("irtt", marks=needs("irtt")),
    ],
)
def test_without_a_server_they_are_refused(slug):
    tool = tools.get(slug)
    params = tool.clean({"duration": 1, "port": free_port()})
    plan = tool.plan(params, NODES)
    with pytest.raises(ToolFailure) as caught:
        tool.parse(carry_out(type(plan)(plan.stages[1:])), params)
    assert caught.value.code == "refused"


@needs("sockperf")
@pytest.mark.parametrize(("protocol", "code"), [("tcp", "refused"), ("udp", "no-reply")])
def test_sockperf_without_a_server_is_no_result_though_it_exits_with_0(protocol, code):
    tool = tools.get("sockperf")
    params = tool.clean({"duration": 1, "port": free_port(), "protocol": protocol})
    plan = tool.plan(params, NODES)
    with pytest.raises(ToolFailure) as caught:
        tool.parse(carry_out(type(plan)(plan.stages[1:])), params)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("slug", "code"),
    [
        pytest.param("iperf2", "port-busy", marks=needs("iperf")),
        pytest.param("qperf", "port-busy", marks=needs("qperf")),
        pytest.param("netperf", "no-result", marks=[needs("netperf"), needs("netserver")]),
    ],
)
def test_a_port_that_is_in_use_is_told(slug, code):
    # A wildcard socket stands in the way of servers that bind to one address and of those that bind to all.
    with socket.create_server(("", 0)) as holder, pytest.raises(ToolFailure) as caught:
        measure(slug, port=holder.getsockname()[1], duration=1)
    assert caught.value.code == code
    assert "south" in str(caught.value.message)


@needs("irtt")
def test_irtt_says_that_the_port_is_in_use():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("127.0.1.2", 0))
        with pytest.raises(ToolFailure) as caught:
            measure("irtt", port=holder.getsockname()[1], duration=1)
    assert caught.value.code == "port-busy"


@needs("mtr")
def test_mtr_says_that_a_name_does_not_resolve():
    nodes = {"server": [NodeRef("south", "no-such-host.invalid")], "client": NODES["client"]}
    with pytest.raises(ToolFailure) as caught:
        measure("mtr", nodes, count=1)
    assert caught.value.code == "bad-host"


@pytest.mark.parametrize(
    "slug",
    [
        pytest.param("nuttcp", marks=needs("nuttcp")),
        pytest.param("netperf", marks=[needs("netperf"), needs("netserver")]),
        pytest.param("qperf", marks=needs("qperf")),
    ],
)
def test_a_server_that_dies_leaves_a_failure_and_no_result(slug):
    port = free_port()

    def kill(server):
        # A client that comes late, on a busy machine, would find nobody.
        deadline = time.monotonic() + 10
        while not is_connected(port) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.7)
        # Some serve each client by a process of its own, which outlives the one that listens.
        os.killpg(server.pid, signal.SIGKILL)

    test = {"test": "TCP_STREAM"} if slug == "netperf" else {}
    for _attempt in range(3):
        with pytest.raises(ToolFailure) as caught:
            measure(slug, disturb=kill, port=port, duration=4, **test)
        # On a full machine it dies before the client has its second connection, which then finds nobody.
        if caught.value.code != "refused":
            break
    assert caught.value.code == "stopped"


def is_connected(port):
    """Say whether a client has a connection to a local port (state 01 of the kernel's tables is ESTABLISHED)."""
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)
