"""Find a free port and open the listening sockets of the web server."""

import errno
import socket
from collections.abc import Sequence

DEFAULT = 8000
# How many ports above the default one are tried.
TRIED = 50


class PortError(RuntimeError):
    """An address at which nobody can listen; the text says what to do."""


def parse(text: str) -> int | None:
    """Read PORT: None if empty; PortError if it is no port."""
    if not text.strip():
        return None
    if not text.strip().isdecimal() or not 0 < int(text) < 65536:
        raise PortError(f"PORT={text} is no port: give a number from 1 to 65535, such as PORT=8080.")
    return int(text)


def open_sockets(hosts: Sequence[str], port: int | None) -> list[socket.socket]:
    """Return one listening socket for each host, all at `port`, or (None) at the first port free on all of them.

    A host that another one covers (0.0.0.0 all of IPv4, :: all of IPv6) gets no socket of its own. PortError if the
    port is taken or forbidden, or a host is no address of this machine.
    """
    hosts = _uncovered(hosts)
    for candidate in [port] if port else range(DEFAULT, DEFAULT + TRIED):
        sockets: list[socket.socket] = []
        try:
            for host in hosts:
                sockets.append(_listen(host, candidate))
            return sockets
        except OSError as error:
            for opened in sockets:
                opened.close()
            if port or error.errno != errno.EADDRINUSE:
                raise PortError(_advice(error, hosts, candidate)) from error
    raise PortError(f"The ports {DEFAULT} to {DEFAULT + TRIED - 1} are all taken: choose one with PORT=.")


def _uncovered(hosts: Sequence[str]) -> list[str]:
    def is_covered(host: str) -> bool:
        every = "::" if ":" in host else "0.0.0.0"  # noqa: S104
        return host != every and every in hosts

    return [host for host in hosts if not is_covered(host)]


def is_here(host: str) -> bool:
    """Say whether a host is an address of this machine."""
    try:
        _listen(host, 0).close()
    except OSError:
        return False
    return True


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    return listener


def _advice(error: OSError, hosts: Sequence[str], port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} is taken by another program: stop that, or choose another with PORT=."
        case errno.EACCES:
            return f"Port {port} is open to root only: choose one above 1023 with PORT=."
        case _:
            return f"Cannot listen at {', '.join(hosts)} port {port}: {error.strerror or error}. See BIND."
