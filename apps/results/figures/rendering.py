"""Draw a chart by the figure program: numpy and matplotlib never come into this process."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

from django.conf import settings

from apps.results.figures.checking import check_chart

TYPES = {"png": "image/png", "svg": "image/svg+xml"}
# Drawing takes a second or two of one core; more than so many at once would only be slower together.
AT_ONCE = 2
WAIT_S = 30
TIME_LIMIT_S = 60
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
    checked = check_chart(chart)
    if not _slots.acquire(timeout=WAIT_S):
        raise FiguresBusy
    try:
        return _draw(json.dumps({"chart": checked, "ending": ending}).encode())
    finally:
        _slots.release()


def _draw(request: bytes) -> bytes:
    cache = Path(settings.VAR_DIR) / "cache" / "figures"
    cache.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "apps.results.figures.program"],
            input=request,
            capture_output=True,
            timeout=TIME_LIMIT_S,
            check=False,
            cwd=settings.BASE_DIR,
            # Nothing of the service's own environment is needed: no database, no secrets.
            env={"PATH": os.environ.get("PATH", ""), "MPLCONFIGDIR": str(cache), "OPENBLAS_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise FigureError(f"the figure took longer than {TIME_LIMIT_S} s") from error
    if done.returncode or not done.stdout:
        raise FigureError(done.stderr.decode(errors="replace")[-2000:])
    return done.stdout
