"""The files that tell a launcher where ranks start, and whether it needs a remote shell to start them there."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection, Iterable, Iterator

from .rules import HYDRA_HOSTS, OPENMPI_HOSTS, OPENMPI_RANKS, Rules

# The remote shell that launchers take where no option and no variable names another.
SHELL = "ssh"
# Each line is one of these, whole: no comment, no user, no port, nothing that a launcher could take for an option.
_NAME = r"(?P<host>[A-Za-z0-9][A-Za-z0-9.-]{0,253})"
_ANY = r"(?P<host>[A-Za-z0-9][A-Za-z0-9.-]{0,253}|[0-9A-Fa-f:]{2,45})"
_LINES = {
    # Hydra parts a line at the first colon, so no IPv6.
    HYDRA_HOSTS: re.compile(rf"{_NAME}(?::[0-9]{{1,6}})?"),
    OPENMPI_HOSTS: re.compile(rf"{_ANY}(?: slots=[0-9]{{1,6}})?"),
    OPENMPI_RANKS: re.compile(rf"rank [0-9]{{1,9}}={_ANY} slot=[0-9:,*-]{{1,200}}"),
}
# Where ranks go on the machines of those files, and what they are bound to. Other policies of launchers name files
# (rankfile, seq) or programs of others (user, dist), with or without a path.
_UNIT = r"(?:slot|hwthread|core|l[123]cache|cache|socket|package|numa|board|machine|node)"
_CHANGE = r"(?:pe=[0-9]{1,4}|span|fill|oversubscribe|nooversubscribe|[0-9]{1,4})"
MAPPING = re.compile(rf"(?:{_UNIT}|ppr:[0-9]{{1,4}}:{_UNIT})(?::{_CHANGE}(?:,{_CHANGE}){{0,3}}){{0,2}}")
BINDING = re.compile(rf"(?:none|rr|{_UNIT})(?::(?:overload-allowed|if-supported|[0-9]{{1,4}})){{0,2}}")
KINDS = frozenset(_LINES)


class BadLine(ValueError):
    """A line of a file of hosts that is not in its one form; the text is the line."""


def read_hosts(kind: str, text: str) -> list[str]:
    """Return the hosts of a file of one of `KINDS`, an IPv6 address in brackets; BadLine for any other line."""
    return list(_hosts_of(kind, text.removesuffix("\n").split("\n")))


def _hosts_of(kind: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        match = _LINES[kind].fullmatch(line)
        if match is None:
            raise BadLine(line)
        yield f"[{match['host']}]" if ":" in match["host"] else match["host"]


def needs_shell(rules: Rules, names: Collection[str], choices: Collection[str], hosts: Iterable[str]) -> bool:
    """Say whether a launcher would start a remote shell of its own choice.

    `names` are the options and variables that a command has, `choices` the values that it has of options with
    choices, `hosts` those of its files.
    """
    if any(name in names for name in rules.starters) or "fork" in choices:
        return False
    return SHELL in choices or any(not is_own(host) for host in hosts)


def is_own_name(host: str) -> bool:
    """Say whether a host is this machine by its own name, whole or without its domain."""
    own = socket.gethostname()
    return host in (own, own.partition(".")[0])


def is_own(host: str) -> bool:
    """Say whether a host, by address or name, is this machine; what cannot be told is not."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host == "localhost" or is_own_name(host)
    if address.is_multicast:
        return False
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # Only what is an interface's own can be bound.
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True
