"""Serve the ASGI application on sockets that the supervisor has opened: python -m launch.web FD [FD...].

The sockets stay open while the server is started again, so that a client waits for a moment and is not refused.
"""

import resource
import socket
import sys

import uvicorn

from launch.heads import HeadsInTime


def main(descriptors: list[str]) -> None:
    """Serve until SIGTERM."""
    allow_connections()
    sockets = [socket.socket(fileno=int(descriptor)) for descriptor in descriptors]
    config = uvicorn.Config(
        "apps.config.web:application",
        http=HeadsInTime,
        # uvicorn believes whoever comes over loopback, where nothing need stand before it: the application knows.
        proxy_headers=False,
        # Agents keep polls open: without a limit a stop would wait for each of them.
        timeout_graceful_shutdown=3,
        lifespan="off",
        access_log=False,
        log_level="warning",
    )
    uvicorn.Server(config).run(sockets=sockets)


def allow_connections() -> None:
    """Take all the descriptors that this process may have: each agent's poll holds one, 1024 is a common default."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    main(sys.argv[1:])
