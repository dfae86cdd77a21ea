"""What the agent finds out about its node."""

import os
import shutil
import socket
import struct
from pathlib import Path

import pytest

from apps.agents.facts import checked_facts
from workers.agent import config, identity
from workers.agent.facts import Collector, interfaces, machine, netlink, programs
from workers.agent.sandbox import Confinement


def test_facts_of_this_machine_are_what_the_server_accepts() -> None:
    own, user = config.Config("http://x", "t"), identity.find_identity("nobody")
    collector, allowed = Collector(user, Confinement.find(own, user, Path("/nowhere"))), own.allowed()
    # Labs beside this test mount file systems.
    pairs = [(collector.collect(allowed, ["mtu"]), collector.collect(allowed, ["mtu"]))]
    while pairs[-1][0] != pairs[-1][1] and len(pairs) < 5:
        pairs.append((collector.collect(allowed, ["mtu"]), collector.collect(allowed, ["mtu"])))
    found, again = pairs[-1]
    assert found["settings"] == ["mtu"]
    assert checked_facts(found) == found
    assert found == again, "what changes by itself is no fact"
    assert found["cpu"]["threads"] == os.cpu_count()
    assert found["memory"]["ram_bytes"] > 2**26
    assert "net.ipv4.tcp_rmem" in found["sysctls"]
    assert found["congestion_controls"]["current"] in found["congestion_controls"]["available"]
    loopback = next(item for item in found["interfaces"] if item["name"] == "lo")
    assert "127.0.0.1/8" in loopback["addresses"]
    assert (loopback["kind"], loopback["mtu"]) == ("loopback", 65536)
    for tool in found["tools"].values():
        assert tool["path"].startswith("/")
    assert "iperf 3" in found["tools"].get("iperf3", {"version": "iperf 3"})["version"]


def test_a_tool_is_asked_again_when_its_file_has_changed(tmp_path: Path) -> None:
    tool = tmp_path / "tool"

    def write(version: str) -> None:
        tool.write_text(f"#!/bin/sh\necho about\necho version {version}\n")
        tool.chmod(0o755)

    tmp_path.chmod(0o755)
    versions = programs.Versions(identity.Identity("me"))
    write("1")
    found = versions.collect({"iperf3": str(tool), "none": None})
    assert found == {"iperf3": {"path": str(tool), "version": "version 1"}}
    write("22")
    assert versions.collect({"iperf3": str(tool)})["iperf3"]["version"] == "version 22"
    assert versions.collect({"iperf3": str(tmp_path / "gone")})["iperf3"]["version"] == ""
    assert programs.ask("ping", "/nowhere/x", identity.Identity("me")) == ""


def test_a_program_that_is_not_known_to_say_its_version_is_not_started_for_it(tmp_path: Path) -> None:
    tool, trace = tmp_path / "launch-missiles", tmp_path / "trace"
    tool.write_text(f"#!/bin/sh\necho started with $* > {trace}\n")
    tool.chmod(0o755)
    versions = programs.Versions(identity.Identity("me"))
    assert versions.collect({"launch-missiles": str(tool)})["launch-missiles"]["version"] == ""
    assert not trace.exists()


def test_mounts_leave_out_what_holds_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "proc /proc proc rw 0 0\ntmpfs /run tmpfs rw 0 0\n"
        "gpfs0 /gpfs/with\\040blank gpfs rw,relatime 0 0\nserver:/home /home nfs4 rw 0 0\nbroken\n"
    )
    monkeypatch.setattr(machine, "_read", lambda _path: text)
    assert [(mount["target"], mount["type"]) for mount in machine.mounts()] == [
        ("/gpfs/with blank", "gpfs"),
        ("/home", "nfs4"),
    ]


def test_a_machine_that_tells_nothing_has_facts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_read", lambda _path: "")
    monkeypatch.setattr(machine, "_children", lambda _path: [])
    monkeypatch.setattr(netlink, "links", refuse)
    found = {"cpu": machine.cpu(), "memory": machine.memory(), "os": machine.operating_system()}
    found |= {"interfaces": interfaces.collect(), "sysctls": machine.sysctls(), "mounts": machine.mounts()}
    assert checked_facts(found) == found
    assert found["os"]["name"] == "Linux"
    assert found["interfaces"] == []


def refuse() -> None:
    raise OSError("not permitted")


def test_bonds_are_told_with_their_members(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\n\nSlave Interface: eth1\nSlave Interface: eth0\n"
    monkeypatch.setattr(Path, "read_text", lambda *_args, **_words: text)
    assert interfaces._bond("bond0") == {
        "mode": "IEEE 802.3ad Dynamic link aggregation",
        "members": ["eth0", "eth1"],
    }


def test_the_speed_of_an_interface_is_read_from_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(low: int, high: int, duplex: int) -> bytes:
        buffer = bytearray(44)
        struct.pack_into("HB", buffer, 12, low, duplex)
        struct.pack_into("H", buffer, 28, high)
        return bytes(buffer)

    cases = {
        answer(10_000, 0, 1): (10**10, "full"),
        answer(100_000 & 0xFFFF, 100_000 >> 16, 1): (10**11, "full"),
        answer(0xFFFF, 0xFFFF, 255): (None, ""),
        answer(100, 0, 0): (10**8, "half"),
    }
    for text, expected in cases.items():
        monkeypatch.setattr(interfaces, "_ethtool", lambda *_args, text=text: text)
        assert interfaces._speed(None, "eth0") == expected


def test_a_kernel_that_refuses_is_an_error_not_an_empty_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def __enter__(self) -> "Refusing":
            return self

        def __exit__(self, *_error: object) -> None:
            pass

        def settimeout(self, _seconds: float) -> None:
            pass

        def send(self, _data: bytes) -> None:
            pass

        def recv(self, _size: int) -> bytes:
            return struct.pack("=IHHIIi", 20, 2, 0, 1, 0, -1)

    monkeypatch.setattr(socket, "socket", lambda *_args: Refusing())
    with pytest.raises(OSError, match="refused"):
        netlink.links()


@pytest.mark.parametrize(
    ("name", "said"),
    [("nuttcp", "nuttcp-"), ("netperf", "Netperf version "), ("netserver", "Netperf version "), ("pchar", "pchar 1"),
     ("irtt", "irtt version"), ("iperf3", "iperf 3")],
)  # fmt: skip
def test_each_program_is_asked_for_its_version_in_its_own_way(name: str, said: str) -> None:
    path = shutil.which(name, path="/usr/bin:/usr/sbin:/bin:/sbin")
    if path is None:
        pytest.skip(f"needed here: {name}")
    if name == "pchar" and os.geteuid():
        pytest.skip("pchar says nothing to an ordinary user")
    assert programs.ask(name, path, identity.Identity("me")).startswith(said)
