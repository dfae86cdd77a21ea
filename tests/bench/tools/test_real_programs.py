"""The planned commands, carried out by the real programs on two addresses of this machine, and read back."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, Output, ToolFailure
from tests.ports import free_port

PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
ENVIRONMENT = {"LC_ALL": "C", "PATH": PATH}
NODES = {"server": [NodeRef("south", "127.0.1.2")], "client": [NodeRef("north", "127.0.1.1")]}


def needs(program):
    return pytest.mark.skipif(
        shutil.which(program, path=PATH) is None, reason=f"{program} is not installed on this machine"
    )


def has_ipv6():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False


def start(command):
    return subprocess.Popen(
        command.argv, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def wait_until_ready(process, pattern, lines):
    for line in process.stdout:
        lines.append(line)
        if re.search(pattern.encode(), line):
            return True
    return False


def carry_out(plan, nodes=NODES, disturb=None, time_limit_s=None):
    """Carry out a plan as the executor and the agents do, and return the outputs in the order of the stages.

    `disturb` gets the server's process while the client runs; `time_limit_s` cuts the measuring commands.
    """
    outputs, background = [], []
    try:
        for stage in plan.stages:
            for command in stage.commands:
                process = start(command)
                if command.background:
                    lines = []
                    background.append((stage, command, process, lines))
                    if command.ready_pattern and not wait_until_ready(process, command.ready_pattern, lines):
                        return [finish(*background.pop())]
                    continue
                if disturb:
                    threading.Timer(0.7, disturb, [background[0][2]]).start()
                outputs.append(finish(stage, command, process, [], time_limit_s or command.time_limit_s))
    finally:
        for stage, command, process, lines in background:
            process.terminate()
            outputs.insert(0, finish(stage, command, process, lines))
    return outputs


def finish(stage, command, process, lines, time_limit_s=5):
    began = time.time()
    timed_out = False
    try:
        stdout, stderr = process.communicate(timeout=time_limit_s)
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(process.pid, signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=5)
    code = process.returncode
    return Output(
        role=command.role,
        stage=stage.name,
        node=NODES[command.role][command.node_index].name,
        argv=command.argv,
        stdout=b"".join(lines) + stdout,
        stderr=stderr,
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        timed_out=timed_out,
        started_at=began,
        ended_at=time.time(),
    )


def measure(slug, nodes=NODES, disturb=None, time_limit_s=None, **params):
    tool = tools.get(slug)
    cleaned = tool.clean(params)
    return tool.parse(carry_out(tool.plan(cleaned, nodes), nodes, disturb, time_limit_s), cleaned)


def measure_iperf3(slug="iperf3-tcp", **params):
    return measure(slug, **{"duration": 1, "omit": 0, "port": free_port(), **params})


@needs("iperf3")
def test_iperf3_moves_data_over_tcp():
    # Reno, for every kernel has it and allows it to everybody.
    reading = measure_iperf3(window="64 KiB", streams=2, interval="0.5 s", congestion="reno")
    assert reading.value("goodput") > 1e8
    assert reading.value("window_granted") == 131072
    assert reading.value("window_observed") > 0
    assert reading.value("mean_rtt") > 0
    assert 0.4 < reading.value("fairness") <= 1
    assert reading.granted["congestion_sender"] == "reno"
    series = {(item.metric, item.stream): item for item in reading.series}
    assert len(series["sent_rate", "sum"].values) == 2
    assert ("sent_rate", "2") in series


@needs("iperf3")
def test_iperf3_omits_the_start():
    reading = measure_iperf3(omit=1)
    total = next(item for item in reading.series if (item.metric, item.stream) == ("sent_rate", "sum"))
    assert total.times == pytest.approx((0, 1), abs=0.1)


@needs("iperf3")
@pytest.mark.parametrize(
    ("direction", "metrics"), [("reverse", {"goodput"}), ("both", {"goodput", "goodput_reverse"})]
)
@pytest.mark.parametrize("slug", ["iperf3-tcp", "iperf3-udp"])
def test_iperf3_measures_in_each_direction(slug, direction, metrics):
    reading = measure_iperf3(slug, direction=direction)
    for metric in metrics:
        assert reading.value(metric) > 5e7


@needs("iperf3")
def test_iperf3_offers_a_load_over_udp():
    reading = measure_iperf3("iperf3-udp", rate="20M", streams=2, length=1000)
    assert reading.value("offered_load") == pytest.approx(20e6, rel=0.05)
    assert reading.value("goodput") == pytest.approx(20e6, rel=0.1)
    assert 0 <= reading.value("loss") < 0.1
    assert reading.value("jitter") >= 0


@needs("iperf3")
@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback address")
def test_iperf3_works_over_ipv6():
    nodes = {"server": [NodeRef("south", "::1")], "client": [NodeRef("north", "::1")]}
    assert measure("iperf3-tcp", nodes, duration=1, omit=0, port=free_port()).value("goodput") > 1e8


@needs("iperf3")
def test_iperf3_without_a_server_is_refused():
    tool = tools.get("iperf3-tcp")
    params = tool.clean({"duration": 1, "port": free_port()})
    plan = tool.plan(params, NODES)
    with pytest.raises(ToolFailure) as caught:
        tool.parse(carry_out(type(plan)(plan.stages[1:])), params)
    assert caught.value.code == "refused"


@needs("iperf3")
def test_iperf3_says_that_the_port_is_in_use():
    with socket.create_server(("127.0.1.2", 0)) as holder, pytest.raises(ToolFailure) as caught:
        measure_iperf3(port=holder.getsockname()[1])
    assert caught.value.code == "port-busy"
    assert "south" in str(caught.value.message)


@needs("iperf3")
def test_iperf3_says_that_an_address_is_not_the_nodes_own():
    nodes = {"server": [NodeRef("south", "203.0.113.9")], "client": NODES["client"]}
    with pytest.raises(ToolFailure) as caught:
        measure("iperf3-tcp", nodes, duration=1)
    assert caught.value.code == "bad-host"


@needs("iperf3")
def test_iperf3_says_that_a_congestion_control_is_missing():
    with pytest.raises(ToolFailure) as caught:
        measure_iperf3(congestion="nosuchcc")
    assert caught.value.code == "congestion-control-unavailable"
    assert "nosuchcc" in str(caught.value.message)


@needs("iperf3")
@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_a_server_that_dies_leaves_a_failure_and_no_result(end):
    with pytest.raises(ToolFailure) as caught:
        measure_iperf3(duration=3, disturb=lambda server: getattr(server, end)())
    assert caught.value.code == "stopped"
    assert caught.value.retryable


@needs("iperf3")
def test_a_client_over_its_time_leaves_a_failure_and_no_result():
    with pytest.raises(ToolFailure) as caught:
        measure_iperf3(duration=5, time_limit_s=1.5)
    assert caught.value.code == "timed-out"


@needs("ping")
def test_ping_times_the_way_to_the_other_address():
    reading = measure("ping", count=5, interval="200 ms")
    assert 0 < reading.value("rtt_min") < 0.05
    assert reading.value("loss") == 0
    assert len(reading.series[0].values) == 5


@needs("tracepath")
def test_tracepath_finds_one_hop():
    reading = measure("tracepath")
    assert reading.value("hops") == 1
    assert reading.value("path_mtu") >= 1500


@needs("traceroute")
@pytest.mark.parametrize("discover_mtu", [False, True])
def test_traceroute_finds_one_hop(discover_mtu):
    reading = measure("traceroute", discover_mtu=discover_mtu, queries=1, max_hops=3)
    assert reading.value("hops") == 1
    assert 0 < reading.value("rtt_min") < 0.05


@pytest.mark.parametrize(
    "slug", [pytest.param(slug, marks=needs(slug)) for slug in ("ping", "tracepath", "traceroute")]
)
def test_a_name_that_does_not_resolve_is_told(slug):
    nodes = {"server": [NodeRef("south", "no-such-host.invalid")], "client": NODES["client"]}
    with pytest.raises(ToolFailure) as caught:
        measure(slug, nodes)
    assert caught.value.code == "bad-host"
