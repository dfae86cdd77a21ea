import os
import shutil
import signal
import subprocess
import sys
import time
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from lab import machine


@pytest.fixture
def able(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make this machine look as if a lab were possible; return the folder that its files are in."""
    status = tmp_path / "status"
    status.write_text("Name:\tx\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n")
    tun = tmp_path / "tun"
    tun.touch()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(machine, "_STATUS", status)
    monkeypatch.setattr(machine, "_TUN", tun)
    monkeypatch.setattr(shutil, "which", lambda name: f"/sbin/{name}")
    return tmp_path


def test_a_lab_is_possible_where_nothing_is_missing(able: Path) -> None:
    assert machine.possible() is None


def test_a_lab_needs_linux(able: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in (machine.possible() or "")


def test_a_lab_needs_root(able: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "needs root" in (machine.possible() or "")


def test_a_lab_needs_capabilities_that_a_containers_root_lacks(able: Path) -> None:
    (able / "status").write_text("CapEff:\t00000000a80425fb\n")
    assert "CAP_NET_ADMIN and CAP_SYS_ADMIN" in (machine.possible() or "")


def test_a_lab_needs_the_ip_command(able: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "install the package iproute2" in (machine.possible() or "")


def test_a_lab_needs_tun(able: Path) -> None:
    (able / "tun").unlink()
    reason = machine.possible() or ""
    assert "cannot be opened: No such file or directory" in reason
    assert "modprobe tun" in reason


def test_what_iproute2_refuses_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    program = tmp_path / "ip"
    program.write_text("#!/bin/sh\necho 'Operation not permitted' >&2\nexit 2\n")
    program.chmod(0o755)
    with pytest.raises(machine.LabError, match="ip -n here link add x was refused: Operation not permitted"):
        machine.ip("link", "add", "x", netns="here")
    with pytest.raises(machine.LabError, match=r"net\.ipv4\.x = 1 was refused in here: Operation not permitted"):
        machine.set_sysctl("here", "net.ipv4.x", "1")


def test_networks_of_addresses_and_routes_are_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        "address": '[{"addr_info": [{"local": "10.97.3.4", "prefixlen": 16}]}, {}]',
        "route": '[{"dst": "default"}, {"dst": "0.0.0.0/1"}, {"dst": "10.8.0.0/24"}, {"dst": "192.0.2.1"}]',
    }
    monkeypatch.setattr(machine, "ip", lambda *arguments: answers[arguments[2]])
    assert machine.networks_in_use() == list(map(IPv4Network, ["10.97.0.0/16", "10.8.0.0/24", "192.0.2.1/32"]))


def stubborn(mark: str, *, ignoring: bool) -> subprocess.Popen[bytes]:
    """Start a process that carries a mark on its command line, and wait until it has set its signals."""
    source = "import signal, sys, time\n" + ("signal.signal(15, signal.SIG_IGN)\n" if ignoring else "")
    source += "print('ready', flush=True)\ntime.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", source, mark], stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.parametrize(("ignoring", "ended_by"), [(False, signal.SIGTERM), (True, signal.SIGKILL)])
def test_a_process_is_asked_to_end_and_killed_if_it_does_not(
    monkeypatch: pytest.MonkeyPatch, ignoring: bool, ended_by: signal.Signals
) -> None:
    monkeypatch.setattr(machine, "_GRACE_S", 0.3)
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    process = stubborn(mark, ignoring=ignoring)
    bystander = stubborn("bystander", ignoring=False)
    try:
        assert machine.end_processes(lambda pid: mark in machine.command_of(pid)) == 1
        assert process.wait(5) == -ended_by
        assert bystander.poll() is None
    finally:
        for each in (process, bystander):
            each.kill()
            each.communicate()


def test_nothing_is_ended_where_nothing_matches() -> None:
    assert machine.end_processes(lambda pid: False) == 0


def test_a_process_that_is_gone_has_no_command() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert machine.command_of(process.pid) == []


def test_only_processes_in_a_namespace_live_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_NETNS", Path("/proc/self/ns"))
    lives_there = machine.processes_within(["net"])
    assert lives_there(os.getpid())
    assert not lives_there(2**30)
    assert not machine.processes_within(["uts"])(os.getpid())
