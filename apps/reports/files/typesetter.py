"""Run the program that sets reports (`program`): neither its fonts nor its memory come into this process."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings

from apps.bench.text import Message, _
from apps.core import scratch
from apps.reports.files.base import RenderingError

TIME_LIMIT_S = 300
_POLL_S = 0.1


def run(request: dict[str, Any], sign: Callable[[float], None], expected_s: float = 1.0) -> None:
    """Have a request carried out; RenderingError if it fails or takes too long.

    `sign` is called now and then with the share that should be done by then, if it takes as long as expected.
    """
    with scratch.new_file() as log, scratch.new_file() as given:
        given.write(json.dumps(request).encode())
        given.seek(0)
        with subprocess.Popen(
            [sys.executable, "-m", "apps.reports.files.program"],
            stdin=given,
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
                program.kill()
        if program.returncode:
            log.seek(0)
            why = log.read().decode(errors="replace")[-2000:] or f"the program ended with {program.returncode}"
            raise RenderingError(Message(_("The report could not be set; the service's log says why.")), why)
