"""The server process that simulated agents talk to."""

from tests.agents.conftest import server, server_process

__all__ = ["server", "server_process"]
