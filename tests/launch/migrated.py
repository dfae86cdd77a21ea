"""What the first start of a service takes long for, made once for a whole run: a migrated database."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from launch import embedded
from launch.process import Child
from tests.launch.stack import ROOT

VAR = "var"
# Where the run's own servers have such a folder already (tests.servers).
FOLDER = "FATHOM_TEST_MIGRATED"


def make_once(folder: Path) -> Path:
    """Return a folder whose `var` a service has migrated the database of; whoever comes first makes it.

    Several workers of a test run may ask for the same at once.
    """
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    pattern = folder / "migrated"
    with (folder / "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not pattern.exists():
            half_made = folder / "migrated.new"
            _migrate(half_made / VAR)
            half_made.rename(pattern)
    return pattern


def copy_to(folder: Path, pattern: Path) -> None:
    """Copy a pattern into a folder, with owners: PostgreSQL's files may be another user's."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["cp", "-a", f"{pattern}/.", str(folder)], check=True)


def _migrate(var: Path) -> None:
    server = embedded.postgres(var / "postgres", durable=False)
    child = Child(server.process, log=var / "log" / "postgres.log")
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "apps.config.settings.production",
        "FATHOM_VAR": str(var),
        "SECRET_KEY": "for the commands of one test, and no other",
        "DATABASE_URL": server.url,
    }
    try:
        child.wait_ready()
        subprocess.run([sys.executable, "manage.py", "migrate_pending"], cwd=ROOT, env=env, check=True)
    finally:
        child.stop()
        server.forget_sockets()
