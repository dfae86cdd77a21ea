"""All facts of the node as one JSON object; only what changes rarely, for every change is kept for ever."""

from __future__ import annotations

import platform
import socket
from typing import Any

from .. import VERSION
from ..identity import Identity
from ..sandbox import Confinement
from . import interfaces, machine, programs, topology


class Collector:
    """Gathers the facts; remembers the tools' versions, for asking starts processes."""

    def __init__(self, identity: Identity, confinement: Confinement) -> None:
        self._identity, self._confinement = identity, confinement
        self._versions = programs.Versions(identity)

    def collect(self, allowed: dict[str, str | None], settings: list[str]) -> dict[str, Any]:
        """Return the facts; `allowed` is the allow-list {program: path or None}, `settings` what jobs may set."""
        return {
            "agent": {"version": VERSION, "python": platform.python_version(), "job_user": self._identity.name},
            "hostname": socket.gethostname(),
            "os": machine.operating_system(),
            "kernel": {"release": platform.release(), "version": platform.version(), "machine": platform.machine()},
            "cpu": machine.cpu(),
            "topology": topology.collect(),
            "memory": machine.memory(),
            "interfaces": interfaces.collect(),
            "sysctls": machine.sysctls(),
            "congestion_controls": machine.congestion_controls(),
            "mounts": machine.mounts(),
            "settings": sorted(settings),
            "confinement": self._confinement.as_facts(),
            "tools": self._versions.collect(allowed),
        }
