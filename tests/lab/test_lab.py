"""KISTI and Pusan, built for real and measured with the real ping and iperf3."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.lab.labs import KISTI_PUSAN, QUIET, LabAt

pytestmark = QUIET
PUSAN_1 = "10.96.2.11"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabAt]:
    lab = LabAt(tmp_path_factory.mktemp("a lab"))
    try:
        lab.up(KISTI_PUSAN)
        lab.on("pusan-1", "iperf3", "-s", "-D")
        yield lab
    finally:
        assert lab.run("down").returncode == 0
        assert lab.remains() == []


def test_ping_shows_the_round_trip_time_of_the_line(lab: LabAt) -> None:
    summary = lab.on("kisti-1", "ping", "-c", "40", "-i", "0.05", "-q", PUSAN_1).splitlines()[-1]
    fastest_ms = float(summary.split("=")[1].split("/")[0])
    assert fastest_ms == pytest.approx(4.8, rel=0.1)


def test_jumbo_frames_pass_whole_and_nothing_larger_does(lab: LabAt) -> None:
    assert lab.pinged("kisti-1", PUSAN_1, "-M", "do", "-s", "8972")
    assert not lab.pinged("kisti-1", PUSAN_1, "-M", "do", "-s", "8973")


def test_a_small_window_limits_the_rate_and_a_large_one_fills_the_line(lab: LabAt) -> None:
    # A window of 64 KiB that the kernel makes 92 KiB of, every 4.8 ms: 150 Mbit/s (RFC 6349, section 3.3.1).
    # How near the rates come is the benchmark's business: a busy machine lowers both.
    small = lab.rate_mbps("kisti-1", PUSAN_1, "-w", "64K")
    large = lab.rate_mbps("kisti-1", PUSAN_1, "-w", "4M")
    assert 30 <= small <= 182
    assert 2.5 * small <= large <= 995


def test_the_path_goes_through_both_switches(lab: LabAt) -> None:
    hops = lab.on("kisti-1", "tracepath", "-n", PUSAN_1)
    assert "10.96.1.1 " in hops
    assert "10.96.255.2 " in hops
    assert "pmtu 9000 hops 3 back 3" in hops


def test_nodes_of_a_site_reach_each_other_without_the_line(lab: LabAt) -> None:
    summary = lab.on("kisti-1", "ping", "-c", "10", "-i", "0.05", "-q", "10.96.1.12").splitlines()[-1]
    assert float(summary.split("=")[1].split("/")[0]) < 1


def test_a_node_reaches_this_machine_at_the_bridge(lab: LabAt) -> None:
    address = lab.state["management"]["address"]
    with socket.create_server((address, 0)) as server:
        seen: list[str] = []

        def answer() -> None:
            connection, (peer, _) = server.accept()
            seen.append(peer)
            connection.close()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        source = f"import socket; socket.create_connection(({address!r}, {server.getsockname()[1]}), 5)"
        lab.on("pusan-2", sys.executable, "-c", source)
        thread.join(5)
    assert seen == [lab.state["nodes"][3]["management_address"]]


def test_data_never_takes_the_management_network(lab: LabAt) -> None:
    state = lab.state
    other = state["nodes"][2]
    assert "dev data0" in lab.on("kisti-1", "ip", "route", "get", PUSAN_1)
    assert not lab.pinged("kisti-1", other["management_address"], "-I", "mgmt0")
    assert not lab.pinged("kisti-1", PUSAN_1, "-I", "mgmt0")
    # This machine itself has no way to a data address over the bridge.
    route = subprocess.run(["ip", "route", "get", PUSAN_1], capture_output=True, text=True, check=False)
    assert state["management"]["bridge"] not in route.stdout


def test_every_node_has_the_settings_of_the_file(lab: LabAt) -> None:
    for node in ("kisti-1", "pusan-2"):
        values = [
            lab.on(node, "cat", f"/proc/sys/net/ipv4/{key}").split()
            for key in ("tcp_no_metrics_save", "tcp_rmem", "tcp_wmem", "ip_forward")
        ]
        assert values == [["1"], ["4096", "131072", "6291456"], ["4096", "16384", "4194304"], ["0"]]


def test_the_state_holds_the_facts_of_an_inventory(lab: LabAt) -> None:
    state = lab.state
    assert state["lab"] == "kisti-pusan"
    assert state["sites"] == ["KISTI", "Pusan"]
    assert [(node["name"], node["site"], node["data_addresses"]) for node in state["nodes"]] == [
        ("kisti-1", "KISTI", ["10.96.1.11"]),
        ("kisti-2", "KISTI", ["10.96.1.12"]),
        ("pusan-1", "Pusan", ["10.96.2.11"]),
        ("pusan-2", "Pusan", ["10.96.2.12"]),
    ]
    line = lab.line
    assert (line["between"], line["capacity_bps"], line["rtt_s"], line["mtu"]) == (
        ["kisti-switch", "pusan-switch"],
        1e9,
        0.0048,
        9000,
    )
    access = [link for link in state["links"] if link["kind"] == "access"]
    assert access[0]["between"] == ["kisti-1", "kisti-switch"]
    assert {(link["capacity_bps"], link["rtt_s"], link["mtu"]) for link in access} == {(None, 0.0, 9000)}


def test_status_lists_nodes_and_links(lab: LabAt) -> None:
    done = lab.run("status")
    assert done.returncode == 0
    assert "node kisti-1 (KISTI): 10.96.1.11 in fathom-" in done.stdout
    assert f"1 Gbit/s, RTT 4.8 ms, MTU 9000: process {lab.line['pid']}" in done.stdout


def test_a_command_on_a_node_keeps_its_exit_status_and_arguments(lab: LabAt) -> None:
    done = lab.run("exec", "kisti-1", "--", "sh", "-c", 'echo "$1"; exit 7', "-", "--state x")
    assert (done.returncode, done.stdout) == (7, "--state x\n")
