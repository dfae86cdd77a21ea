"""Links and addresses of this network namespace, asked of the kernel by netlink (rtnetlink(7))."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_RTM_NEWLINK, _RTM_GETLINK = 16, 18
_RTM_NEWADDR, _RTM_GETADDR = 20, 22
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_REQUEST_DUMP = 0x301
_HEADER = struct.Struct("=IHHII")
_IFINFO = struct.Struct("=BxHiII")
_IFADDR = struct.Struct("=BBBBi")
_ATTRIBUTE = struct.Struct("=HH")
_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_MTU, _IFLA_MASTER, _IFLA_OPERSTATE, _IFLA_LINKINFO = 1, 3, 4, 10, 16, 18
_IFLA_INFO_KIND = 1
_IFA_ADDRESS, _IFA_LOCAL = 1, 2
_IFF_LOOPBACK = 0x8
_SCOPE_LINK = 253
# RFC 2863's states, as the kernel numbers them.
_STATES = ("unknown", "not present", "down", "lower layer down", "testing", "dormant", "up")


@dataclass(frozen=True)
class Link:
    """One interface; `kind` is the kernel's ("bond", "vlan", "tun", ...), "" for hardware."""

    index: int
    name: str
    kind: str
    mac: str
    state: str
    mtu: int
    master: int


def links() -> list[Link]:
    """Return all interfaces."""
    interfaces = []
    for body in _dump(_RTM_GETLINK, _RTM_NEWLINK):
        _family, _type, index, flags, _change = _IFINFO.unpack_from(body)
        values = dict(_attributes(body[_IFINFO.size :]))
        info = dict(_attributes(values.get(_IFLA_LINKINFO, b"")))
        kind = "loopback" if flags & _IFF_LOOPBACK else _text(info.get(_IFLA_INFO_KIND, b""))
        mac = values.get(_IFLA_ADDRESS, b"").hex(":")
        state = values.get(_IFLA_OPERSTATE, b"\0")[0]
        interfaces.append(
            Link(
                index=index,
                name=_text(values.get(_IFLA_IFNAME, b"")),
                kind=kind,
                mac=mac,
                state=_STATES[state] if state < len(_STATES) else "unknown",
                mtu=_number(values.get(_IFLA_MTU, b"")),
                master=_number(values.get(_IFLA_MASTER, b"")),
            )
        )
    return interfaces


def addresses(*, with_link_local: bool = False) -> list[tuple[int, str]]:
    """Return (interface index, "address/prefix length") of all addresses, of IPv6's link-local ones if asked to."""
    pairs = []
    for body in _dump(_RTM_GETADDR, _RTM_NEWADDR):
        family, length, _flags, scope, index = _IFADDR.unpack_from(body)
        values = dict(_attributes(body[_IFADDR.size :]))
        # On a point-to-point link ADDRESS is the peer's, LOCAL is ours.
        raw = values.get(_IFA_LOCAL) or values.get(_IFA_ADDRESS)
        if raw and family in (socket.AF_INET, socket.AF_INET6) and (with_link_local or scope != _SCOPE_LINK):
            pairs.append((index, f"{socket.inet_ntop(family, raw)}/{length}"))
    return pairs


def _dump(request: int, wanted: int) -> Iterator[bytes]:
    """Yield the bodies of all messages of a dump; OSError if the kernel refuses."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as sock:
        sock.settimeout(2.0)
        body = b"\0" * _IFINFO.size
        sock.send(_HEADER.pack(_HEADER.size + len(body), request, _REQUEST_DUMP, 1, 0) + body)
        while True:
            data = sock.recv(1 << 20)
            while len(data) >= _HEADER.size:
                length, kind, _flags, _sequence, _pid = _HEADER.unpack_from(data)
                if kind == _NLMSG_DONE:
                    return
                if kind == _NLMSG_ERROR or length < _HEADER.size:
                    raise OSError("netlink refused the request")
                if kind == wanted:
                    yield data[_HEADER.size : length]
                data = data[_aligned(length) :]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(data)
        if length < _ATTRIBUTE.size:
            return
        # The two top bits are flags.
        yield kind & 0x3FFF, data[_ATTRIBUTE.size : length]
        data = data[_aligned(length) :]


def _aligned(length: int) -> int:
    return (length + 3) & ~3


def _text(raw: bytes) -> str:
    return raw.split(b"\0")[0].decode("utf-8", "replace")


def _number(raw: bytes) -> int:
    return struct.unpack("=I", raw)[0] if len(raw) == 4 else 0
