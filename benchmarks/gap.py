"""The gap between measurements on the same nodes, beside that of a shell loop over the same commands."""

import itertools
import shlex
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from benchmarks.figures import Figure
from benchmarks.stack import Stack

Json = dict[str, Any]
TRIALS = {"ping": 30, "iperf3-tcp": 10}
FIXED = {"ping": {"count": "2", "interval": "0.2 s"}, "iperf3-tcp": {"duration": "1 s", "omit": "0 s"}}


def measure(stack: Stack, nodes: dict[str, int]) -> Iterator[Figure]:
    """Yield the gaps of ping, whose trials are one command, and of iperf3, where a server starts first."""
    first, second = nodes.values()
    roles = [{"role": "client", "node": first}, {"role": "server", "node": second}]
    for tool, count in TRIALS.items():
        body = {"name": tool, "tool": tool, "roles": roles, "fixed": FIXED[tool], "repetitions": count}
        jobs = stack.carry_out(f"Gap of {tool}", body)
        gaps = gaps_of([(_seconds(job["started_at"]), _seconds(job["ended_at"])) for job in jobs])
        alone = gaps_of(loop([job["argv"] for job in jobs]))
        median, loop_median = 1e3 * statistics.median(gaps), 1e3 * statistics.median(alone)
        compared = "a shell loop over the same commands"
        yield Figure(f"gap between trials, {tool}, median", median, "ms", compared, loop_median, "at most 100 ms")
        yield Figure(f"gap between trials, {tool}, p95", 1e3 * p95(gaps), "ms", compared, 1e3 * p95(alone))


def gaps_of(times: Sequence[tuple[float, float]]) -> list[float]:
    """Return the time (s) between each measurement's end and the next one's start, of [(start, end)] (s)."""
    return [after[0] - before[1] for before, after in itertools.pairwise(times)]


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile, between the two values that are nearest."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def loop(commands: Sequence[Sequence[str]]) -> list[tuple[float, float]]:
    """Run commands one after the other in one shell and return the start and end (s) of each.

    An iperf3 client finds a server that stays up for the whole loop.
    """
    lines = (f"date +%s.%N; {shlex.join(argv)} >/dev/null; date +%s.%N" for argv in commands)
    server = _server_for(commands[0])
    try:
        done = subprocess.run(["sh", "-c", "\n".join(lines)], capture_output=True, text=True, check=True)  # noqa: S607
    finally:
        if server:
            server.terminate()
            server.wait()
    stamps = [float(line) for line in done.stdout.split()]
    return list(zip(stamps[::2], stamps[1::2], strict=True))


def _server_for(argv: Sequence[str]) -> subprocess.Popen[str] | None:
    """Start the server that an iperf3 client's argv calls, and wait until it listens; None for other programs."""
    if argv[0] != "iperf3":
        return None
    address, port = argv[argv.index("-c") + 1], argv[argv.index("-p") + 1] if "-p" in argv else "5201"
    command = ["iperf3", "-s", "-B", address, "-p", port, "--forceflush"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout
    while "listening" not in (line := server.stdout.readline()):
        if not line:
            raise RuntimeError(f"{shlex.join(command)} ended: status {server.wait()}")
    return server


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
