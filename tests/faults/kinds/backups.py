"""Faults of a day on which the service moves: stopped, put away, and put back on the second try."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from launch.home import ROOT
from tests.faults.site import BACK_WITHIN_S, Site


def restore_backup(site: Site, draw: Random) -> Iterator[str]:
    """Stop the service, make a backup, kill its restore on the way, restore it, and start the service again."""
    file, after_s = site.root / "moved.backup", draw.uniform(0.5, 8.0)

    def move() -> None:
        _verb(site, "backup", file).communicate(timeout=BACK_WITHIN_S)
        cut = _verb(site, "restore", file)
        time.sleep(after_s)
        cut.kill()
        cut.communicate()
        whole = _verb(site, "restore", file)
        said = whole.communicate(timeout=BACK_WITHIN_S)[0]
        if whole.returncode:
            raise RuntimeError(f"the backup was not put back: {said.decode()}")
        file.unlink()

    site.start_again(signal.SIGINT, move)
    yield ""


def _verb(site: Site, verb: str, file: Path) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "launch", verb]
    env = {**site.stack.env, "FILE": str(file)}
    return subprocess.Popen(argv, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
