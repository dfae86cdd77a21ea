"""Faults of those who ask the service: they send a request, or a part of one, and are gone."""

import contextlib
import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

from tests.faults.site import Site

CLIENTS, AT_ONCE = 300, 30
_UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
)
_ADDRESSES = (
    "GET /api/v1/campaigns/", "GET /api/v1/agents/", "GET /api/v1/trials/", "GET /accounts/login/", "GET /health/",
    "GET /ws/campaigns/1/", "POST /api/v1/imports/", "POST /agent/v1/poll",
)  # fmt: skip


def hang_up(site: Site, draw: Random) -> Iterator[str]:
    """Have hundreds of clients ask for all kinds of things and hang up, at any moment."""
    yield ""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _client in range(CLIENTS):
            pool.submit(_hang_up, site, draw.choice(_ADDRESSES), Random(draw.random()))
            time.sleep(draw.uniform(0, 0.05))


def _hang_up(site: Site, address: str, draw: Random) -> None:
    method = address.partition(" ")[0]
    lines = [
        f"{address} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {site.api.token}",
        _UPGRADE if "/ws/" in address else "Content-Type: application/json",
    ]
    # A body that never comes to its end.
    lines += ["Content-Length: 100000"] if method == "POST" else []
    request = "\r\n".join((*lines, "", "{" if method == "POST" else "")).encode()
    # The web server may be away itself.
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(site.stack.env["PORT"])), 5) as to:
        to.sendall(request[: draw.choice((len(request), len(request), draw.randrange(1, len(request))))])
        time.sleep(draw.choice((0.0, draw.uniform(0, 0.05), draw.uniform(0, 0.5))))
        if draw.random() < 0.5:
            to.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
