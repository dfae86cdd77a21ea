"""A tool of the tests' own, outside of the product, that keeps its own account of when it ran; and that account."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

CLIENT, SERVER, ALONE = "fault-client", "fault-server", "fault-alone"
BEAT_S = 0.2
# A tool that was told to go on does so for this long at most (beats).
LONGEST_BEATS = 400
# The body is a child of the process that the agent starts: it lives on when the kernel ends that one with its agent.
_SCRIPT = """#!/bin/sh
[ "$1" = --version ] && exit 0
job=${{HOME##*/}}
note() {{ at=$(date +%s.%N) && echo "$1 $job {role} {node} $at" >> {tally}; }}
body() {{
    trap "" HUP
    trap 'note stopped; exit 143' TERM
    note begin
    [ {role} = {server} ] && echo listening
    left=$1
    most={most}
    while [ "$most" -gt 0 ] && {{ [ "$left" -gt 0 ] || [ -e {hold} ]; }}; do
        sleep {beat}
        note beat
        left=$((left - 1)) most=$((most - 1))
    done
    note end
    printf 'token: %d\\n' "0x$(echo "$job" | cut -c1-7)"
}}
body "$@" &
child=$!
trap 'kill -TERM "$child"; wait "$child"' TERM
wait "$child"
"""


def token_of(job: str) -> int:
    """Return the figure that the tool prints for a job, by which its output is known wherever it gets to."""
    return int(job.replace("-", "")[:7], 16)


@dataclass
class Execution:
    """What the tool told of one job: times in s since 1970, several `begins` if it ran several times."""

    job: str
    role: str
    node: str
    begins: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    last: float = 0.0

    @property
    def span(self) -> tuple[float, float]:
        """Return from when to when it was at work for certain."""
        return (min(self.begins, default=self.last), self.last)


@dataclass(frozen=True)
class Tally:
    """The folder that the tools write their account into, each line in one piece."""

    folder: Path

    @property
    def file(self) -> Path:
        """Return the account."""
        return self.folder / "tally"

    def prepare(self) -> None:
        """Make the folder, for any user to write into."""
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self.file.touch()
        self.file.chmod(0o666)

    def install(self, node: str, place: Path) -> dict[str, str]:
        """Write a node's own tools into a folder; return {name: path}."""
        place.mkdir(parents=True)
        place.chmod(0o755)
        programs = {}
        for name, role in ((CLIENT, "client"), (SERVER, "server"), (ALONE, "alone")):
            path = place / name
            words = {"role": role, "node": node, "tally": self.file, "hold": self._hold(node)}
            path.write_text(_SCRIPT.format(**words, server="server", beat=BEAT_S, most=LONGEST_BEATS))
            path.chmod(0o755)
            programs[name] = str(path)
        return programs

    def hold(self, node: str) -> None:
        """Have the tools of a node go on until they are let go."""
        self._hold(node).touch()

    def let_go(self, node: str) -> None:
        """Let the tools of a node come to their end."""
        self._hold(node).unlink(missing_ok=True)

    def begin_anew(self) -> None:
        """Forget what was told before; no tool may be at work."""
        os.truncate(self.file, 0)

    def executions(self) -> dict[str, Execution]:
        """Return what was told of each job."""
        return read(self.file.read_text().splitlines())

    def is_alive(self, node: str, within_s: float = 5 * BEAT_S) -> bool:
        """Say whether a tool of a node gave a sign of life a moment ago."""
        return any(
            found.node == node and not found.ends and found.last > time.time() - within_s
            for found in self.executions().values()
        )

    def _hold(self, node: str) -> Path:
        return self.folder / f"hold-{node}"


def read(lines: Iterable[str]) -> dict[str, Execution]:
    """Return what the lines of an account tell of each job."""
    executions: dict[str, Execution] = {}
    for line in lines:
        what, job, role, node, text = line.split()
        at = float(text)
        execution = executions.setdefault(job, Execution(job, role, node))
        execution.last = max(execution.last, at)
        if what == "begin":
            execution.begins.append(at)
        elif what == "end":
            execution.ends.append(at)
    return executions
