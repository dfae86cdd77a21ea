"""Run the program that sets reports (`program`): neither its fonts nor its memory come into this process."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings

from apps.bench import strict_json
from apps.bench.text import Message, _
from apps.core import programs, scratch
from apps.reports.files.base import RenderingError

TIME_LIMIT_S = 300
# Twice what the largest table takes (pdf.MOST_CELLS): what is made to devour memory ends here, and not the machine.
MEMORY_BYTES = 3 * 1024**3
_POLL_S = 0.1
# What a program says that is given no more memory.
_NO_MEMORY = ("memory allocation of", "MemoryError", "Cannot allocate memory")


def run(request: dict[str, Any], sign: Callable[[float], None], expected_s: float = 1.0) -> None:
    """Have a request carried out; RenderingError if it fails or takes too long, ProgramLostError if it is killed.

    `sign` is called now and then with the share that should be done by then, if it takes as long as expected.
    """
    with scratch.new_file() as log, scratch.new_file() as request_file:
        request_file.write(strict_json.dumps({**request, "memory": MEMORY_BYTES}).encode())
        request_file.seek(0)
        with subprocess.Popen(
            [sys.executable, "-m", "apps.reports.files.program"],
            stdin=request_file,
            stdout=subprocess.DEVNULL,
            stderr=log,
            cwd=settings.BASE_DIR,
            # Nothing of the service's own environment is needed: no database, no secrets.
            env={"PATH": os.environ.get("PATH", "")},
        ) as program:
            started = time.monotonic()
            try:
                while program.poll() is None and (elapsed := time.monotonic() - started) < TIME_LIMIT_S:
                    # Never quite done, however long it takes: half of what is left in each such time.
                    sign(1 - 0.5 ** (elapsed / max(expected_s / 2, 0.1)))
                    time.sleep(_POLL_S)
            finally:
                is_late = program.poll() is None
                program.kill()
        if not is_late:
            programs.require_not_lost(program.returncode)
        if program.returncode:
            why = programs.reason_of(program.returncode, log)
            raise RenderingError(_reason(why, is_late=is_late), why)


def _reason(why: str, *, is_late: bool) -> Message:
    """Return what is said to whoever asked for the file."""
    if is_late:
        text = _(
            "Setting the report took longer than %(seconds)s s: leave parts out, or shorten its texts and tables."
        )
        return Message(text, {"seconds": TIME_LIMIT_S})
    if any(text in why for text in _NO_MEMORY):
        text = _(
            "Setting the report needs more memory than there is: leave parts out, or shorten its texts and tables."
        )
        return Message(text)
    return Message(_("The report could not be set; the service's log says why."))
