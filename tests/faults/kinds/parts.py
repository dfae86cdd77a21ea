"""Faults of the service's parts: killed, paused, restarted; of the broker's data, and of the supervisor."""

import os
import shutil
import signal
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.faults.site import Site
from tests.launch.watching import wait_for

WORKERS = ("worker", "worker-clock", "worker-long")
_PAUSE_S = (2.0, 15.0)
# A report is asked for again and again.
_PROGRAM_WITHIN_S = 20.0


def kill_web(site: Site, draw: Random) -> Iterator[str]:
    """End the web server, to which the agents report."""
    yield from _kill(site, "web")


def kill_worker(site: Site, draw: Random) -> Iterator[str]:
    """End one of the workers with its children."""
    yield from _kill(site, draw.choice(WORKERS))


def kill_worker_child(site: Site, draw: Random) -> Iterator[str]:
    """End a process of a worker in the middle of its task."""
    children = _family(site.pid(draw.choice(WORKERS)))[1:]
    _signal(draw.sample(children, min(1, len(children))), signal.SIGKILL)
    yield ""


def kill_program(site: Site, draw: Random) -> Iterator[str]:
    """End a program that a worker has started to draw, or to set a report, as soon as there is one."""
    programs: list[int] = []

    def is_there() -> bool:
        programs[:] = [pid for pid in _family(site.pid("worker-long")) if b".program\0" in _command_line(pid)]
        return bool(programs)

    wait_for(is_there, _PROGRAM_WITHIN_S)
    _signal(programs, signal.SIGKILL)
    yield ""
    return f"{len(programs)} programs"


def kill_beat(site: Site, draw: Random) -> Iterator[str]:
    """End the timetable."""
    yield from _kill(site, "beat")


def kill_postgres(site: Site, draw: Random) -> Iterator[str]:
    """End PostgreSQL, or one of its backends, which has it end all others."""
    family = _family(site.pid("postgres"))
    _signal([draw.choice(family)], signal.SIGKILL)
    yield ""


def kill_valkey(site: Site, draw: Random) -> Iterator[str]:
    """End the broker."""
    yield from _kill(site, "valkey")


def wipe_valkey(site: Site, draw: Random) -> Iterator[str]:
    """End the broker and lose all that it held."""
    _signal([site.pid("valkey")], signal.SIGKILL)
    for path in (site.var / "valkey").iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix != ".log":
            path.unlink(missing_ok=True)
    site.pid("valkey")
    yield ""


def damage_valkey(site: Site, draw: Random) -> Iterator[str]:
    """End the broker and leave zeros behind what it wrote, as some file systems do after a power cut."""
    with site.service:
        _signal([site.pid("valkey")], signal.SIGKILL)
        for path in (site.var / "valkey" / "appendonlydir").glob("*.incr.aof"):
            # A disk that another fault has filled holds no zeros more.
            with suppress(OSError), path.open("ab") as file:
                file.write(b"\0" * draw.choice((64, 4096)))
        site.pid("valkey")
    yield ""


def pause_web(site: Site, draw: Random) -> Iterator[str]:
    """Stop the web server for some seconds."""
    yield from _pause(site, "web", draw)


def pause_worker(site: Site, draw: Random) -> Iterator[str]:
    """Stop one of the workers and its children for some seconds."""
    yield from _pause(site, draw.choice(WORKERS), draw)


def pause_beat(site: Site, draw: Random) -> Iterator[str]:
    """Stop the timetable for some seconds."""
    yield from _pause(site, "beat", draw)


def pause_postgres(site: Site, draw: Random) -> Iterator[str]:
    """Stop PostgreSQL and all its backends for some seconds."""
    yield from _pause(site, "postgres", draw)


def pause_valkey(site: Site, draw: Random) -> Iterator[str]:
    """Stop the broker for some seconds."""
    yield from _pause(site, "valkey", draw)


def restart_part(site: Site, draw: Random) -> Iterator[str]:
    """Ask one of the parts to end; the supervisor starts it again."""
    part = draw.choice(("web", *WORKERS, "beat", "postgres", "valkey"))
    _signal([site.pid(part)], signal.SIGTERM)
    yield ""


def kill_supervisor(site: Site, draw: Random) -> Iterator[str]:
    """End the supervisor, which takes all else with it, and start the service again."""
    site.start_again(signal.SIGKILL)
    yield ""


def restart_service(site: Site, draw: Random) -> Iterator[str]:
    """Stop the service in order and start it again."""
    site.start_again(signal.SIGINT)
    yield ""


def set_server_clock(site: Site, draw: Random) -> Generator[str, None, str]:
    """Set the server's clock ahead or back for a while, or for two seconds by mistake, and set it right again."""
    assert site.clock is not None
    by_s, held_s = draw.choice((45, -45, 7200, -7200)), draw.choice((2.0, draw.uniform(8, 20)))
    site.clock.set(by_s)
    try:
        yield ""
        time.sleep(held_s)
    finally:
        site.clock.set(0)
    return f"{by_s:+} s"


def _kill(site: Site, part: str) -> Iterator[str]:
    pid = site.pid(part)
    _signal([pid], signal.SIGKILL)
    yield ""


def _pause(site: Site, part: str, draw: Random) -> Iterator[str]:
    family = _family(site.pid(part))
    _signal(family, signal.SIGSTOP)
    try:
        yield ""
        time.sleep(draw.uniform(*_PAUSE_S))
    finally:
        _signal(family, signal.SIGCONT)


def _family(pid: int) -> list[int]:
    """Return a process and all that descend from it, itself first."""
    family = [pid]
    for member in family:
        try:
            family += [int(word) for word in Path(f"/proc/{member}/task/{member}/children").read_text().split()]
        except OSError:
            continue
    return family


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
