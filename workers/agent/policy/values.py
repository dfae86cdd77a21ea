"""Whether a value of a command is one that a job may have: where files lie, who is called, what is started."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from . import rules
from .rules import Word

# What any command may read or write besides.
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
_NETWORKS = re.compile(r"[0-9A-Fa-f.:/,]+")
_IN_WORK = re.compile(r"\{work\}/([^/]+)")
_PROGRAM = re.compile(r"\{program:([^}]*)\}")
_SETTING = re.compile(r'(?:allow_anonymous [01]|anonymous_user nobody|restrict_paths "(?P<paths>[^"\n]*)")')
# Where a path may begin within a word: at a mark that parts words, or behind the letters of an option.
_PATH_IN_WORD = re.compile(r"(?:^-+[A-Za-z+]*|[=:,;@\s]|^)(/[^=:,;@\s]*)")


class RefusedPath(ValueError):
    """A path outside of where the job may read and write; the text is the path."""


class RefusedDestination(ValueError):
    """An address that the job may not call; the text is the address."""


@dataclass(frozen=True)
class Place:
    """Where a job may read and write: its own folder, and what the node's owner named."""

    work: str
    paths: tuple[str, ...] = ()

    def check(self, path: str) -> None:
        """Raise RefusedPath unless a path, its links followed as they are now, lies below what is allowed."""
        if path in DEVICES:
            return
        real = os.path.realpath(Path(self.work) / path)
        for base in (self.work, *self.paths):
            root = os.path.realpath(base)
            if real == root or real.startswith(root.rstrip("/") + "/"):
                return
        raise RefusedPath(path)


@dataclass(frozen=True)
class Reach:
    """Whom a job may call.

    `destinations` are the owner's networks and host names; without any it is `inventory`, the addresses that the
    server told with the job, and this machine itself where the server is on it (`is_local`).
    """

    destinations: tuple[str, ...] = ()
    inventory: frozenset[str] = frozenset()
    is_local: bool = False

    def check(self, text: str) -> None:
        """Raise RefusedDestination unless an address or host name, with a port or without, may be called."""
        host = host_of(text)
        try:
            address = ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            known = self.destinations or (*self.inventory, *(("localhost",) if self.is_local else ()))
            if host and host in known:
                return
            raise RefusedDestination(text) from None
        address = getattr(address, "ipv4_mapped", None) or address
        if self.destinations:
            allowed = any(address in network for network in _networks(self.destinations))
        elif address.is_loopback:
            allowed = self.is_local
        else:
            harmful = address.is_unspecified or (address.version == 4 and address.is_link_local)
            allowed = not harmful and not address.is_multicast and _same(address, self.inventory)
        if not allowed:
            raise RefusedDestination(text)


def host_of(text: str) -> str:
    """Return the host of "host", "host:port", "[address]:port" or "host,family"."""
    text = text.partition(",")[0]
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


def is_network(text: str) -> bool:
    """Say whether a text is an address or a network such as 10.0.0.0/8."""
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Values:
    """Checks values; `fill` puts in what placeholders stand for, `files` are the job's own (name: text)."""

    place: Place
    reach: Reach
    fill: Callable[[str], str]
    find_program: Callable[[str], str]
    files: Mapping[str, str]

    def check(self, word: Word) -> None:
        """Raise RefusedPath, RefusedDestination or rules.RefusedOption unless the value is allowed."""
        getattr(self, "_check_" + word.kind.replace("-", "_"))(word.value, word)

    def check_unknown(self, words: Iterable[str], *, with_addresses: bool = True) -> None:
        """Check the words of a program that has no rules: all that looks like a path, or is an address."""
        for raw in words:
            for name in _PROGRAM.findall(raw):
                self.find_program(name)
            # Where an allowed program lies is known; what stands around it is looked at.
            text = self.fill(_PROGRAM.sub("program", raw))
            self.check_paths(text)
            if ".." in re.split(r"[/=:,;@\s]", text):
                self.place.check(text)
            if with_addresses and is_network(host_of(text)) and "/" not in text and ("." in text or ":" in text):
                self.reach.check(text)

    def check_paths(self, text: str) -> None:
        """Check each path that a text holds, as far as it can be told from other things with a slash."""
        for path in _PATH_IN_WORD.findall(text):
            # The length of a network's prefix is no path.
            if not path[1:].isdigit():
                self.place.check(path)

    def _check_text(self, value: str, word: Word) -> None:
        if "/" in self.fill(value):
            raise rules.RefusedOption(f"{word.option} {value}".strip())

    def _check_networks(self, value: str, word: Word) -> None:
        if not _NETWORKS.fullmatch(value):
            raise rules.RefusedOption(f"{word.option} {value}")

    def _check_file(self, value: str, _word: Word) -> None:
        text = self.fill(value)
        # Several programs take a list for one name: fio by colons that no backslash quotes, IOR and mdtest by @.
        for part in re.split(r"(?<!\\)[:@]", text):
            self.place.check(part.replace("\\:", ":") if part else text)

    def _check_output(self, value: str, word: Word) -> None:
        if value != "-":
            self._check_file(value, word)

    def _check_address(self, value: str, _word: Word) -> None:
        self.reach.check(self.fill(value))

    def _check_addresses(self, value: str, word: Word) -> None:
        for part in value.split(","):
            self._check_address(part, word)

    def _check_program(self, value: str, word: Word) -> None:
        if not self._is_program(value):
            raise rules.RefusedOption(f"{word.option} {value}".strip())

    def _check_url(self, value: str, word: Word) -> None:
        parts = urlsplit(self.fill(value))
        if parts.scheme == "file" and not parts.netloc:
            self.place.check(unquote(parts.path))
        elif parts.scheme in ("ftp", "gsiftp") and parts.hostname:
            self.reach.check(parts.hostname)
        else:
            raise rules.RefusedOption(f"{word.option} {value}".strip())

    def _check_url_list(self, value: str, word: Word) -> None:
        for text in self._own_file(value, word).split():
            self._check_url(text, word)

    def _check_settings(self, value: str, word: Word) -> None:
        for line in self._own_file(value, word).splitlines():
            setting = _SETTING.fullmatch(line)
            if setting is None:
                raise rules.RefusedOption(f"{word.option} {line}")
            for path in (setting["paths"] or "").split(","):
                if path:
                    self.place.check(self.fill(path.lstrip("RWN")))

    def _own_file(self, value: str, word: Word) -> str:
        name = _IN_WORK.fullmatch(value)
        if name is None or name[1] not in self.files:
            raise RefusedPath(f"{word.option} {value}")
        return self.files[name[1]]

    def _is_program(self, value: str) -> bool:
        """Say whether a word is the placeholder of a program; what find_program raises if that may not be run."""
        if not (value.startswith("{program:") and value.endswith("}")):
            return False
        self.find_program(value[len("{program:") : -1])
        return True


def _networks(texts: Sequence[str]) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    return [ipaddress.ip_network(text, strict=False) for text in texts if is_network(text)]


def _same(address: ipaddress.IPv4Address | ipaddress.IPv6Address, texts: Iterable[str]) -> bool:
    for text in texts:
        try:
            if ipaddress.ip_address(text.partition("%")[0]) == address:
                return True
        except ValueError:
            continue
    return False
