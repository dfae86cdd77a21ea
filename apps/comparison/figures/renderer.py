"""Draw a chart by the figure program: numpy and matplotlib never come into this process."""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import IO

from django.conf import settings

from apps.bench import strict_json
from apps.comparison.figures.checks import check_chart
from apps.core import programs, scratch
from apps.core.limits.fair_places import FairPlaces, Owners

TYPES = {"png": "image/png", "svg": "image/svg+xml"}
# Drawing takes a second or two of one core; more than so many at once would only be slower together.
AT_ONCE = 2
WAIT_S = 30
# What one figure takes of a processor at most (s): of two that take most, others wait no longer than WAIT_S.
DRAWING_S = 10.0
# The program has so long to load, and to draw each figure, on a machine that is busy with other work, too.
TIME_LIMIT_S = 60
MORE_EACH_S = 20
# Before each figure its length (bytes).
LENGTH_BYTES = 8
_places = FairPlaces(AT_ONCE, wait_s=WAIT_S)
# A worker draws for whoever has its turn.
_WORKER = Owners("")


class FigureError(Exception):
    """The figure could not be drawn; the log says why."""


class FigureTooLarge(FigureError):
    """The figure takes more of a processor, or of memory, than one may."""


def render(chart: object, ending: str, *, owners: Owners = _WORKER) -> bytes:
    """Return the figure of a chart's JSON, `ending` "png" or "svg".

    ChartError (of `checking`) if the data is no chart, PlacesTakenError if no place is free for WAIT_S,
    FigureTooLarge if it is too much for one figure, FigureError if the program failed, outage.Busy if it was killed
    each time.
    """

    def draw() -> bytes:
        with contextlib.closing(render_each([chart], ending, owners=owners)) as figures:
            return next(figures)

    return programs.persist(draw)


def render_each(charts: Sequence[object], ending: str, *, owners: Owners = _WORKER) -> Generator[bytes]:
    """Yield the figures of many charts, in their order, all drawn by one program.

    Errors are those of `render`, but ProgramLostError if the program was killed.
    """
    checked = [check_chart(chart) for chart in charts]
    if not checked:
        return
    with _places.turn(owners), scratch.new_file() as requests, scratch.new_file() as log:
        for chart in checked:
            wish = {"chart": chart, "ending": ending, "most_s": DRAWING_S}
            requests.write(strict_json.dumps(wish).encode() + b"\n")
        requests.seek(0)
        yield from _draw(requests, log, len(checked))


def _draw(requests: IO[bytes], log: IO[bytes], count: int) -> Generator[bytes]:
    limit_s = TIME_LIMIT_S + MORE_EACH_S * (count - 1)
    with _started(requests, log) as program:
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            program.kill()

        # Nothing interrupts a read but the end of the program.
        watchdog = threading.Timer(limit_s, end)
        watchdog.start()
        try:
            assert program.stdout
            for _number in range(count):
                length = program.stdout.read(LENGTH_BYTES)
                if len(length) == LENGTH_BYTES and not int.from_bytes(length):
                    raise FigureTooLarge(f"more than {DRAWING_S:g} s of a processor, or too much memory")
                figure = program.stdout.read(int.from_bytes(length))
                if len(length) < LENGTH_BYTES or len(figure) < int.from_bytes(length):
                    status = program.wait()
                    if is_late.is_set():
                        raise FigureTooLarge(f"the figures took longer than {limit_s:g} s")
                    programs.require_not_lost(status)
                    raise FigureError(programs.reason_of(status, log))
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
