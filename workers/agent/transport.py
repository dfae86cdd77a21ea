"""Connections to the server: encrypted, to whom they are meant for, and by way of a proxy where there is one."""

from __future__ import annotations

import base64
import hashlib
import http.client
import ipaddress
import socket
import ssl
import urllib.request
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from .answers import Answer

# A connection over which so long (s) nothing is acknowledged has vanished, whatever its answer may still take: its
# server's address has moved, or a firewall on the way has forgotten it.
VANISHED_AFTER_S = 12
_PROBES = 3


class WrongServer(OSError):
    """A server that has not the certificate which this agent was told."""


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine by its name or address, without asking anybody."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def split_address(url: str, *, insecure: bool) -> SplitResult:
    """Return the parts of a server's address; ValueError for none, or plain HTTP that would leave this machine."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url} is no address of a server: it must look like https://fathom.example.org")
    if parts.scheme == "http" and not insecure and not is_loopback(parts.hostname):
        raise ValueError(
            f"{url} is not encrypted: whoever is on the way could take the agent's token, and give it commands. Use "
            "https://, or enrol with --insecure (“insecure”: true in agent.json) where the network is trusted."
        )
    return parts


@dataclass(frozen=True)
class Transport:
    """How a server is reached: its address in parts, certificates to trust (a file), the pin of its own (SHA-256)."""

    parts: SplitResult
    ca_file: str = ""
    pin: str = ""

    def connection(self, timeout_s: float) -> http.client.HTTPConnection:
        """Return a connection that has not been opened yet; timeouts in s."""
        host, port = self.parts.hostname or "", self.parts.port
        if self.parts.scheme == "http":
            plain = http.client.HTTPConnection(host, port, timeout=timeout_s)
            plain.response_class = Answer
            return plain
        proxy = proxy_for(host)
        to_host, to_port = (proxy.hostname or "", proxy.port or 3128) if proxy else (host, port)
        connection = _Pinned(to_host, to_port, timeout=timeout_s, context=self._context())
        connection.pin = self.pin.lower()
        if proxy:
            connection.set_tunnel(host, port or http.client.HTTPS_PORT, _authorisation(proxy))
        return connection

    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.ca_file or None)
        if self.pin and not self.ca_file:
            # The certificate itself is known, whoever signed it and whatever name it bears.
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


class _Pinned(http.client.HTTPSConnection):
    """A connection that is only used if the server has the certificate of the `pin`, "" for any that was verified."""

    pin = ""
    response_class = Answer

    def connect(self) -> None:
        """Open it; WrongServer before anything is sent to another."""
        super().connect()
        if not self.pin:
            return
        certificate = self.sock.getpeercert(binary_form=True) or b""
        if hashlib.sha256(certificate).hexdigest() != self.pin:
            self.close()
            raise WrongServer("the server's certificate is not the one of this agent's pin")


def watch(sock: socket.socket) -> None:
    """Have the kernel end a connection that has vanished (ETIMEDOUT), and ask meanwhile whether it has."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    every_s = VANISHED_AFTER_S // _PROBES
    for name, value in (
        *(("TCP_KEEPIDLE", every_s), ("TCP_KEEPINTVL", every_s), ("TCP_KEEPCNT", _PROBES)),
        ("TCP_USER_TIMEOUT", 1000 * VANISHED_AFTER_S),
    ):
        # Not every platform has all of them.
        if (option := getattr(socket, name, None)) is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


def proxy_for(host: str) -> SplitResult | None:
    """Return the proxy of https_proxy, unless no_proxy names the host; ValueError for one that is no address."""
    proxies = urllib.request.getproxies()
    address = proxies.get("https") or proxies.get("all")
    if not address or urllib.request.proxy_bypass(host):
        return None
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(f"https_proxy is {address}: it must look like http://proxy.example.org:3128")
    return parts


def _authorisation(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    words = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": "Basic " + base64.b64encode(words.encode()).decode()}
