"""Draw a chart by the figure program: numpy and matplotlib never come into this process."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import IO

from django.conf import settings

from apps.comparison.figures.checks import check_chart
from apps.core import scratch

TYPES = {"png": "image/png", "svg": "image/svg+xml"}
# Drawing takes a second or two of one core; more than so many at once would only be slower together.
AT_ONCE = 2
WAIT_S = 30
# The program has so long to load, and to draw each figure.
TIME_LIMIT_S = 60
MORE_EACH_S = 10
# Before each figure its length (bytes).
LENGTH_BYTES = 8
_slots = threading.BoundedSemaphore(AT_ONCE)


class FigureError(Exception):
    """The figure could not be drawn; the log says why."""


class FiguresBusy(Exception):
    """Too many figures are being drawn at this moment."""


def render(chart: object, ending: str) -> bytes:
    """Return the figure of a chart's JSON, `ending` "png" or "svg".

    ChartError (of `checking`) if the data is no chart, FiguresBusy if no slot is free for WAIT_S, FigureError if the
    program failed.
    """
    with contextlib.closing(render_each([chart], ending)) as figures:
        return next(figures)


def render_each(charts: Sequence[object], ending: str) -> Generator[bytes]:
    """Yield the figures of many charts, in their order, all drawn by one program; errors are those of `render`."""
    checked = [check_chart(chart) for chart in charts]
    if not checked:
        return
    if not _slots.acquire(timeout=WAIT_S):
        raise FiguresBusy
    try:
        with scratch.new_file() as requests, scratch.new_file() as log:
            for chart in checked:
                requests.write(json.dumps({"chart": chart, "ending": ending}).encode() + b"\n")
            requests.seek(0)
            yield from _draw(requests, log, len(checked))
    finally:
        _slots.release()


def _draw(requests: IO[bytes], log: IO[bytes], count: int) -> Generator[bytes]:
    limit_s = TIME_LIMIT_S + MORE_EACH_S * (count - 1)
    with _started(requests, log) as program:
        # Nothing interrupts a read but the end of the program.
        watchdog = threading.Timer(limit_s, program.kill)
        watchdog.start()
        try:
            assert program.stdout
            for _number in range(count):
                length = program.stdout.read(LENGTH_BYTES)
                figure = program.stdout.read(int.from_bytes(length))
                if len(length) < LENGTH_BYTES or len(figure) < int.from_bytes(length):
                    raise FigureError(_reason(program, log, limit_s if watchdog.finished.is_set() else None))
                yield figure
        finally:
            watchdog.cancel()
            program.kill()


def _started(requests: IO[bytes], log: IO[bytes]) -> subprocess.Popen[bytes]:
    cache = Path(settings.VAR_DIR) / "cache" / "figures"
    cache.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "apps.comparison.figures.program"],
        stdin=requests,
        stdout=subprocess.PIPE,
        stderr=log,
        cwd=settings.BASE_DIR,
        # Nothing of the service's own environment is needed: no database, no secrets.
        env={"PATH": os.environ.get("PATH", ""), "MPLCONFIGDIR": str(cache), "OPENBLAS_NUM_THREADS": "1"},
    )


def _reason(program: subprocess.Popen[bytes], log: IO[bytes], limit_s: float | None) -> str:
    if limit_s is not None:
        return f"the figures took longer than {limit_s:g} s"
    program.wait()
    log.seek(0)
    return log.read().decode(errors="replace")[-2000:] or f"the program ended with {program.returncode}"
