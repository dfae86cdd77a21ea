"""A folder with a database of a few rows and backups of it, made once for all tests of backups and restores."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from apps.core.whole_files import write_whole
from launch import backup, database
from launch.home import ROOT, Home
from tests.launch import migrated as patterns
from tests.launch.stack import NOT_INHERITED

# How many of each kind a table's guards are, by which a restored database is the same.
SHAPE = """
    SELECT 'constraint', count(*) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT 'index', count(*) FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT 'trigger', count(*) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1
"""


@pytest.fixture
def no_database_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NOT_INHERITED:
        monkeypatch.delenv(name, raising=False)


@contextmanager
def served(var: Path) -> Iterator[str]:
    """Give the address of a folder's database, started as a service has it, and hold the folder."""
    own = Home(var)
    own.lock()
    try:
        with database.reached(own) as address:
            own.write_state({"pid": 1, "address": "http://127.0.0.1:1", "database_url": address})
            yield address
    finally:
        own.unlock()


def manage(address: str, *arguments: str) -> None:
    secret = {"SECRET_KEY": "for the commands of one test, and no other, as long as it has to be"}
    env = {
        **os.environ,
        **secret,
        "DJANGO_SETTINGS_MODULE": "apps.config.settings.production",
        "DATABASE_URL": address,
    }
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=env, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def accounts(address: str) -> set[str]:
    with psycopg.connect(address) as connection:
        return {name for (name,) in connection.execute("SELECT username FROM accounts_user")}


def shape(address: str) -> list[tuple[str, int]]:
    with psycopg.connect(address) as connection:
        return connection.execute(SHAPE).fetchall()


def databases(address: str) -> set[str]:
    with psycopg.connect(address) as connection:
        return {name for (name,) in connection.execute("SELECT datname FROM pg_database WHERE NOT datistemplate")}


@pytest.fixture(scope="package")
def kept(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `var`, whose service has an account and a waiting import, and `now.backup` of it.

    `earlier.backup` is of the version before the last step of core, `later.backup` of a later one.
    """
    folder = tmp_path_factory.mktemp("kept")
    patterns.copy_to(folder / "var", migrated / patterns.VAR)
    own = Home(folder / "var")
    with pytest.MonkeyPatch.context() as patch:
        for name in NOT_INHERITED:
            patch.delenv(name, raising=False)
        with served(folder / "var") as address:
            own.secret_key()
            manage(address, "create_account", "--username", "alice", "--team", "Kept")
            (own.folder / "imports" / "7").mkdir(parents=True)
            write_whole(own.folder / "imports" / "7" / "figures.csv", "a,b\n1,2\n")
            backup.make(Home(folder / "var"), folder / "now.backup")
            with psycopg.connect(address) as connection:
                connection.execute("INSERT INTO django_migrations VALUES (99999, 'campaigns', '0999_later', now())")
            backup.make(Home(folder / "var"), folder / "later.backup")
            with psycopg.connect(address) as connection:
                connection.execute("DELETE FROM django_migrations WHERE id = 99999")
                connection.execute("UPDATE accounts_user SET username = 'bob'")
        # Of another folder, which need not be brought up to this version again.
        patterns.copy_to(folder / "earlier", folder / "var")
        with served(folder / "earlier") as address:
            with psycopg.connect(address) as connection:
                connection.execute("UPDATE accounts_user SET username = 'alice'")
            manage(address, "migrate", "core", "0001", "--verbosity", "0")
            backup.make(Home(folder / "earlier"), folder / "earlier.backup")
    return folder


@pytest.fixture
def var(kept: Path, tmp_path: Path, no_database_of_the_tests: None) -> Path:
    """Return a folder of this version, whose one account was renamed to bob since its backups were made."""
    patterns.copy_to(tmp_path / "var", kept / "var")
    return tmp_path / "var"
