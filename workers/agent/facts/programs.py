"""The measurement tools of this node and their versions."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from ..identity import Identity

# How to ask the programs of the product that say their version. Any other is never started to be asked: what it
# would make of an option that it may not know is its own affair.
ASK = {
    "ping": "-V", "tracepath": "-V", "traceroute": "--version", "mtr": "--version", "iperf3": "--version",
    "iperf": "-v", "nuttcp": "-V", "netperf": "-V", "netserver": "-V", "qperf": "--version", "sockperf": "--version",
    "pchar": "-V", "irtt": "version", "fio": "--version", "iozone": "-v", "df": "--version", "rm": "--version",
    "cp": "--version", "dd": "--version", "fincore": "--version", "grep": "--version", "mpirun": "--version",
    "mpiexec": "--version", "mpiexec.hydra": "--version", "python3": "--version", "srun": "--version",
    "squeue": "--version", "sbatch": "--version", "scancel": "--version", "globus-url-copy": "-version",
    "globus-gridftp-server": "-version", "gcc": "--version", "mpicc": "--version",
}  # fmt: skip
TIMEOUT_S = 3.0
LONGEST = 200


class Versions:
    """Asks each program once, and again when its file has changed."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._known: dict[tuple[str, float, int], str] = {}

    def collect(self, allowed: dict[str, str | None]) -> dict[str, dict[str, Any]]:
        """Return {name: {"path", "version"}} of the allowed programs that are installed."""
        return {
            name: {"path": path, "version": self._version(name, path)}
            for name, path in sorted(allowed.items())
            if path is not None
        }

    def _version(self, name: str, path: str) -> str:
        try:
            status = Path(path).stat()
        except OSError:
            return ""
        key = (path, status.st_mtime, status.st_size)
        if key not in self._known:
            self._known[key] = ask(name, path, self._identity) if name in ASK else ""
        return self._known[key]


def ask(name: str, path: str, identity: Identity) -> str:
    """Return the line in which a program of `ASK` says its version, or "" if it does not."""
    try:
        answer = subprocess.run(
            [name, ASK[name]],
            executable=path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            cwd="/",
            env={"LC_ALL": "C", "PATH": os.defpath},
            check=False,
            **identity.as_options(),
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = [line.strip() for line in answer.stdout.decode("utf-8", "replace").splitlines()]
    return next((line[:LONGEST] for line in lines if re.search(r"\d", line)), "")
