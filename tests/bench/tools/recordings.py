"""Recorded outputs of real programs, as the executor would hand them to a parser."""

import pathlib
import re
import shlex

from apps.bench.tools.base import Output

DATA = pathlib.Path(__file__).parents[2] / "data"


def load(tool: str, name: str, role: str = "client") -> Output:
    """Return a recording as the output of a role."""
    raw = (DATA / tool / name).read_bytes()
    if name.endswith(".json"):
        return Output(role, "measure", "north", ("iperf3", "-c", "10.9.0.2", "-J"), raw, b"", 0)
    command, rest = raw.split(b"\n", 1)
    match = re.fullmatch(rb"(?P<stdout>.*?)\[exit (?P<code>\d+)\]\n(?:--- stderr:\n(?P<stderr>.*))?", rest, re.DOTALL)
    assert match, name
    argv = shlex.split(command.decode().removeprefix("$ "))
    programs = ("ping", "tracepath", "traceroute", "iperf3")
    start = next((i for i, word in enumerate(argv) if word in programs), 0)
    return Output(
        role,
        "measure",
        "north",
        tuple(argv[start:]),
        match["stdout"],
        match["stderr"] or b"",
        int(match["code"]),
    )


def names(tool: str, pattern: str = "*") -> list[str]:
    """Return the names of a tool's recordings, those in folders included."""
    folder = DATA / tool
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(pattern) if path.is_file())
