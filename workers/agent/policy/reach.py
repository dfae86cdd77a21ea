"""Whom a job may call: addresses and names, in the one form in which everybody reads them alike."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Union

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]  # noqa: UP007 - Python 3.9 reads it
# Each form of a host that is to be called, whole: what stands behind it a program may take for the host.
_TARGET = re.compile(
    r"\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?|(?=[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:)[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]{1,30})?"
    r"|[A-Za-z0-9][A-Za-z0-9._-]*(?::[0-9]{1,5}|,[A-Za-z0-9]{1,8})?"
)
# IPv6 addresses in which gateways, and some kernels, see one of IPv4: compatible, translated (RFC 2765), NAT64
# (RFC 6052, RFC 8215), Teredo and 6to4.
_TRANSLATED = tuple(
    map(
        ipaddress.IPv6Network,
        ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16"),
    )
)
# Where clouds answer by link-local IPv6 what they answer at 169.254.169.254.
_METADATA = tuple(map(ipaddress.ip_address, ("fe80::a9fe:a9fe", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200")))
_THIS_NETWORK = ipaddress.IPv4Network("0.0.0.0/8")


class RefusedDestination(ValueError):
    """An address that the job may not call; the text is the address."""


def resolve(name: str) -> list[str]:
    """Return the addresses that a name has now, none if nobody knows it."""
    try:
        answers = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(answer[4][0]) for answer in answers]


def is_machines_own(address: Address) -> bool:
    """Say whether an address is one of this machine's, by the way that the kernel would take to it."""
    # A link-local one means nothing without an interface: whoever calls it names one, and any may be named.
    is_scoped = address.version == 6 and address.is_link_local
    scopes = [index for index, _name in socket.if_nameindex()] if is_scoped else [0]
    return any(_leads_back(address, scope) for scope in scopes)


def _leads_back(address: Address, scope: int) -> bool:
    family, where = (socket.AF_INET, ()) if address.version == 4 else (socket.AF_INET6, (0, scope))
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            # Nothing is sent: to its own addresses a machine goes from these themselves.
            probe.connect((str(address), 9, *where))
            return ipaddress.ip_address(probe.getsockname()[0].partition("%")[0]) == address
    except OSError:
        return False


@dataclass(frozen=True)
class Reach:
    """Whom a job may call.

    `destinations` are the owner's networks and host names; without any it is `inventory`, the addresses that the
    server told with the job, and this machine itself where the server is on it (`is_local`).
    """

    destinations: tuple[str, ...] = ()
    inventory: frozenset[str] = frozenset()
    is_local: bool = False
    resolve: Callable[[str], list[str]] = resolve
    is_own: Callable[[Address], bool] = is_machines_own

    def check(self, text: str, *, is_called: bool = False) -> None:
        """Raise RefusedDestination unless an address or host name, with a port or without, may be called.

        What `is_called` by a measurement is never an address of this machine's own, unless its owner names it; what
        only stands for a place (a launcher's host, a URL) may be.
        """
        if not _TARGET.fullmatch(text) or not self._allows(host_of(text), is_called=is_called):
            raise RefusedDestination(text)

    def names(self, host: str) -> bool:
        """Say whether the server told a host by that very text, and no owner limits whom jobs may call."""
        return not self.destinations and host in self.inventory

    def _allows(self, host: str, *, is_called: bool) -> bool:
        try:
            address = ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            return self._allows_name(host, is_called=is_called)
        address = getattr(address, "ipv4_mapped", None) or address
        if self.destinations:
            return any(address in network for network in _networks(self.destinations))
        if address.is_loopback:
            return self.is_local
        return _same(address, self.inventory) and self._is_harmless(address, is_called=is_called)

    def _allows_name(self, name: str, *, is_called: bool) -> bool:
        if name in self.destinations:
            return bool(name)
        if self.destinations or not name or _is_number(name):
            return False
        if self.is_local and name == "localhost":
            return True
        if name not in self.inventory:
            return False
        addresses = [*_addresses_in(self.resolve(name))]
        return bool(addresses) and all(
            self.is_local if address.is_loopback else self._is_harmless(address, is_called=is_called)
            for address in addresses
        )

    def _is_harmless(self, address: Address, *, is_called: bool) -> bool:
        """Say whether an address that only the server named is another node's as far as can be told."""
        if address.is_loopback or address.is_unspecified or address.is_multicast or address in _METADATA:
            return False
        if isinstance(address, ipaddress.IPv4Address):
            harmful = address.is_link_local or address.is_reserved or address in _THIS_NETWORK
        else:
            harmful = any(address in network for network in _TRANSLATED)
        if harmful:
            return False
        return self.is_local or not is_called or not self.is_own(address)


def host_of(text: str) -> str:
    """Return the host of "host", "host:port", "[address]:port" or "host,family"."""
    text = text.partition(",")[0]
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


def is_network(text: str) -> bool:
    """Say whether a text is an address or a network such as 10.0.0.0/8."""
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _is_number(name: str) -> bool:
    """Say whether programs would read a name as an IPv4 address in one of its odd spellings (127.1, 0x7f000001)."""
    try:
        socket.inet_aton(name)
    except OSError:
        # What overflows for one resolver another may cut.
        return all(re.fullmatch(r"\d+|0[xX][0-9A-Fa-f]*", part) for part in name.rstrip(".").split("."))
    return True


def _addresses_in(texts: Iterable[str]) -> Iterator[Address]:
    for text in texts:
        address = ipaddress.ip_address(text.partition("%")[0])
        yield getattr(address, "ipv4_mapped", None) or address


def _networks(texts: Sequence[str]) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    return [ipaddress.ip_network(text, strict=False) for text in texts if is_network(text)]


def _same(address: Address, texts: Iterable[str]) -> bool:
    for text in texts:
        try:
            if ipaddress.ip_address(text.partition("%")[0]) == address:
                return True
        except ValueError:
            continue
    return False
