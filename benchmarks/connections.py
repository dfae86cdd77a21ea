"""How many connections to the database the web process takes for what it answers, beside one without a pool."""

import contextlib
import http.client
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import psycopg

from benchmarks.figures import Figure
from benchmarks.stack import BenchmarkError, Stack
from launch import ports, service

CLIENTS, SECONDS = 32, 6.0
PATH = "/api/v1/sites/"
LOOK_EVERY_S = 0.05
# The name under which each of the two is known to the database.
_POOLED, _PLAIN = "fathom web", "plain web"


def measure(stack: Stack) -> Iterator[Figure]:
    """Yield the connections for each 100 requests/s of a REST list, and the rate, of 32 clients that ask at once."""
    url = urlsplit(stack.running.address)
    pooled, rate = backends_and_rate(stack, url.port or 80, _POOLED)
    with plain_web(stack) as port:
        plain, plain_rate = backends_and_rate(stack, port, _PLAIN)
    compared = "the same process with a connection for each request"
    yield Figure(
        "connections of the web process per 100 requests/s", 100 * pooled / rate, "connections", compared,
        100 * plain / plain_rate, "at most 20 in all",
        note=f"{pooled} at most, of 32 clients at once; {plain} without",
    )  # fmt: skip
    yield Figure("requests answered, 32 clients at once", rate, "per s", compared, plain_rate)


def backends_and_rate(stack: Stack, port: int, name: str) -> tuple[int, float]:
    """Return how many connections a program had at most while clients asked, and how many requests it answered per s.

    BenchmarkError if one was not answered with 200.
    """
    headers = {"Authorization": f"Bearer {stack.api.token}"}
    ends_at = time.monotonic() + SECONDS
    with _watching(stack, name) as seen, ThreadPoolExecutor(CLIENTS) as clients:
        began = time.monotonic()
        answered = sum(clients.map(lambda _client: _ask_until(ends_at, port, headers), range(CLIENTS)))
        elapsed = time.monotonic() - began
    return max(seen), answered / elapsed


@contextlib.contextmanager
def plain_web(stack: Stack) -> Iterator[int]:
    """Serve the same application without a pool, and give the port."""
    (listener,) = ports.open_sockets([service.LOOPBACK], None)
    port: int = listener.getsockname()[1]
    argv = [sys.executable, "-m", "uvicorn", "apps.config.asgi:application", "--fd", str(listener.fileno())]
    environment = {**os.environ, **stack.running.env, "PGAPPNAME": _PLAIN}
    process = subprocess.Popen(
        argv, env=environment, pass_fds=[listener.fileno()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        # It answers once it has started; until then the request waits in the socket.
        _ask_until(time.monotonic(), port, {"Authorization": f"Bearer {stack.api.token}"})
        yield port
    finally:
        process.terminate()
        process.wait()
        listener.close()


def _ask_until(ends_at: float, port: int, headers: dict[str, str]) -> int:
    client = http.client.HTTPConnection(service.LOOPBACK, port, timeout=60)
    answered = 0
    while answered == 0 or time.monotonic() < ends_at:
        client.request("GET", PATH, headers=headers)
        answer = client.getresponse()
        answer.read()
        if answer.status != 200:
            raise BenchmarkError(f"{PATH} was answered with {answer.status}.")
        answered += 1
    client.close()
    return answered


@contextlib.contextmanager
def _watching(stack: Stack, name: str) -> Iterator[list[int]]:
    seen = [0]
    ended = threading.Event()

    def look() -> None:
        with psycopg.connect(stack.running.env["DATABASE_URL"], autocommit=True) as asking:
            while not ended.wait(LOOK_EVERY_S):
                row = asking.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [name])
                seen.append(int((row.fetchone() or [0])[0]))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        ended.set()
        watcher.join()
