"""Reading and writing one setting: a file under /proc/sys, the MTU or the queue discipline of an interface."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from ..facts import netlink
from ..places import USUAL_FOLDERS

MTU, QDISC = "mtu", "qdisc"
# The word for the discipline that the kernel gives an interface by itself.
DEFAULT = "default"
SYSCTL = re.compile(r"(?:net|vm|sunrpc|fs)(?:\.[a-z0-9_]+){1,6}")
VALUE = re.compile(r"[A-Za-z0-9_.:%+-]+(?: [A-Za-z0-9_.:%+-]+){0,15}")
LONGEST = 200
TIMEOUT_S = 2.0
# Of two settings that say one thing in two ways the kernel keeps the one written last and empties the other.
TWINS = {"vm.dirty_ratio": "vm.dirty_bytes", "vm.dirty_background_ratio": "vm.dirty_background_bytes"}
TWINS.update({twin: key for key, twin in TWINS.items()})
# A route that goes and comes by itself, and what is said of one whose interface has no carrier just now.
_PASSING = re.compile(r" proto (?!static\b|boot\b)| expires ")
_STATE = re.compile(r" (?:linkdown|dead)\b")
_ROOT_QDISC = re.compile(r"^qdisc (\S+) (\S+): root\b(.*)$", re.MULTILINE)


class SettingError(Exception):
    """A setting that cannot be read or written; the text says which, and why."""


def is_known(key: str) -> bool:
    """Say whether a key is of a kind that can be set here."""
    return key in (MTU, QDISC) or SYSCTL.fullmatch(key) is not None


def is_value(value: str) -> bool:
    """Say whether a text may be a value: plain words, for they become arguments and contents of files."""
    return len(value) <= LONGEST and VALUE.fullmatch(value) is not None


def read(key: str, interface: str) -> str:
    """Return the present value, its words one blank apart; SettingError if there is none."""
    if key == MTU:
        mtu = next((link.mtu for link in netlink.links() if link.name == _named(key, interface)), None)
        if mtu is None:
            raise SettingError(f"mtu: there is no interface {interface}")
        return str(mtu)
    if key == QDISC:
        return _read_qdisc(_named(key, interface))
    try:
        return " ".join(_path(key).read_text(encoding="ascii", errors="replace").split())
    except OSError as error:
        raise SettingError(f"{key}: {error.strerror}") from None


def write(key: str, value: str, interface: str) -> None:
    """Set a value; SettingError if the kernel does not take it."""
    if key == MTU:
        _call("ip", "link", "set", "dev", _named(key, interface), "mtu", value)
        # What was learnt of paths before would limit segments to the old size for minutes.
        _call("ip", "route", "flush", "cache")
    elif key == QDISC and value == DEFAULT:
        _call("tc", "qdisc", "del", "dev", _named(key, interface), "root")
    elif key == QDISC:
        _call("tc", "qdisc", "replace", "dev", _named(key, interface), "root", *value.split())
    else:
        try:
            _path(key).write_text(value + "\n", encoding="ascii")
        except (OSError, UnicodeError) as error:
            raise SettingError(f"{key}: {getattr(error, 'strerror', None) or error}") from None


def mtus() -> dict[str, int]:
    """Return {interface: its MTU}, those before that others stand on."""
    return {link.name: link.mtu for link in sorted(netlink.links(), key=lambda link: link.index)}


def lasting_ipv6() -> list[str]:
    """Return the global addresses and the routes of IPv6 that somebody set, which the kernel would not make anew."""
    if not Path("/proc/sys/net/ipv6").exists():
        return []
    addresses = _call("ip", "-6", "-o", "address", "show", "permanent", "scope", "global").splitlines()
    routes = _call("ip", "-6", "-o", "route", "show", "table", "all").splitlines()
    lines = [f"{words[3]} dev {words[1]}" for words in map(str.split, addresses)]
    return lines + [_STATE.sub("", line).strip() for line in routes if not _PASSING.search(line)]


def agrees(key: str, wanted: str, value: str) -> bool:
    """Say whether what was read is what was wanted; of a queue discipline the kernel tells more than was said."""
    return value.split()[:1] == wanted.split()[:1] if key == QDISC else value == wanted


def _path(key: str) -> Path:
    if not SYSCTL.fullmatch(key):
        raise SettingError(f"{key}: this is no setting that can be set")
    return Path("/proc/sys", *key.split("."))


def _read_qdisc(interface: str) -> str:
    """Return "default", or kind and options of a root queue discipline that somebody set."""
    match = _ROOT_QDISC.search(_call("tc", "qdisc", "show", "dev", interface))
    if match is None or match[2] == "0":
        return DEFAULT
    return " ".join([match[1], *match[3].split()])


def _named(key: str, interface: str) -> str:
    if not interface:
        raise SettingError(f"{key}: no interface of this node holds its data-plane address")
    return interface


def _call(name: str, *words: str) -> str:
    """Return what a program of iproute2 prints; SettingError with its words if it fails."""
    program = shutil.which(name, path=os.pathsep.join(USUAL_FOLDERS))
    if program is None:
        raise SettingError(f"{name} is not installed")
    try:
        done = subprocess.run(
            [program, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            env={"LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SettingError(f"{name}: {error}") from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SettingError(f"{name} {' '.join(words)}: {lines[0] if lines else f'exit status {done.returncode}'}")
    return done.stdout.decode("utf-8", "replace")
