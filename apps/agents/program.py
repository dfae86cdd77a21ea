"""The agent program as one file to download: built in this process from its sources, byte for byte the same."""

import functools
import hashlib
import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

PACKAGE = "fathom_agent"
NAME = "fathom-agent.pyz"
UNIT = "fathom-agent.service"
# What agents' folders are called, those of nodes that share a machine with the node's name behind it.
FOLDER = "fathom-agent"
# What the systemd unit that is downloaded expects; the program's own command `unit` knows better.
PLACES = {
    "python": "/usr/bin/python3",
    "program": f"/opt/fathom-agent/{NAME}",
    "folder": "/var/lib/fathom-agent",
    "paths": "",
}
_VERSION = re.compile(r'^VERSION = "([0-9.]+)"$', re.MULTILINE)
_SHEBANG = b"#!/usr/bin/env python3\n"
_MAIN = f'"""Starts the agent."""\n\nimport sys\n\nfrom {PACKAGE}.main import main\n\nsys.exit(main())\n'
# The least a zip file can say: the same sources must make the same bytes, whenever they were checked out.
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Program:
    """The zipapp and the SHA-256 of its bytes."""

    data: bytes
    sha256: str


def build(source: Path) -> Program:
    """Return the zipapp (PEP 441) of the package in the folder `source`."""
    buffer = io.BytesIO(_SHEBANG)
    buffer.seek(0, io.SEEK_END)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry("__main__.py"), _MAIN)
        for path in sorted(source.rglob("*")):
            if path.suffix in (".py", ".service"):
                archive.writestr(_entry(f"{PACKAGE}/{path.relative_to(source).as_posix()}"), path.read_bytes())
    data = buffer.getvalue()
    return Program(data, hashlib.sha256(data).hexdigest())


@functools.cache
def current() -> Program:
    """Return this service's agent program."""
    return build(Path(settings.AGENT_SOURCE))


@functools.cache
def version() -> str:
    """Return the version of this service's agent program, such as "1.1"."""
    text = (Path(settings.AGENT_SOURCE) / "__init__.py").read_text(encoding="utf-8")
    match = _VERSION.search(text)
    return match[1] if match else ""


def is_older(other: str) -> bool:
    """Say whether an agent of that version is older than this service's program: "1.9" is older than "1.10"."""
    return _numbers(other) < _numbers(version())


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", text))


def systemd_unit() -> str:
    """Return a systemd unit for the program in its usual places."""
    return (Path(settings.AGENT_SOURCE) / UNIT).read_text().format(**PLACES)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry
