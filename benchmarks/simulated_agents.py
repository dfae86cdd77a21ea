"""Many agents in one process, speaking the agents' real HTTP; their tool answers at once with a recorded ping.

python -m benchmarks.simulated_agents URL < tokens; a line "polling" says that all have asked for work.
"""

import asyncio
import base64
import json
import resource
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]
RECORDING = Path(__file__).with_name("ping.txt")
VERSION = "1.0"
# The clock is the server's own.
CLOCK = {"offset_s": 0.0, "error_s": 0.001}
# New connections at a time, so that none is refused.
AT_ONCE = 50


class Refused(RuntimeError):
    """An answer other than 2xx."""


class Connection:
    """One kept-alive HTTP connection of an agent, opened again when the server has closed it while it was idle."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._head = f"Host: {parts.netloc}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: Json) -> Json:
        """Return the answer to a POST below /agent/v1/; Refused unless it is 2xx."""
        data = json.dumps(body).encode()
        head = f"POST /agent/v1/{path} HTTP/1.1\r\n{self._head}Content-Length: {len(data)}\r\n\r\n"
        is_kept = self._streams is not None
        try:
            return await self._exchange(head.encode() + data)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            if not is_kept:
                raise
        return await self._exchange(head.encode() + data)

    def close(self) -> None:
        """Close the connection."""
        if self._streams:
            self._streams[1].close()
        self._streams = None

    async def _exchange(self, request: bytes) -> Json:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        writer.write(request)
        status, *headers = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        length = next(int(line.partition(":")[2]) for line in headers if line.lower().startswith("content-length:"))
        text = await reader.readexactly(length)
        if not status.split()[1].startswith("2"):
            raise Refused(f"{status}: {text.decode(errors='replace')}")
        answer: Json = json.loads(text)
        return answer


class SimulatedAgent:
    """One agent: a poll that is always open, and reports on a connection of their own."""

    def __init__(self, url: str, token: str, printed: bytes) -> None:
        self._polls, self._reports = Connection(url, token), Connection(url, token)
        self._stdout, self._nothing = (base64.b64encode(zlib.compress(text)).decode() for text in (printed, b""))
        self._stdout_bytes = len(printed)
        self._held: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def poll_once(self) -> list[str]:
        """Ask for work, begin what comes, and return the ids of the jobs."""
        answer = await self._polls.post(
            "poll", {"held": sorted(self._held), "stopping": [], "clock": CLOCK, "version": VERSION}
        )
        fresh = [str(job["id"]) for job in answer["jobs"] if job["id"] not in self._held]
        if fresh:
            self._held.update(fresh)
            task = asyncio.create_task(self._carry_out(fresh))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return fresh

    async def finish(self) -> None:
        """Wait until everything begun is reported."""
        await asyncio.gather(*self._tasks)

    def close(self) -> None:
        """Close the connections."""
        self._polls.close()
        self._reports.close()

    async def _carry_out(self, jobs: Sequence[str]) -> None:
        """Report the start and the end of each job, as a real agent does."""
        for job in jobs:
            started = {"started_at": time.time(), "clock": CLOCK}
            await self._reports.post(f"jobs/{job}/events", {"event": "started", **started})
            ended = {"ended_at": time.time(), "exit_code": 0, "stdout": self._stdout, "stderr": self._nothing}
            sizes = {"stdout_bytes": self._stdout_bytes, "stderr_bytes": 0}
            await self._reports.post(f"jobs/{job}/events", {"event": "finished", **started, **ended, **sizes})
            self._held.discard(job)


async def run(url: str, tokens: Sequence[str]) -> None:
    """Have an agent for each token work until the process is ended."""
    printed = RECORDING.read_bytes()
    gate = asyncio.Semaphore(AT_ONCE)

    async def work(token: str) -> None:
        agent = SimulatedAgent(url, token, printed)
        async with gate:
            # The first poll waits at the server; the next agent need not wait for its answer.
            poll = asyncio.create_task(agent.poll_once())
            await asyncio.sleep(0.1)
        entered.append(token)
        if len(entered) == len(tokens):
            print("polling", flush=True)
        while True:
            await poll
            poll = asyncio.create_task(agent.poll_once())

    entered: list[str] = []
    await asyncio.gather(*(work(token) for token in tokens))


if __name__ == "__main__":
    # Two connections an agent; 1024 is a common default.
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    asyncio.run(run(sys.argv[1], sys.stdin.read().split()))
