"""Serve the ASGI application: python -m launch.web ADDRESS:PORT or FD [...].

On descriptors of sockets that the supervisor has opened, which stay open while the server is started again, so that
a client waits for a moment and is not refused; or on addresses of its own, under another supervisor.
"""

import resource
import socket
import sys
from typing import Any

import uvicorn
from django.core.exceptions import ImproperlyConfigured

from launch import listeners
from launch.heads import HeadsInTime


def main(places: list[str]) -> None:
    """Serve until SIGTERM; SystemExit where a place is none."""
    allow_connections()
    sockets = [_socket_of(place) for place in places]
    try:
        uvicorn.Server(config_of("apps.config.web:application")).run(sockets=sockets)
    except ImproperlyConfigured as error:
        raise SystemExit(f"fathom: {error}") from None


def config_of(application: Any) -> uvicorn.Config:
    """Return how an application, or the one of a name, is served."""
    return uvicorn.Config(
        application,
        http=HeadsInTime,
        ws=listeners.ListenerProtocol,
        # What is packed small may be large when it is unpacked, and nothing that is sent to viewers is.
        ws_per_message_deflate=False,
        ws_max_size=listeners.MOST_BYTES,
        # uvicorn believes whoever comes over loopback, where nothing need stand before it: the application knows.
        proxy_headers=False,
        # Agents keep polls open: without a limit a stop would wait for each of them.
        timeout_graceful_shutdown=3,
        lifespan="off",
        access_log=False,
        # What it warns of is what somebody sent: a line for each would be written by whoever sends many.
        log_level="error",
    )


def _socket_of(place: str) -> socket.socket:
    if place.isdecimal():
        return socket.socket(fileno=int(place))
    host, _colon, port = place.rpartition(":")
    host = host.strip("[]")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, int(port)), family=family)
    except (ValueError, OSError, OverflowError) as error:
        raise SystemExit(f"fathom: {place}: {error}. Write ADDRESS:PORT, as 127.0.0.1:8000.") from None


def allow_connections() -> None:
    """Take all the descriptors that this process may have: each agent's poll holds one, 1024 is a common default."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    main(sys.argv[1:])
