"""What others tell of tools: where they are used, and which nodes allow their programs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Use:
    """Something that uses a tool: what it is called, the address of its page, and its state for the reader."""

    name: str
    url: str
    state: str = ""


@dataclass(frozen=True)
class Permit:
    """A program, and the names of the nodes whose agents may run it."""

    program: str
    nodes: tuple[str, ...]
