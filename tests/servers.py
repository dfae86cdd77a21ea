"""A pytest plugin: PostgreSQL and a Redis-protocol server for the run, those of the environment or embedded ones.

It is named with `-p` in pyproject.toml because pytest-django reads the settings before any conftest.py is loaded.
Of several workers each has a database of its own in the one PostgreSQL. Channels know no databases, so each worker
starts a Valkey of its own.
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from celery import current_app
from django.conf import settings
from django.test import override_settings

from launch import embedded, process
from tests.launch import migrated

_folder = tempfile.TemporaryDirectory(prefix="fathom-test-")
_children: list[process.Child] = []
_has_embedded_postgres = "DATABASE_URL" not in os.environ
_has_embedded_valkey = "REDIS_URL" not in os.environ
_migrating: list[subprocess.Popen[bytes]] = []


# A shell's background job has Ctrl-C switched off, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _start(server: embedded.Server) -> str:
    child = process.Child(server.process, log=Path(_folder.name) / f"{server.process.name}.log")
    _children.append(child)
    child.wait_ready()
    return server.url


if _has_embedded_postgres:
    os.environ["DATABASE_URL"] = _start(embedded.postgres(Path(_folder.name) / "postgres", durable=False))
if _has_embedded_valkey:
    os.environ["REDIS_URL"] = _start(embedded.valkey(Path(_folder.name) / "valkey", durable=False))


def pytest_configure(config: pytest.Config) -> None:
    """Begin to migrate a database for the workers to copy, if there will be workers: ten seconds of a core."""
    if not config.getoption("workers", 0) or not _has_embedded_postgres:
        return
    root = Path(__file__).resolve().parents[1]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "apps.config.settings.test"}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    _migrating.append(subprocess.Popen(command, cwd=root, env=environment))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Have the workers' databases be copies of the migrated one."""
    while _migrating:
        if _migrating.pop().wait() != 0:
            raise pytest.UsageError("The database of the test run could not be migrated.")
        settings.DATABASES["default"]["TEST"]["TEMPLATE"] = embedded.DATABASE
        _keep_migrated()


def pytest_worker_start(config: pytest.Config, name: str) -> None:
    """Start the worker's own Valkey; whatever names that of the process that was forked names this one instead."""
    if not _has_embedded_valkey:
        return
    shared, own = (embedded.valkey(Path(_folder.name) / folder, durable=False) for folder in ("valkey", name))
    _start(own)
    os.environ["REDIS_URL"] = own.url
    named = {key: getattr(settings, key) for key in dir(settings) if key.isupper()}
    moved = {key: _replaced(value, str(shared.sockets), str(own.sockets)) for key, value in named.items()}
    override_settings(**{key: value for key, value in moved.items() if value != named[key]}).enable()
    current_app.conf.broker_url = settings.CELERY_BROKER_URL


def _replaced(value: object, old: str, new: str) -> object:
    """Return a setting with one text for another, wherever in it that stands."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {key: _replaced(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, old, new) for each in value]
    return value


def _keep_migrated() -> None:
    """Copy the migrated database, while its server is down, for the services that tests start."""
    # PostgreSQL is the first that was started.
    server, pattern = _children[0], Path(_folder.name) / "migrated"
    assert server.process.cwd
    server.stop()
    (pattern / migrated.VAR).mkdir(parents=True)
    migrated.copy_to(pattern / migrated.VAR / "postgres", server.process.cwd)
    os.environ[migrated.FOLDER] = str(pattern)
    _children[0] = process.Child(server.process, log=server.log)
    _children[0].wait_ready()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what was started here."""
    for migration in _migrating:
        migration.terminate()
        migration.wait()
    while _children:
        _children.pop().stop()
    _folder.cleanup()
