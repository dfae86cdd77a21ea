"""A thousand simulated agents: the web server's memory, and trials carried out per second beside bare Celery."""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.bare_celery import app, do_nothing
from benchmarks.figures import Figure
from benchmarks.stack import BenchmarkError, Stack

Json = dict[str, Any]
PAIRS, TRIALS_PER_PAIR = 500, 20
WARM_UP_S, WINDOW_S = 25.0, 15.0
NO_OPS = 3000
SETTLE_S = 4.0
PATIENCE_S = 60.0


def measure(stack: Stack) -> Iterator[Figure]:
    """Yield the memory with 1,000 idle agents, then the trials per second when all have work."""
    crowd = json.loads(module_output(stack, "benchmarks.crowd", str(PAIRS), str(TRIALS_PER_PAIR)))
    bare = bare_tasks_per_second(stack)
    before = resident_bytes(stack.running.supervisor.pids()["web"])
    with agents_at(stack, crowd["tokens"]):
        # Their heartbeats are to be written, so that all nodes are ready.
        time.sleep(SETTLE_S)
        with_agents = resident_bytes(stack.running.supervisor.pids()["web"])
        compared = "the same process with none"
        count = len(crowd["tokens"])
        yield Figure(
            f"memory (RSS) of the web server with {count} idle agents",
            with_agents / 1e6, "MB", compared, before / 1e6, "below 200 MB",
        )  # fmt: skip
        rate, note = trials_per_second(stack, crowd["campaign"])
    yield Figure(
        f"trials carried out with {count} simulated agents", rate, "per s", "bare Celery tasks that do nothing", bare,
        note=note,
    )  # fmt: skip


def measure_expansion(stack: Stack) -> Iterator[Figure]:
    """Yield the time (s) that an experiment of 10,000 points takes to be expanded, validated and estimated."""
    times = json.loads(module_output(stack, "benchmarks.expansion"))
    yield Figure(
        f"expansion of {times['points']} points (expanded, validated, estimated: the preview)", times["checked"], "s",
        "a plain loop over itertools.product", times["loop"], "below 3 s",
    )  # fmt: skip


def measure_comparison(stack: Stack) -> Iterator[Figure]:
    """Yield the time (s) that the page takes which compares two campaigns of 3,000 points, each measured thrice."""
    comparison = json.loads(module_output(stack, "benchmarks.comparison"))
    slow = statistics.quantiles(comparison["page"], n=20, method="inclusive")[-1]
    yield Figure(
        f"page that compares two campaigns of {comparison['points']:,} points, 95th percentile", slow, "s",
        "reading the same samples and taking their means", comparison["plain"], "below 1 s",
        note=f"{comparison['queries']} queries, median {statistics.median(comparison['page']):.3g} s",
    )  # fmt: skip


def module_output(stack: Stack, module: str, *arguments: str) -> str:
    """Run a module of ours with the service's environment and return what it prints."""
    environment = {**os.environ, **stack.running.env}
    argv = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchmarkError(f"{module} failed:\n{done.stderr.strip()[-2000:]}")
    return done.stdout


@contextlib.contextmanager
def agents_at(stack: Stack, tokens: list[str]) -> Iterator[None]:
    """Have simulated agents poll the service, in a process of their own."""
    argv = [sys.executable, "-m", "benchmarks.simulated_agents", stack.running.address]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdin and process.stdout
            process.stdin.write("\n".join(tokens))
            process.stdin.close()
            if process.stdout.readline().strip() != "polling":
                raise BenchmarkError("The simulated agents could not poll.")
            yield
            if process.poll() is not None:
                raise BenchmarkError(f"The simulated agents ended: exit status {process.returncode}.")
        finally:
            process.kill()


def trials_per_second(stack: Stack, campaign: int) -> tuple[float, str]:
    """Launch the crowd's campaign; return its trials done per second once every pair has begun, and how many."""
    stack.api.post(f"campaigns/{campaign}/launch/")
    began = time.monotonic()
    while _begun(progress := _progress(stack, campaign)) < PAIRS and time.monotonic() < began + WARM_UP_S:
        time.sleep(0.5)
    first, started = progress["succeeded"], time.monotonic()
    time.sleep(WINDOW_S)
    progress = _progress(stack, campaign)
    done, elapsed = progress["succeeded"] - first, time.monotonic() - started
    if progress["failed"]:
        raise BenchmarkError(f"Simulated trials failed: {progress}")
    if progress["succeeded"] < progress["total"]:
        stack.api.post(f"campaigns/{campaign}/cancel/")
    return done / elapsed, f"{done} trials in {elapsed:.0f} s, after {started - began:.0f} s to begin on every pair"


def _progress(stack: Stack, campaign: int) -> Json:
    progress: Json = stack.api.get(f"campaigns/{campaign}/")["progress"]
    return progress


def _begun(progress: Json) -> int:
    return sum(progress[state] for state in ("running", "succeeded", "failed"))


def bare_tasks_per_second(stack: Stack) -> float:
    """Return how many tasks that do nothing a worker like the service's takes per second, sending them included."""
    app.conf.broker_url = _broker(stack.running.env["REDIS_URL"])
    argv = [sys.executable, "-m", "celery", "-A", "benchmarks.bare_celery", "worker", "--concurrency=2"]
    argv += ["--prefetch-multiplier=1", "--hostname=bare@localhost", "--loglevel=ERROR"]
    environment = {**os.environ, "BARE_BROKER": app.conf.broker_url}
    worker = subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while _tasks_done(deadline) is None:
            pass
        started = time.monotonic()
        for _number in range(NO_OPS):
            do_nothing.delay()
        deadline = started + PATIENCE_S
        while (_tasks_done(deadline) or 0) < NO_OPS:
            time.sleep(0.02)
        return NO_OPS / (time.monotonic() - started)
    finally:
        worker.terminate()
        worker.wait()
        app.close()


def _tasks_done(deadline: float) -> int | None:
    """Return how many tasks the bare worker has taken; None if it does not answer yet."""
    if time.monotonic() > deadline:
        raise BenchmarkError("The bare Celery worker did not do its tasks in time.")
    answer = app.control.inspect(destination=["bare@localhost"], timeout=1.0).stats()
    return sum(answer["bare@localhost"]["total"].values()) if answer else None


def _broker(redis_url: str) -> str:
    """Return the service's Redis as Celery names it, in a database of its own."""
    base = redis_url.partition("?")[0].replace("unix://", "redis+socket://")
    return base + "?virtual_host=1"


def resident_bytes(pid: int) -> int:
    """Return the memory (bytes) of a process that is in RAM (proc(5): VmRSS, in KiB)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")))
