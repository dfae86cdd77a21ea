"""Which interface holds an address."""

from __future__ import annotations

import ipaddress
import socket
import time

from ..facts import netlink

# What holds an address is asked anew after this time (s), and so many of the latest are known.
TRUST_S, MOST = 60.0, 100
_known: dict[str, tuple[str, float]] = {}


def interface_of(address: str) -> str:
    """Return the interface of this network namespace that holds an address (or a name's address); "" if none does.

    Of an address with an interface behind it (fe80::1%eth0) it is that one, if that holds it.
    """
    name, asked_at = _known.get(address, ("", 0.0))
    now = time.monotonic()
    if not name or now > asked_at + TRUST_S:
        name = _find(address) if address else ""
        # Those that another thread asks for meanwhile may make it one more or less.
        for oldest in list(_known)[: max(0, len(_known) - MOST + 1)]:
            _known.pop(oldest, None)
        _known[address] = (name, now)
    return name


def _find(address: str) -> str:
    address, _percent, scope = address.partition("%")
    wanted = _addresses(address)
    try:
        names = {link.index: link.name for link in netlink.links()}
        held = [
            (index, ipaddress.ip_interface(text).ip) for index, text in netlink.addresses(with_link_local=bool(scope))
        ]
    except (OSError, ValueError):
        return ""
    holders = [names.get(index, "") for index, ip in held if ip in wanted]
    return next((name for name in holders if scope in ("", name)), "")


def _addresses(name: str) -> set[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    try:
        return {ipaddress.ip_address(name)}
    except ValueError:
        pass
    try:
        entries = socket.getaddrinfo(name, None)
        return {ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries}
    except (OSError, UnicodeError, ValueError):
        return set()
