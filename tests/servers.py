"""A pytest plugin: PostgreSQL and a Redis-protocol server for the run, those of the environment or embedded ones.

It is named with `-p` in pyproject.toml because pytest-django reads the settings before any conftest.py is loaded.
Under xdist the controller starts PostgreSQL, in which each worker has a database of its own. Channels know no
databases, so each worker starts a Valkey of its own.
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from launch import embedded, process

_folder = tempfile.TemporaryDirectory(prefix="fathom-test-")
_children: list[process.Child] = []
_to_migrate = False
# Set by the controller, for its workers: this Valkey is not theirs to share.
_EMBEDDED_REDIS = "FATHOM_TEST_EMBEDDED_REDIS"
# The migrated database that each worker's is a copy of: to migrate takes ten seconds of a core. See settings/test.py.
_TEMPLATE = "FATHOM_TEST_TEMPLATE"


# A shell's background job has Ctrl-C switched off, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _start(server: embedded.Server) -> str:
    child = process.Child(server.process, log=Path(_folder.name) / f"{server.process.name}.log")
    _children.append(child)
    child.wait_ready()
    return server.url


if "DATABASE_URL" not in os.environ:
    os.environ["DATABASE_URL"] = _start(embedded.postgres(Path(_folder.name) / "postgres", durable=False))
    _to_migrate = True
if "REDIS_URL" not in os.environ or _EMBEDDED_REDIS in os.environ:
    os.environ["REDIS_URL"] = _start(embedded.valkey(Path(_folder.name) / "valkey", durable=False))
    os.environ[_EMBEDDED_REDIS] = "1"


def pytest_configure(config: pytest.Config) -> None:
    """Compile the tests and migrate a database for the workers to share, if there will be workers."""
    if not getattr(config.option, "numprocesses", None):
        return
    root = Path(__file__).resolve().parents[1]
    # In a fresh clone each worker would compile every test for itself: to collect them once does it for all.
    compiling = subprocess.Popen(
        [sys.executable, "-m", "pytest", "--collect-only", "-qq"], cwd=root, stdout=subprocess.DEVNULL
    )
    if _to_migrate:
        settings = {"DJANGO_SETTINGS_MODULE": "apps.config.settings.test"}
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(command, check=True, cwd=root, env={**os.environ, **settings})
        os.environ[_TEMPLATE] = embedded.DATABASE
    compiling.wait()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse a run whose groups would not hold: their tests share addresses, folders or a machine's quiet."""
    if not getattr(session.config.option, "loadgroup", False):
        return
    grouped = [item for item in session.items if item.get_closest_marker("xdist_group")]
    if astray := [item.nodeid for item in grouped if "@" not in item.nodeid.rpartition("]")[2]]:
        raise pytest.UsageError(f"pytest-xdist does not keep {astray[0]} in its group: does it suit this pytest?")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what was started here."""
    while _children:
        _children.pop().stop()
    _folder.cleanup()
