"""Recorded outputs of real programs, as the executor would hand them to a parser."""

import pathlib
import re
import shlex

from apps.bench import tools
from apps.bench.toolkit import Output

DATA = pathlib.Path(__file__).parents[2] / "data"


PROGRAMS = {program for tool in tools.all_tools() for program in tool.programs}
EXIT = re.compile(rb"(?P<stdout>.*?)\[exit (?P<code>\d+)\]\n(?:--- stderr:\n(?P<stderr>.*))?", re.DOTALL)


def load(tool: str, name: str, role: str = "") -> Output:
    """Return a recording as the output of a role, the tool's first one if none is named.

    A recording is ``$ command``, what it printed, ``[exit N]`` and, if it was kept apart, ``--- stderr:``; one whose
    name ends in .json, .csv or .bin is what the command printed, and nothing else. Older ones lack command or status.
    """
    raw = (DATA / tool / name).read_bytes()
    role = role or tools.get(tool).roles[0].name
    if name.endswith((".json", ".csv", ".bin")):
        argv = ("iperf3", "-c", "10.9.0.2", "-J") if tool.startswith("iperf3") else ()
        return Output(role, "measure", "north", argv, raw, b"", 0)
    command, rest = raw.split(b"\n", 1) if raw.startswith(b"$ ") else (b"", raw)
    match = EXIT.fullmatch(rest)
    if match is None:
        return Output(role, "measure", "north", tuple(shlex.split(command.decode())[1:]), rest, b"", 0)
    words = shlex.split(command.decode().removeprefix("$ "))
    start = next((i for i, word in enumerate(words) if pathlib.PurePath(word).name in PROGRAMS), 0)
    stderr = match["stderr"] or b""
    return Output(role, "measure", "north", tuple(words[start:]), match["stdout"], stderr, int(match["code"]))


def names(tool: str, pattern: str = "*") -> list[str]:
    """Return the names of a tool's recordings, those in folders included."""
    folder = DATA / tool
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(pattern) if path.is_file())
