"""Whom jobs name, and which addresses nodes have by their agents' word."""

import re
from collections.abc import Collection, Sequence
from typing import Protocol

from apps.agents.models import Agent
from apps.bench.network import addresses

# What may be an address of a node within a word, such as 2001:db8::1 of [2001:db8::1]:5000.
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]+(?:%\w+)?")

_URL_HOST = re.compile(r"://([\w.-]+)")


class Carried(Protocol):
    """A job, or the command that it is to be."""

    @property
    def argv(self) -> Sequence[str]:
        """Return its words."""

    @property
    def environment(self) -> Sequence[Sequence[str]]:
        """Return its variables, (name, value)."""

    @property
    def files(self) -> Sequence[Sequence[str]]:
        """Return its files, (name, text)."""


def hosts_in(command: Carried) -> set[str]:
    """Return what may be an address or host name in a command's words, variables and files."""
    arguments = [*command.argv, *(value for _name, value in command.environment)]
    text = "\n".join([*arguments, *(text for _name, text in command.files)])
    words = {part for word in arguments for part in (word, word.partition("=")[2])}
    return {*_ADDRESS.findall(text), *_URL_HOST.findall(text), *words, *(word.rpartition(":")[0] for word in words)}


def reported(*, nodes: Collection[int]) -> dict[int, set[str]]:
    """Return {node: the addresses of its interfaces} as its agent told last, if that is not retired.

    Only a manager enrols an agent, and no archive's facts are ever an agent's.
    """
    rows = Agent.objects.filter(node__in=nodes, retired_at=None, facts__archive_ref="")
    interfaces = rows.values_list("node", "facts__facts__interfaces")
    return {node: {*addresses.of_interfaces({"interfaces": each})} for node, each in interfaces}
