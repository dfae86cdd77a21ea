"""Agents on this machine that start and stop with the service: each has a folder below `var/agents`."""

import ipaddress
import json
import sys
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from apps.core.whole_files import write_whole
from launch.process import Process

# Stops after the worker and before the web server: an agent reports its last jobs while it is stopped.
TIER = 30
PROGRAM = "fathom-agent.pyz"
_FILE = "start.json"
_NAMESPACES = ("--net", "--mount", "--uts")
_CONFIG = "agent.json"


def fetch_program(base: str, folder: Path) -> Path:
    """Write the agents' program of the service at `base` into the folder and return its path.

    OSError or HTTPException if it cannot be fetched.
    """
    program = folder / PROGRAM
    with urllib.request.urlopen(f"{base}/agents/{PROGRAM}", timeout=60) as answer:  # noqa: S310
        write_whole(program, answer.read(), mode=0o644)
    return program


@dataclass(frozen=True)
class LocalAgent:
    """An enrolled agent's folder, and what stands before its command (``nsenter --net=FILE …``)."""

    folder: Path
    prefix: tuple[str, ...] = ()

    def allow(self, rules: Mapping[str, Any]) -> None:
        """Write rules of the node's own (programs, kernel settings, the jobs' user) into its configuration."""
        self._configure({**self._config(), **rules})

    def keep(self) -> None:
        """Have the service start this agent from its next start on."""
        write_whole(self.folder / _FILE, json.dumps({"prefix": list(self.prefix)}) + "\n", mode=0o644)

    def server_host(self) -> str:
        """Return the host at which this agent calls the service."""
        return urlsplit(self._config()["server"]).hostname or ""

    def call_at(self, port: int) -> None:
        """Tell the agent at which port the service is now: it may be another than last time."""
        config = self._config()
        host = self.server_host()
        server = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        # On this machine and its own emulated networks nobody is on the way.
        trusted = {} if is_loopback(host) else {"insecure": True}
        self._configure({**config, "server": server, **trusted})

    def _configure(self, config: Mapping[str, Any]) -> None:
        if config == self._config():
            return
        write_whole(self.folder / _CONFIG, json.dumps(config, indent=2) + "\n")

    def _config(self) -> dict[str, Any]:
        config: dict[str, Any] = json.loads((self.folder / _CONFIG).read_text(encoding="utf-8"))
        return config

    def process(self) -> Process:
        """Return the process; its program lies beside the agents' folders."""
        program = str(self.folder.parent / PROGRAM)
        argv = (*self.prefix, sys.executable, program, "run", "--dir", str(self.folder))
        return Process(name=f"agent-{self.folder.name}", argv=argv, tier=TIER)


def is_loopback(host: str) -> bool:
    """Say whether a server's host, an address or a name, is this machine to whoever calls it here."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def kept(agents: Path, report: Callable[[str, str], None]) -> list[LocalAgent]:
    """Return the agents below a folder that are to start with the service; those that cannot be read are reported."""
    readable = []
    for file in sorted(agents.glob(f"*/{_FILE}")):
        if not (file.parent / _CONFIG).exists():
            continue
        try:
            json.loads((file.parent / _CONFIG).read_text(encoding="utf-8"))["server"]
            prefix = json.loads(file.read_text(encoding="utf-8"))["prefix"]
            readable.append(LocalAgent(file.parent, tuple(map(str, prefix))))
        except (ValueError, KeyError, TypeError):
            words = (
                f"not started: {file} or {_CONFIG} beside it is damaged; remove the folder and enrol the node again"
            )
            report(file.parent.name, words)
    return readable


def namespace_is_down(prefix: Sequence[str]) -> bool:
    """Say whether the command would run in a namespace that is not there."""
    named = [word.partition("=") for word in prefix]
    return any(option in _NAMESPACES and not Path(path).exists() for option, _, path in named)
