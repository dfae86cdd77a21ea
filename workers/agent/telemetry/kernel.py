"""The kernel's counters at one moment: processors, memory, interfaces, TCP, UDP and disks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .. import steady

SECTOR = 512
KIB = 1024
TICK_MS = 1000 // os.sysconf("SC_CLK_TCK")
CPU = ("user", "system", "softirq", "iowait", "steal", "idle")
NIC = {"rx_bytes": 0, "rx_packets": 1, "rx_errors": 2, "rx_drops": 3} | {
    "tx_bytes": 8,
    "tx_packets": 9,
    "tx_errors": 10,
    "tx_drops": 11,
}
# Names of ours and the kernel's, of /proc/net/snmp and /proc/net/netstat.
TCP = {"segments_out": ("Tcp", "OutSegs"), "retransmits": ("Tcp", "RetransSegs")} | {
    "timeouts": ("TcpExt", "TCPTimeouts"),
    "spurious": ("TcpExt", "TCPDSACKRecv"),
    "pruned": ("TcpExt", "PruneCalled"),
    "receive_drops": ("TcpExt", "TCPBacklogDrop"),
}
UDP = {"in_datagrams": "InDatagrams", "out_datagrams": "OutDatagrams"} | {
    "in_errors": "InErrors",
    "receive_buffer_errors": "RcvbufErrors",
    "send_buffer_errors": "SndbufErrors",
}
# Sectors read and written, and milliseconds in which something was under way (iostats.rst of the kernel).
DISK = {"read": 2, "written": 6, "busy": 9}
# What the programs of a job asked for, whatever carries it (proc_pid_io(5)): names of ours and the kernel's.
OWN = {"read": b"rchar:", "written": b"wchar:"}
# Devices without a medium of their own, or in memory.
NO_DISKS = ("ram", "zram", "fd", "sr")


@dataclass(frozen=True)
class Snapshot:
    """One reading at `at` (s since the epoch); counters since boot, in ms, bytes and pieces.

    `cores` holds (busy, all) ticks of each processor, `memory` bytes; `nics` and `disks` are by name.
    """

    at: float
    cpu: Mapping[str, int]
    cores: tuple[tuple[int, int], ...]
    memory: Mapping[str, int]
    tcp: Mapping[str, int]
    udp: Mapping[str, int]
    nics: Mapping[str, Mapping[str, int]]
    disks: Mapping[str, Mapping[str, int]]


def read() -> Snapshot:
    """Return the counters of now; what cannot be read is left out."""
    at = steady.now()
    cpu, cores = _cpu()
    tcp, udp = _protocols()
    return Snapshot(at, cpu, cores, _memory(), tcp, udp, dict(_nics()), dict(_disks()))


def own_of(pids: Iterable[int]) -> dict[str, int]:
    """Return the bytes that processes and their ended children read and wrote in system calls; {} if hidden."""
    total: dict[str, int] = {}
    for pid in pids:
        counters = dict(line.split() for line in _lines(f"/proc/{pid}/io"))
        for name, key in OWN.items():
            if key in counters:
                total[name] = total.get(name, 0) + int(counters[key])
    return total


def _cpu() -> tuple[dict[str, int], tuple[tuple[int, int], ...]]:
    total: dict[str, int] = {}
    cores = []
    for line in _lines("/proc/stat"):
        if not line.startswith(b"cpu"):
            break
        name, *words = line.split()
        # Time of guests is in the user's already (proc(5)).
        user, nice, system, idle, iowait, irq, softirq, steal, *_guests = (*map(int, words), *[0] * 8)
        if name == b"cpu":
            values = (user + nice, system, irq + softirq, iowait, steal, idle)
            total = {key: value * TICK_MS for key, value in zip(CPU, values)}  # noqa: B905 - Python 3.9 knows no strict
        else:
            busy = user + nice + system + irq + softirq + steal
            cores.append((busy, busy + idle + iowait))
    return total, tuple(cores)


def _memory() -> dict[str, int]:
    wanted = {b"MemTotal:": "total", b"MemAvailable:": "available", b"Cached:": "cached", b"Dirty:": "dirty"}
    sizes = {}
    for line in _lines("/proc/meminfo"):
        words = line.split()
        if words and words[0] in wanted:
            sizes[wanted[words[0]]] = int(words[1]) * KIB
            if len(sizes) == len(wanted):
                break
    return sizes


def _protocols() -> tuple[dict[str, int], dict[str, int]]:
    values = {**_table("/proc/net/snmp", (b"Tcp:", b"Udp:")), **_table("/proc/net/netstat", (b"TcpExt:",))}
    tcp = {name: values[key] for name, key in TCP.items() if key in values}
    udp = {name: values["Udp", key] for name, key in UDP.items() if ("Udp", key) in values}
    # The two IP versions count datagrams apart, but segments together.
    for line in _lines("/proc/net/snmp6"):
        if line.startswith(b"Udp6"):
            key, value = line.split()
            for name, wanted in UDP.items():
                if key[4:] == wanted.encode():
                    udp[name] = udp.get(name, 0) + int(value)
    return tcp, udp


def _table(path: str, groups: tuple[bytes, ...]) -> dict[tuple[str, str], int]:
    """Return {(group, name): value} of a file that has a line of names before each line of values."""
    values: dict[tuple[str, str], int] = {}
    names: list[bytes] = []
    for line in _lines(path):
        group, *words = line.split()
        if group not in groups:
            continue
        if names:
            kind = group[:-1].decode()
            values.update({(kind, name.decode()): int(word) for name, word in zip(names, words)})  # noqa: B905
            names = []
        else:
            names = words
    return values


def _nics() -> Iterator[tuple[str, dict[str, int]]]:
    for line in _lines("/proc/net/dev"):
        name, colon, rest = line.partition(b":")
        if colon:
            words = rest.split()
            yield name.strip().decode("utf-8", "replace"), {key: int(words[place]) for key, place in NIC.items()}


def _disks() -> Iterator[tuple[str, dict[str, int]]]:
    """Yield whole disks only: what a partition moves, its disk moves."""
    for line in _lines("/proc/diskstats"):
        _major, _minor, raw, *words = line.split()
        name = raw.decode("utf-8", "replace")
        # One that was never used since boot is not in the way now.
        if words[0] == b"0" == words[4] or name.startswith(NO_DISKS) or not Path("/sys/block", name).is_dir():
            continue
        values = {key: int(words[place]) for key, place in DISK.items()}
        yield name, {**values, "read": values["read"] * SECTOR, "written": values["written"] * SECTOR}


def _lines(path: str) -> list[bytes]:
    try:
        with Path(path).open("rb", buffering=0) as file:
            parts = []
            while part := file.read(65536):
                parts.append(part)
    except OSError:
        return []
    return b"".join(parts).splitlines()
