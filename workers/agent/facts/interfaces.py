"""Network interfaces: name, kind, MTU, addresses (by netlink), speed, driver (by ethtool's ioctl), bonds."""

from __future__ import annotations

import array
import fcntl
import re
import socket
import struct
from pathlib import Path
from typing import Any

from . import netlink

_SIOCETHTOOL = 0x8946
_ETHTOOL_GSET = 0x00000001
_ETHTOOL_GDRVINFO = 0x00000003
_UNKNOWN_SPEEDS = (0, 0xFFFF, 0xFFFFFFFF)
_MBIT = 1_000_000


def collect() -> list[dict[str, Any]]:
    """Return every interface of this network namespace, by name; MTU in bytes, speed in bit/s."""
    try:
        links, addresses = netlink.links(), netlink.addresses()
    except OSError:
        return []
    names = {link.index: link.name for link in links}
    interfaces = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for link in sorted(links, key=lambda link: link.name):
            speed, duplex = _speed(sock, link.name)
            interfaces.append(
                {
                    "name": link.name,
                    "kind": link.kind,
                    "mac": link.mac,
                    "state": link.state,
                    "mtu": link.mtu,
                    "speed_bps": speed,
                    "duplex": duplex,
                    "driver": _driver(sock, link.name),
                    "master": names.get(link.master, ""),
                    "bond": _bond(link.name),
                    "addresses": sorted(text for index, text in addresses if index == link.index),
                }
            )
    return interfaces


def _speed(sock: socket.socket, name: str) -> tuple[int | None, str]:
    """Return speed (bit/s) and duplex as the driver says them (struct ethtool_cmd of linux/ethtool.h)."""
    answer = _ethtool(sock, name, struct.pack("I40x", _ETHTOOL_GSET))
    if answer is None:
        return None, ""
    speed_low, duplex = struct.unpack_from("HB", answer, 12)
    speed_high = struct.unpack_from("H", answer, 28)[0]
    speed = speed_high << 16 | speed_low
    if speed in _UNKNOWN_SPEEDS:
        return None, ""
    return speed * _MBIT, {0: "half", 1: "full"}.get(duplex, "")


def _driver(sock: socket.socket, name: str) -> str:
    """Return the driver's name (struct ethtool_drvinfo)."""
    answer = _ethtool(sock, name, struct.pack("I192x", _ETHTOOL_GDRVINFO))
    return "" if answer is None else answer[4:36].split(b"\0")[0].decode("ascii", "replace")


def _ethtool(sock: socket.socket, name: str, request: bytes) -> bytes | None:
    buffer = array.array("B", request)
    try:
        fcntl.ioctl(sock, _SIOCETHTOOL, struct.pack("16sP16x", name.encode()[:15], buffer.buffer_info()[0]))
    except OSError:
        return None
    return buffer.tobytes()


def _bond(name: str) -> dict[str, Any] | None:
    """Return mode and members of a bond, from the kernel's own words."""
    try:
        text = Path(f"/proc/net/bonding/{name}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    mode = re.search(r"^Bonding Mode: (.+)$", text, re.MULTILINE)
    members = re.findall(r"^Slave Interface: (\S+)", text, re.MULTILINE)
    return {"mode": mode.group(1) if mode else "", "members": sorted(members)}
