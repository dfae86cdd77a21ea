"""The rate that Fathom measures over the emulated link, beside the same iperf3 commands typed by hand in between."""

import json
import shlex
import statistics
import subprocess
from collections.abc import Iterator
from typing import Any

from benchmarks.figures import Figure
from benchmarks.stack import BenchmarkError, Stack
from launch.demo.ground import Ground, Place

Json = dict[str, Any]
TURNS = 5
FIXED = {"window": "4 MiB", "duration": "2 s", "omit": "1 s"}


def measure(stack: Stack, place: Ground, nodes: dict[str, int]) -> Iterator[Figure]:
    """Yield the rate of an iperf3 measurement (bit/s, the receiver's)."""
    pair = {"client": place.client, "server": place.server}
    roles = [{"role": role, "node": nodes[who.name]} for role, who in pair.items()]
    body = {"name": "rate", "tool": "iperf3-tcp", "roles": roles, "fixed": FIXED, "repetitions": 1}
    through, by_hand = [], []
    for turn in range(TURNS):
        (job,) = stack.carry_out(f"Rate {turn}", body)
        (result,) = stack.api.every(f"results/?run={job['run_ref']}")
        through.append(next(one["value"] for one in result["samples"] if one["metric"] == "goodput"))
        jobs = {one["role"]: one["argv"] for one in stack.api.every(f"jobs/?run={job['run_ref']}")}
        by_hand.append(type_commands(pair, jobs))
    ours, theirs = statistics.median(through) / 1e6, statistics.median(by_hand) / 1e6
    yield Figure(
        "rate of iperf3 over the emulated link, through Fathom", ours, "Mbit/s",
        "the same commands typed by hand, in turn", theirs, "ratio within 2 % of 1", f"medians of {TURNS}",
    )  # fmt: skip


def type_commands(pair: dict[str, Place], commands: dict[str, list[str]]) -> float:
    """Run a server's and a client's argv on their nodes and return the rate (bit/s) that the receiver saw."""
    argv = {role: [*who.prefix, *commands[role]] for role, who in pair.items()}
    with subprocess.Popen(argv["server"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout
            while "listening" not in (line := server.stdout.readline()):
                if not line:
                    raise BenchmarkError(f"{shlex.join(argv['server'])} ended at once.")
            done = subprocess.run(argv["client"], capture_output=True, text=True, check=False, timeout=60)
        finally:
            server.terminate()
    report: Json = json.loads(done.stdout)
    if done.returncode or "error" in report:
        raise BenchmarkError(f"{shlex.join(argv['client'])}: {report.get('error', done.stderr)}")
    return float(report["end"]["sum_received"]["bits_per_second"])
