"""Whether a value of a command is one that a job may have: where files lie, who is called, what is started."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote

from . import gridftp, hosts, rules, starters, urls, variables, words
from .interpreters import REMOTE
from .reach import Reach, RefusedDestination, host_of
from .rules import Word

# What any command may read or write besides.
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
_NETWORKS = re.compile(r"[0-9A-Fa-f.:/,]+")
_IN_WORK = re.compile(r"\{work\}/([^/]+)")
_PROGRAM = re.compile(r"\{program:([^{}]*)\}")
# The names that the product gives to files outside of a job's folder: only these are removed there.
_OWN_FILE = re.compile(r"\.fathom-[A-Za-z0-9._-]{1,200}|btio\.[a-z]{2,10}\.out(?:\.\d{1,9})?|inputbt\.data|IMB_out")
_ALLOCATION = re.compile(r"fathom-[0-9a-f]{12}")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
_CPUS = re.compile(r"(?:all|[0-9A-Fa-f][0-9A-Fa-fx,:-]{0,255})")
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,9})?[A-Za-z%]{0,4}")
# A name's dot is one of a VLAN's number behind.
_INTERFACE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,30}(?:\.\d{1,4}){0,2}")


class RefusedPath(ValueError):
    """A path outside of where the job may read and write; the text is the path."""


@dataclass(frozen=True)
class Place:
    """Where a job may read and write: its own folder, and what the node's owner named."""

    work: str
    paths: tuple[str, ...] = ()

    @property
    def roots(self) -> tuple[str, ...]:
        """Return all that a job may read and write, as it is written."""
        return (self.work, *self.paths, *DEVICES)

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
class Values:
    """Checks values; `fill` puts in what placeholders stand for, `files` are the job's own (name: text).

    `shells` are the programs that launchers may start ranks on other nodes by, beside ssh and rsh.
    """

    place: Place
    reach: Reach
    fill: Callable[[str], str]
    find_program: Callable[[str], str]
    files: Mapping[str, str]
    shells: Collection[str] = ()

    def check(self, word: Word) -> None:
        """Raise RefusedPath, RefusedDestination or rules.RefusedOption unless the value is allowed."""
        getattr(self, "_check_" + word.kind.replace("-", "_"))(word.value, word)

    def check_unknown(self, word: str) -> None:
        """Check a word of a program that has no rules: each slash, and each address that can be told in it."""
        for name in _PROGRAM.findall(word):
            if starters.is_starter(name, self.find_program(name)):
                raise _starts_others(name)
        # Where an allowed program lies is known; what stands around it is looked at.
        readings = words.readings_of(self.fill(_PROGRAM.sub("program", word)))
        for text in readings:
            rest = words.check_slashes(text, self.place.roots, self.place.check, _refuse_path)
            for address in words.addresses_in(rest):
                self.reach.check(address)
            if name := starters.starter_in(text):
                raise _starts_others(name)
        if not {unquote(text) for text in readings} <= {*readings}:
            raise RefusedPath(word)

    def check_variable(self, name: str, value: str, entries: Sequence[str]) -> None:
        """Check a variable of a job; `entries` are those that the node's owner allows ("NAME", "NAME KIND")."""
        kind = variables.kind_of(name, tuple(entries))
        if variables.check_form(name, value, kind):
            return
        try:
            if kind == rules.TEXT:
                self.check_unknown(value)
            else:
                self.check(Word(kind, name, value))
        except (RefusedPath, RefusedDestination) as refusal:
            raise type(refusal)(f"{name}={refusal}") from None

    def _check_text(self, value: str, word: Word) -> None:
        readings = words.readings_of(self.fill(value))
        if any("/" in text or any(True for _address in words.addresses_in(text)) for text in readings):
            raise rules.RefusedOption(f"{word.option} {value}".strip())

    def _check_number(self, value: str, word: Word) -> None:
        if not _NUMBER.fullmatch(value):
            raise rules.RefusedOption(f"{word.option} {value}".strip())

    def _check_cpus(self, value: str, word: Word) -> None:
        if not _CPUS.fullmatch(value):
            raise rules.RefusedOption(f"{word.option} {value}".strip())

    def _check_allocation(self, value: str, word: Word) -> None:
        if not _ALLOCATION.fullmatch(value):
            raise rules.RefusedOption(f"{word.option} {value}")

    def _check_word(self, value: str, word: Word) -> None:
        if not _WORD.fullmatch(value):
            raise rules.RefusedOption(f"{word.option} {value}")

    def _check_mapping(self, value: str, word: Word) -> None:
        if not hosts.MAPPING.fullmatch(value):
            raise rules.RefusedOption(f"{word.option} {value}")

    def _check_binding(self, value: str, word: Word) -> None:
        if not hosts.BINDING.fullmatch(value):
            raise rules.RefusedOption(f"{word.option} {value}")

    def _check_local(self, value: str, word: Word) -> None:
        # A name would be looked up, and a group of many joined.
        if not all(_is_local(part) for part in value.split(",")):
            raise rules.RefusedOption(f"{word.option} {value}".strip())

    def _check_networks(self, value: str, word: Word) -> None:
        if not _NETWORKS.fullmatch(value):
            raise rules.RefusedOption(f"{word.option} {value}")

    def _check_file(self, value: str, _word: Word) -> None:
        text = self.fill(value)
        # Several programs take a list for one name: fio by colons that no backslash quotes, IOR and mdtest by @.
        for part in re.split(r"(?<!\\)[:@]", text):
            self.place.check(part.replace("\\:", ":") if part else text)

    def _check_removed(self, value: str, word: Word) -> None:
        path = self.fill(value)
        self.place.check(path)
        own = os.path.realpath(self.place.work)
        is_in_work = os.path.realpath(Path(self.place.work) / path).startswith(f"{own}/")
        if not is_in_work and not _OWN_FILE.fullmatch(path.rpartition("/")[2]):
            raise RefusedPath(value)

    def _check_output(self, value: str, word: Word) -> None:
        if value != "-":
            self._check_file(value, word)

    def _check_address(self, value: str, word: Word) -> None:
        # A program calls what an option or a plain word names; a variable may name the place where it is itself.
        is_called = word.kind == rules.ADDRESS and (not word.option or word.option.startswith("-"))
        self.reach.check(self.fill(value), is_called=is_called)

    def _check_addresses(self, value: str, word: Word) -> None:
        for part in value.split(","):
            self._check_address(part, word)

    def _check_program(self, value: str, word: Word) -> None:
        if not self._is_program(value):
            raise rules.RefusedOption(f"{word.option} {value}".strip())

    def _check_remote_shell(self, value: str, word: Word) -> None:
        self._check_program(value, word)
        (name,) = _PROGRAM.findall(value)
        if name not in (*REMOTE, *self.shells):
            raise rules.RefusedOption(f"{word.option} {value}: it is none of “remote_shells”".strip())

    def _check_named_program(self, value: str, _word: Word) -> None:
        for name in _PROGRAM.findall(value):
            self.find_program(name)

    def _check_url(self, value: str, word: Word) -> None:
        try:
            url = urls.read_url(self.fill(value))
        except urls.BadUrl:
            raise rules.RefusedOption(f"{word.option} {value}".strip()) from None
        if url.host:
            self.reach.check(url.host)
        else:
            self.place.check(url.path)

    def _check_url_list(self, value: str, word: Word) -> None:
        try:
            texts = urls.read_pairs(self._own_file(value, word))
        except urls.BadUrl as line:
            raise rules.RefusedOption(f"{word.option} {line}") from None
        for text in texts:
            self._check_url(text, word)

    def hosts_in(self, word: Word) -> list[str]:
        """Return the hosts of a file that names some, nothing of any other value; RefusedOption for a bad line."""
        if word.kind not in hosts.KINDS:
            return []
        try:
            return hosts.read_hosts(word.kind, self._own_file(word.value, word))
        except hosts.BadLine as line:
            raise rules.RefusedOption(f"{word.option} {line}") from None

    def _check_hosts(self, _value: str, word: Word) -> None:
        for host in self.hosts_in(word):
            # Many a machine knows its own name as a loopback address.
            if not (self.reach.names(host) and hosts.is_own_name(host)):
                self.reach.check(host)

    _check_hydra_hosts = _check_openmpi_hosts = _check_openmpi_ranks = _check_hosts

    def _check_settings(self, value: str, word: Word) -> None:
        try:
            paths = gridftp.read_paths(self._own_file(value, word))
        except gridftp.BadLine as line:
            raise rules.RefusedOption(f"{word.option} {line}") from None
        for path in paths:
            self.place.check(self.fill(path))

    def _own_file(self, value: str, word: Word) -> str:
        name = _IN_WORK.fullmatch(value)
        if name is None or name[1] not in self.files:
            raise RefusedPath(f"{word.option} {value}")
        return self.files[name[1]]

    def _is_program(self, value: str) -> bool:
        """Say whether a word is the placeholder of a program; what find_program raises if that may not be run."""
        if not (value.startswith("{program:") and value.endswith("}")):
            return False
        name = value[len("{program:") : -1]
        return starters.is_shell_for_elsewhere(name, self.find_program(name))


def _starts_others(name: str) -> rules.RefusedOption:
    return rules.RefusedOption(f"{name}: a program that starts others")


def _refuse_path(text: str) -> NoReturn:
    raise RefusedPath(text)


def _is_local(text: str) -> bool:
    """Say whether a text is an address that a machine may have, an interface, a port, or several of these."""
    host, _percent, interface = host_of(text).partition("%")
    if interface and not _INTERFACE.fullmatch(interface):
        return False
    try:
        return not ipaddress.ip_address(host).is_multicast
    except ValueError:
        return not host or _INTERFACE.fullmatch(host) is not None
