"""The agent's folder: its configuration, and the local list of programs it may run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .durable import put_in_place, sync_folder
from .places import USUAL_FOLDERS
from .policy import OWNERS_KINDS, VARIABLE_KINDS, WRAPPERS, is_network, is_starter, is_told_nothing, rules_of

# Measurement tools that can neither write files of others nor start further programs.
KNOWN_PROGRAMS = (
    "bing", "iperf", "iperf3", "irtt", "mtr", "netperf", "netserver", "nuttcp", "pathload_rcv", "pathload_snd",
    "pathrate_rcv", "pathrate_snd", "pchar", "ping", "qperf", "tracepath", "traceroute",
)  # fmt: skip
FILE = "agent.json"
_NEW = FILE + ".new"
# A token with the name of its node is no longer.
TOKEN_BYTES = 4096
OPTION = re.compile(rf"\*|-[^\s=/]+(?: (?:{'|'.join(OWNERS_KINDS)}))?")
VARIABLE = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,100}}(?: (?:{'|'.join(VARIABLE_KINDS)}))?")
HOST = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
PIN = re.compile(r"[0-9a-fA-F]{64}")


class ConfigError(Exception):
    """A configuration that cannot be used; the text says what to do."""


@dataclass
class Config:
    """What `agent.json` says.

    `programs` adds names to the allow-list ({"name": "/path"}) or forbids one ({"name": null}); `search` names
    further folders in which the known tools are looked for. Without `telemetry` the kernel is not read around jobs.
    `settings` are the kernel settings that measurements may change, as keys or patterns; none unless named.

    `paths` are folders and devices that jobs may read and write beside their own folder, `options` what programs may
    be told beyond the agent's own rules ({"mtr": ["-F file"]}, ["*"] for anything), `variables` what a job's
    environment may hold beyond them (["OMP_STACKSIZE", "X_DIR file"]), `destinations` the networks and host names
    that jobs may call, where not the addresses of the inventory. Without `sandbox` the kernel does not confine jobs.
    `wrappers` lets programs that start others do so ({"taskset": ["iperf3"]}), each by the started program's rules;
    `remote_shells` are the programs by which launchers may start ranks on other nodes, beside ssh and rsh.
    `pin` is the SHA-256 of the server's certificate, `insecure` lets plain HTTP leave this machine.
    """

    server: str
    token: str
    node: str = ""
    user: str = "nobody"
    programs: dict[str, str | None] = field(default_factory=dict)
    search: list[str] = field(default_factory=list)
    ca_file: str = ""
    telemetry: bool = True
    settings: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    options: dict[str, list[str]] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)
    wrappers: dict[str, list[str]] = field(default_factory=dict)
    remote_shells: list[str] = field(default_factory=list)
    destinations: list[str] = field(default_factory=list)
    sandbox: bool = True
    pin: str = ""
    insecure: bool = False

    def allowed(self) -> dict[str, str | None]:
        """Return the allow-list {name: path}, a path of None meaning allowed but not installed."""
        names = sorted({*KNOWN_PROGRAMS, *self.programs} - {*self.unused()})
        return {name: self.find(name) for name in names if self.allows(name)}

    def unused(self) -> dict[str, str]:
        """Return the programs of the owner's that are not used all the same, {name: path}: they start others."""
        return {
            name: place
            for name, place in sorted(self.programs.items())
            if place is not None
            and name not in self.wrappers
            and not self.options.get(name)
            and (is_told_nothing(name) or (rules_of(name) is None and is_starter(name, place)))
        }

    def allows(self, name: str) -> bool:
        """Say whether the program of that name may be run."""
        return self.programs[name] is not None if name in self.programs else name in KNOWN_PROGRAMS

    def find(self, name: str) -> str | None:
        """Return the path of an allowed program, or None if it is not installed."""
        place = self.programs.get(name)
        if place is not None:
            return place if os.access(place, os.X_OK) else None
        folders = [*self.search, *os.environ.get("PATH", "").split(os.pathsep), *USUAL_FOLDERS]
        return shutil.which(name, path=os.pathsep.join(folder for folder in folders if folder))


def default_folder() -> Path:
    """Return where an agent keeps its things unless told otherwise, here or by FATHOM_AGENT_DIR."""
    if os.environ.get("FATHOM_AGENT_DIR"):
        return Path(os.environ["FATHOM_AGENT_DIR"])
    if os.geteuid() == 0:
        return Path("/var/lib/fathom-agent")
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "fathom-agent"


def load(folder: Path) -> Config:
    """Read the configuration; ConfigError if there is none, or if it is unreadable."""
    path = folder / FILE
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"{path} does not exist: enrol this node first (its agent page has the command).") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    return parse(text, path)


def parse(text: bytes, path: Path) -> Config:
    """Return the configuration that a file's text is; ConfigError names what is wrong with it."""
    try:
        data = json.loads(text.decode())
    except ValueError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    return _checked(data, path)


