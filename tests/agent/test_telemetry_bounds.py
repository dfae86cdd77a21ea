"""What is read around a job stays small, however long it runs and however many sockets there are."""

import base64
import itertools
import json
import os
import socket
import struct
import subprocess
import time
import zlib
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from workers.agent.facts import netlink
from workers.agent.telemetry import interfaces, kernel, sampler, sockets
from workers.agent.telemetry.interfaces import interface_of


@pytest.mark.parametrize("count", [1, 10, 11, 25, 1000, 12345])
def test_a_long_time_is_thinned_evenly(count: int) -> None:
    thinned = sampler.Thinned(10)
    for number in range(count):
        thinned.add(number)
    kept = thinned.kept
    assert kept[0] == 0
    assert len(kept) <= 10
    assert count <= 10 or len(kept) >= 5
    steps = {later - earlier for earlier, later in itertools.pairwise(kept)}
    assert len(steps) <= 1
    assert count - kept[-1] <= (steps.pop() if steps else 1)


def test_a_day_of_readings_is_sent_in_a_few_kilobytes() -> None:
    recording = sampler.Recording(kernel.read(), lambda _recording: None)
    recording.begin(os.getpid(), time.time())
    snapshot = kernel.read()
    for _second in range(86_400):
        recording.add(snapshot, ("x" * 1000, 0), {"read": 1, "written": 2})
    packed = recording.end("127.0.0.1", time.time())
    assert len(packed) < 20_000
    data = json.loads(zlib.decompress(base64.b64decode(packed)))
    assert len(data["times"]) <= sampler.MOST_SNAPSHOTS + 2
    assert len(data["sockets"]) <= sampler.MOST_LISTINGS


def test_it_lists_the_sockets_of_a_process_and_of_no_other() -> None:
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        address = server.getsockname()
        stack.enter_context(socket.create_connection(address))
        other = stack.enter_context(subprocess.Popen(["sleep", "30"]))
        found = sockets.Lister().list([os.getpid(), other.pid])
        other.kill()
    assert set(found) == {os.getpid()}
    text, left_out = found[os.getpid()]
    assert f"127.0.0.1:{address[1]}" in text
    assert left_out == 0


def test_it_counts_the_sockets_that_are_too_many() -> None:
    entries = [(str(number).encode(), b"ESTAB" + b"x" * 1000) for number in range(100)]
    text, left_out = sockets._those_of(entries, {str(number).encode() for number in range(90)})
    assert len(text) <= sockets.MOST_TEXT
    assert text.count("ESTAB") + left_out == 90
    assert left_out > 0


@pytest.mark.parametrize(("takes_s", "size"), [(0.25, 0), (0.0, 3 * 2**20)])
def test_a_listing_that_costs_much_is_not_repeated_at_once(
    monkeypatch: pytest.MonkeyPatch, takes_s: float, size: int
) -> None:
    def slow(*_args: object, **_options: object) -> object:
        time.sleep(takes_s)
        return type("Answer", (), {"stdout": b"x" * size})

    calls = []
    monkeypatch.setattr(sockets, "_inodes_of", lambda pid: {b"1"})
    monkeypatch.setattr(sockets.subprocess, "run", lambda *args, **options: (calls.append(1), slow())[1])
    lister = sockets.Lister()
    lister._program = "/bin/ss"
    for _time in range(3):
        lister.list([1])
    assert len(calls) == 1
    assert lister._not_before - time.monotonic() > 1


def test_of_the_addresses_asked_for_the_latest_are_kept() -> None:
    for number in range(3 * interfaces.MOST):
        assert interface_of(f"192.0.2.1%eth{number}") == ""
    assert len(interfaces._known) == interfaces.MOST
    assert f"192.0.2.1%eth{3 * interfaces.MOST - 1}" in interfaces._known


def test_an_interface_is_known_by_its_address() -> None:
    assert interface_of("127.0.0.1") == "lo"
    assert interface_of("localhost") == "lo"
    assert interface_of("127.0.0.1%lo") == "lo"
    assert interface_of("127.0.0.1%eth7") == ""
    assert interface_of("fe80::1%lo") == ""
    assert interface_of("192.0.2.77") == ""
    assert interface_of("no such name") == ""
    assert interface_of("") == ""


def test_an_interface_named_with_an_address_must_hold_it(monkeypatch: pytest.MonkeyPatch) -> None:
    links = [
        SimpleNamespace(index=1, name="data", mtu=1500),
        SimpleNamespace(index=2, name="mgmt", mtu=1500),
    ]
    monkeypatch.setattr(netlink, "links", lambda: links)
    messages = [
        struct.pack("=BBBBi", socket.AF_INET6, 64, 0, scope, index)
        + struct.pack("=HH", 20, 1)
        + socket.inet_pton(socket.AF_INET6, text)
        for index, scope, text in ((1, 253, "fe80::a"), (2, 253, "fe80::b"), (2, 0, "2001:db8::b"))
    ]
    monkeypatch.setattr(netlink, "_dump", lambda *_args: iter(messages))
    monkeypatch.setattr("workers.agent.telemetry.interfaces._known", {})
    names = ["fe80::a%data", "fe80::a%mgmt", "fe80::b%mgmt", "fe80::a", "2001:db8::b%data", "2001:db8::b"]
    assert [interface_of(address) for address in names] == ["data", "", "mgmt", "", "", "mgmt"]


def test_counters_of_the_kernel_grow() -> None:
    before = kernel.read()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _datagram in range(10):
            sock.sendto(bytes(1000), ("127.0.0.1", 9))
    after = kernel.read()
    assert after.nics["lo"]["tx_bytes"] - before.nics["lo"]["tx_bytes"] >= 10_000
    assert after.udp["out_datagrams"] - before.udp["out_datagrams"] >= 10
    assert sum(after.cpu.values()) >= sum(before.cpu.values())
    assert len(after.cores) == os.cpu_count()
    assert 0 < after.memory["available"] <= after.memory["total"]


def test_what_a_process_and_its_children_move_is_their_own() -> None:
    before = kernel.own_of([os.getpid()])
    with Path("/dev/null").open("wb", buffering=0) as sink:
        sink.write(bytes(1_000_000))
    subprocess.run(["head", "-c", "2000000", "/dev/zero"], stdout=subprocess.DEVNULL, check=True)
    after = kernel.own_of([os.getpid()])
    assert after["written"] - before["written"] >= 3_000_000
    assert after["read"] - before["read"] >= 2_000_000
    assert kernel.own_of([2**22 - 1]) == {}


def test_what_a_process_moved_is_sent_as_last_seen() -> None:
    recording = sampler.Recording(kernel.read(), lambda _recording: None)
    recording.begin(os.getpid(), time.time())
    for moved in ({"written": 5}, {"written": 9, "read": 1}, {}):
        recording.add(kernel.read(), None, moved)
    data = json.loads(zlib.decompress(base64.b64decode(recording.end("127.0.0.1", time.time()))))
    # Nothing before the first look; a process that is gone has moved what it was last seen to have moved.
    assert data["own"] == {"written": [0, 5, 9, 9, 9], "read": [0, 0, 1, 1, 1]}
    assert len(data["own"]["written"]) == len(data["times"])


def test_what_cannot_be_read_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_lines", lambda path: [])
    empty = kernel.read()
    assert (empty.cpu, empty.cores, empty.memory, empty.nics, empty.disks) == ({}, (), {}, {}, {})
