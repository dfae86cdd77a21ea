"""Workers as the service starts them, on the database and the broker of a test; killed as by the kernel."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from django.db import connection

from apps.core import queue
from launch import service
from launch.home import ROOT
from workers.celery import app


def purge() -> None:
    """Take all messages out of all queues."""
    with app.connection_for_write() as broker:
        for name in (queue.SHORT, queue.CLOCK, queue.LONG):
            broker.default_channel.queue_purge(name)


def waiting_in(name: str) -> int:
    """Return how many messages wait in a queue."""
    with app.connection_for_write() as broker:
        return broker.default_channel.client.llen(name)


def start(part: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a part of the service's table, in a process group of its own; it logs to a file of the folder."""
    (folder / "var").mkdir(exist_ok=True)
    (process,) = (entry for entry in service.Service(folder / "var")._table() if entry.name == part)
    address = urlsplit(os.environ["DATABASE_URL"])
    env = {
        **os.environ,
        "DATABASE_URL": urlunsplit(address._replace(path=f"/{connection.settings_dict['NAME']}")),
        "DJANGO_SETTINGS_MODULE": "apps.config.settings.test",
        "FATHOM_VAR": str(folder),
        "FATHOM_SIGN": str(folder / f"{part}.sign"),
    }
    with (folder / f"{part}.log").open("ab") as log:
        return subprocess.Popen(
            process.argv, cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )


def children_of(process: subprocess.Popen[bytes]) -> set[int]:
    """Return the numbers of a worker's processes that carry out tasks."""
    return {int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()}


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker with its children, as nothing can be done against."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def running(part: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Give a running part, and kill it afterwards."""
    process = start(part, folder)
    try:
        yield process
    finally:
        if process.poll() is None:
            kill(process)


def seconds_until(
    is_so: Callable[[], bool], *, each: Callable[[], object] = lambda: None, limit: float = 90
) -> float:
    """Return how long it took until something is so, calling `each` between looks; AssertionError after the limit."""
    begin = time.monotonic()
    while not is_so():
        assert time.monotonic() - begin < limit
        each()
        time.sleep(0.2)
    return time.monotonic() - begin
