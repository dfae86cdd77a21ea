"""CPU, memory, operating system, TCP settings and mounts, read from /proc, /sys and /etc."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

SYSCTLS = (
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.optmem_max",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.ip_no_pmtu_disc",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_low_latency",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "net.ipv4.udp_mem",
    "vm.dirty_background_ratio",
    "vm.dirty_ratio",
    "vm.swappiness",
)
# File systems without files of their own.
PSEUDO = (
    *("autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs"),
    *("fusectl", "hugetlbfs", "mqueue", "nsfs", "overlay", "proc", "pstore", "ramfs", "rpc_pipefs", "securityfs"),
    *("squashfs", "sysfs", "tmpfs", "tracefs"),
)
_KIB = 1024


def cpu() -> dict[str, Any]:
    """Return model, sockets, cores and hardware threads, the NUMA nodes' count, and the first processor's caches."""
    text = _read("/proc/cpuinfo")
    model = re.search(r"^(?:model name|Model|cpu model|cpu)\s*:\s*(.+)$", text, re.MULTILINE)
    sockets = set(re.findall(r"^physical id\s*:\s*(\d+)", text, re.MULTILINE))
    cores = {
        (_field(block, "physical id"), _field(block, "core id"))
        for block in text.split("\n\n")
        if _field(block, "core id") is not None
    }
    threads = os.cpu_count() or 1
    numa = [path for path in _children("/sys/devices/system/node") if re.fullmatch(r"node\d+", path.name)]
    return {
        "model": " ".join(model.group(1).split()) if model else "",
        "sockets": len(sockets) or 1,
        "cores": len(cores) or threads,
        "threads": threads,
        "numa_nodes": len(numa) or 1,
        "caches": caches(),
    }


def caches(folder: str = "/sys/devices/system/cpu/cpu0/cache") -> dict[str, int]:
    """Return ``{"L1d": bytes, "L1i": …, "L2": …, "L3": …}`` of one processor, empty where the kernel tells none."""
    sizes = {}
    for index in _children(folder):
        level, size = _read(f"{index}/level").strip(), re.fullmatch(r"(\d+)([KMG]?)", _read(f"{index}/size").strip())
        if level.isdigit() and size:
            kind = {"Data": "d", "Instruction": "i"}.get(_read(f"{index}/type").strip(), "")
            sizes[f"L{level}{kind}"] = int(size[1]) * {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}[size[2]]
    return dict(sorted(sizes.items()))


def memory() -> dict[str, int | None]:
    """Return RAM and swap space in bytes."""
    text = _read("/proc/meminfo")
    return {"ram_bytes": _kib(text, "MemTotal"), "swap_bytes": _kib(text, "SwapTotal")}


def operating_system() -> dict[str, str]:
    """Return name and version of the distribution, from os-release(5)."""
    text = _read("/etc/os-release") or _read("/usr/lib/os-release")
    values = dict(re.findall(r'^(\w+)="?(.*?)"?$', text, re.MULTILINE))
    return {
        "name": values.get("PRETTY_NAME") or values.get("NAME") or "Linux",
        "id": values.get("ID", ""),
        "version": values.get("VERSION_ID", ""),
    }


def sysctls() -> dict[str, str]:
    """Return the kernel settings that bear on a measurement, those of this network namespace."""
    values = {name: _read("/proc/sys/" + name.replace(".", "/")) for name in SYSCTLS}
    return {name: " ".join(value.split()) for name, value in values.items() if value}


def congestion_controls() -> dict[str, Any]:
    """Return TCP's congestion control: the one in use, those loaded, and those that any user may choose."""
    folder = "/proc/sys/net/ipv4/"
    return {
        "current": _read(folder + "tcp_congestion_control").strip(),
        "available": sorted(_read(folder + "tcp_available_congestion_control").split()),
        "allowed": sorted(_read(folder + "tcp_allowed_congestion_control").split()),
    }


def mounts() -> list[dict[str, str]]:
    """Return the mounted file systems that hold files, by mount point."""
    by_target = {}
    for line in _read("/proc/self/mounts").splitlines():
        words = line.split(" ")
        if len(words) >= 4 and words[2] not in PSEUDO:
            source, target, kind, options = (_unescape(word) for word in words[:4])
            by_target[target] = {"source": source, "target": target, "type": kind, "options": options}
    return [by_target[target] for target in sorted(by_target)]


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _children(path: str) -> list[Path]:
    try:
        return list(Path(path).iterdir())
    except OSError:
        return []


def _field(block: str, name: str) -> str | None:
    match = re.search(rf"^{name}\s*:\s*(\S+)", block, re.MULTILINE)
    return match.group(1) if match else None


def _kib(text: str, name: str) -> int | None:
    match = re.search(rf"^{name}:\s*(\d+) kB", text, re.MULTILINE)
    return int(match.group(1)) * _KIB if match else None


def _unescape(word: str) -> str:
    r"""Return a field of fstab(5)'s form as it was: a blank stands there as \040."""
    return re.sub(r"\\(\d{3})", lambda match: chr(int(match.group(1), 8)), word)
