"""The verb: a PostgreSQL of its own, and the oracle within."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from launch import home
from launch.embedded import Embedded


def main(words: Sequence[str]) -> int:
    """Start servers on a temporary folder, judge there, and return the oracle's exit code."""
    settings = {**os.environ, "DJANGO_SETTINGS_MODULE": "apps.config.settings.test"}
    if {"-h", "--help"} & {*words}:
        return _run([sys.executable, "-m", "benchmarks.truth", *words], settings)
    with tempfile.TemporaryDirectory(prefix="fathom-truth-") as name:
        folder = Path(name)
        # The server may run as another user, who has to pass through.
        folder.chmod(0o711)
        with Embedded(folder, durable=False) as servers:
            env = settings | {"DATABASE_URL": servers.database_url, "REDIS_URL": servers.redis_url}
            if code := _run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], env):
                return code
            return _run([sys.executable, "-m", "benchmarks.truth", *words], env)


def _run(argv: Sequence[str], env: dict[str, str]) -> int:
    return subprocess.run(argv, cwd=home.ROOT, env=env, check=False).returncode
