"""Databases that say to have been migrated to some step, for parts that start on them and look at nothing else."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from apps.core import tables
from launch.home import ROOT
from tests.agents.live import database_url

STEP = ("campaigns", "0001_tables")
LATER = ("campaigns", "0999_later")
TABLE = "CREATE TABLE django_migrations (id serial, app text, name text, applied timestamptz DEFAULT now())"
INSERT = "INSERT INTO django_migrations (app, name) VALUES (%s, %s)"


def all_steps() -> frozenset[tuple[str, str]]:
    """Return what a database has that all of this code was applied to: the former steps, too."""
    steps = tables.of_this_code()
    return steps.names.union(*steps.former.values())


class Migrated:
    """A database of which the record of steps can be changed; it has no other table."""

    def __init__(self, name: str) -> None:
        before, _name = database_url().split("?")[0].rsplit("/", 1)
        self.url = database_url().replace(f"{before}/{_name}", f"{before}/{name}")
        self._sql = psycopg.connect(self.url, autocommit=True)
        self._sql.execute(TABLE)
        self._sql.cursor().executemany(INSERT, sorted(all_steps()))

    def apply(self, *steps: tuple[str, str]) -> None:
        """Record steps."""
        self._sql.cursor().executemany(INSERT, steps)

    def take_back(self, *steps: tuple[str, str]) -> None:
        """Forget steps, and the former ones that they stand for."""
        gone = [former for step in steps for former in tables.on_disk().former.get(step, ())]
        self._sql.cursor().executemany("DELETE FROM django_migrations WHERE (app, name) = (%s, %s)", [*steps, *gone])

    def close(self) -> None:
        """Let go of it."""
        self._sql.close()


@contextmanager
def migrated(name: str) -> Iterator[Migrated]:
    """Give a database of its own on the server of the test run."""
    with psycopg.connect(database_url(), autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")  # type: ignore[arg-type]
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0")  # type: ignore[arg-type]
        database = Migrated(name)
        try:
            yield database
        finally:
            database.close()
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[arg-type]


@contextmanager
def started(log: Path, *words: str, **environment: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Give a process of the service that prints into a file, and stop it afterwards."""
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, *words], cwd=ROOT, env=environment, stdout=sink, stderr=subprocess.STDOUT
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)