def save(folder: Path, config: Config) -> None:
    """Write the configuration so that only its owner can read it, whole or not at all (ConfigError)."""
    try:
        _write(folder / _NEW, _text_of(config))
        put_in_place(folder / _NEW, folder / FILE)
    except OSError as error:
        raise _unwritable(folder, error) from None


def make_folder(folder: Path) -> None:
    """Create the agent's folder; others may pass through it (jobs run as another user) but not list it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711)
    except OSError as error:
        raise ConfigError(f"The folder {folder} cannot be used: {error.strerror}. Choose one with --dir.") from None


def write_private(folder: Path, name: str, data: bytes) -> None:
    """Write a file of the folder that only its owner can read, and wait for the disk.

    ConfigError if it cannot be written; then nothing of it is left.
    """
    try:
        _write(folder / name, data)
        sync_folder(folder)
    except OSError as error:
        remove(folder, name)
        raise _unwritable(folder, error) from None


def remove(folder: Path, name: str) -> None:
    """Remove a file of the folder, if it is there and can be removed."""
    with contextlib.suppress(OSError):
        (folder / name).unlink()


@contextlib.contextmanager
def room(folder: Path, config: Config) -> Iterator[None]:
    """Hold as much of the disk as the configuration will take with its token; ConfigError if there is not as much.

    `save` uses it. What is not used is given back.
    """
    place = folder / _NEW
    try:
        try:
            _write(place, _text_of(config) + b" " * TOKEN_BYTES)
        except OSError as error:
            raise _unwritable(folder, error) from None
        yield
    finally:
        with contextlib.suppress(OSError):
            place.unlink()


def _text_of(config: Config) -> bytes:
    return (json.dumps(vars(config), indent=2) + "\n").encode()


def _write(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, and wait for the disk; what it holds of the disk stays its own."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _unwritable(folder: Path, error: OSError) -> ConfigError:
    return ConfigError(f"The folder {folder} cannot be written: {error.strerror}. Choose one with --dir.")


def _checked(data: object, path: Path) -> Config:
    """Return the configuration in `data`, or raise ConfigError naming what is wrong with it."""
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must hold a JSON object.")
    unknown = sorted(set(data) - set(Config.__dataclass_fields__))
    if unknown:
        raise ConfigError(f"{path}: unknown setting “{unknown[0]}”.")
    for name in ("server", "token"):
        if not isinstance(data.get(name), str) or not data[name]:
            raise ConfigError(f"{path}: “{name}” is missing: enrol this node again.")
    for name, (is_right, must) in _FORMS.items():
        if name in data and not is_right(data[name]):
            raise ConfigError(f"{path}: “{name}” must {must}.")
    return Config(**data)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_programs(value: object) -> bool:
    return isinstance(value, dict) and all(
        place is None or (isinstance(place, str) and place.startswith("/")) for place in value.values()
    )


def _are_paths(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item.startswith("/") for item in value)


def _are_options(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(entries, list) and all(isinstance(entry, str) and OPTION.fullmatch(entry) for entry in entries)
        for entries in value.values()
    )


def _are_wrappers(value: object) -> bool:
    return isinstance(value, dict) and all(
        name in WRAPPERS and _are_texts(started) for name, started in value.items()
    )


def _are_variables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and VARIABLE.fullmatch(item) for item in value)


def _are_destinations(value: object) -> bool:
    # What looks like a number and is no network is a slip of the pen, not a name.
    return isinstance(value, list) and all(
        isinstance(item, str) and (is_network(item) or HOST.fullmatch(item)) for item in value
    )


def _is_pin(value: object) -> bool:
    return isinstance(value, str) and (not value or PIN.fullmatch(value) is not None)


# What each setting must be, beside those that enrolment writes.
_FORMS: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(("node", "user", "ca_file"), (_is_text, "be a text")),
    **dict.fromkeys(("telemetry", "sandbox", "insecure"), (_is_switch, "be true or false")),
    "programs": (_are_programs, "map names to absolute paths, or to null to forbid one"),
    "search": (_are_texts, "be a list of folders"),
    "settings": (_are_texts, "be a list of keys or patterns, such as net.ipv4.tcp_*"),
    "paths": (_are_paths, "be a list of absolute paths of folders and devices"),
    "options": (
        _are_options,
        f'map programs to lists of options: "-x", "-x KIND" with a kind of {", ".join(OWNERS_KINDS)}, or "*"',
    ),
    "wrappers": (_are_wrappers, f"map {', '.join(WRAPPERS)} to lists of the programs that each may start"),
    "remote_shells": (_are_texts, "be a list of programs such as lab-remote"),
    "variables": (
        _are_variables,
        f'be a list of variables: "NAME", or "NAME KIND" with a kind of {", ".join(VARIABLE_KINDS)}',
    ),
    "destinations": (_are_destinations, "be a list of networks such as 192.0.2.0/24, addresses and host names"),
    "pin": (_is_pin, "be the SHA-256 of the server's certificate, as 64 hexadecimal digits"),
}
