"""The service's database for what is done while the service is down: reached, asked, and another put in its place."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from launch import embedded, orphans
from launch.home import Home
from launch.process import Child

# Where to be connected while databases are made, named and removed: every server has one of them.
_ELSEWHERE = ("postgres", "template1")


class DatabaseError(RuntimeError):
    """What could not be done to the database; the text says what to do."""


@contextmanager
def reached(home: Home) -> Iterator[str]:
    """Give the address of the database of a locked folder: DATABASE_URL's, or the embedded one, which is started."""
    if address := os.environ.get("DATABASE_URL", ""):
        yield address
        return
    server = embedded.postgres(home.folder / "postgres")
    child = Child(replace(server.process, env={orphans.MARK: str(home.folder)}), log=home.logs / "postgres.log")
    try:
        child.wait_ready()
        yield server.url
    finally:
        child.stop()
        server.forget_sockets()


@dataclass(frozen=True)
class Tool:
    """A program of PostgreSQL's on a database, with what it says if it fails."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    complaints: IO[bytes]

    def start(self, *, stdin: int | None = None, stdout: int | None = None) -> subprocess.Popen[bytes]:
        """Start it, out of reach of the terminal's Ctrl-C."""
        return subprocess.Popen(
            self.argv,
            env={**os.environ, **self.env},
            stdin=stdin,
            stdout=stdout,
            stderr=self.complaints,
            start_new_session=True,
        )

    def words(self) -> str:
        """Return the last of what it said."""
        self.complaints.seek(0)
        return self.complaints.read().decode(errors="replace").strip()[-1500:]


@contextmanager
def tool(name: str, address: str, *options: str) -> Iterator[Tool]:
    """Give pg_dump or pg_restore of the server's version, or the next later one; `ps` shows no password."""
    parameters = {key: str(value) for key, value in conninfo_to_dict(address).items()}
    password = {"PGPASSWORD": parameters.pop("password")} if "password" in parameters else {}
    # Without a name: who is killed leaves nothing.
    with tempfile.TemporaryFile() as complaints:
        program = _program(name, _version(address))
        argv = (str(program), *options, "--dbname", make_conninfo(**parameters))
        yield Tool(argv, password, complaints)


def sessions(address: str) -> list[str]:
    """Return who else is connected to the database, in words."""
    query = (
        "SELECT DISTINCT coalesce(nullif(application_name, ''), 'process ' || pid)"
        " || coalesce(' from ' || host(client_addr), '') FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    with connected(address) as connection:
        return sorted(words for (words,) in connection.execute(query))


@contextmanager
def beside(address: str) -> Iterator[str]:
    """Give the address of an empty database beside the one at `address`; afterwards only one of them is left."""
    name = _name(address)
    draft = f"{name}_restoring"
    with _elsewhere(address) as connection:
        # What an earlier one left that was killed.
        for left in (draft, f"{name}_replaced"):
            _drop(connection, left)
        try:
            connection.execute(_create(connection, draft, like=name))
            _copy_settings(connection, name, draft)
        except psycopg.errors.InsufficientPrivilege:
            user = conninfo_to_dict(address).get("user") or "its user"
            raise DatabaseError(
                f"A restore makes a database beside {name}, which {user} may not: ALTER ROLE {user} CREATEDB."
            ) from None
    try:
        yield urlunsplit(urlsplit(address)._replace(path=f"/{quote(draft)}"))
    finally:
        with _elsewhere(address) as connection:
            for left in (draft, f"{name}_replaced"):
                _drop(connection, left)


def put_in_place(address: str) -> None:
    """Give the database of `beside` the name of the one at `address`, at once or not at all."""
    name = _name(address)
    rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    draft, replaced, own = (sql.Identifier(text) for text in (f"{name}_restoring", f"{name}_replaced", name))
    with _elsewhere(address) as connection:
        try:
            with connection.transaction():
                connection.execute(rename.format(own, replaced))
                connection.execute(rename.format(draft, own))
        except psycopg.errors.ObjectInUse:
            who = ", ".join(sessions(address)) or "somebody"
            raise DatabaseError(
                f"{who} came to the database meanwhile: stop the service, then restore again."
            ) from None


def was_replaced(address: str) -> bool:
    """Say whether a restore that was cut off had put its database in the place of the one at `address`."""
    with _elsewhere(address) as connection:
        query = "SELECT count(*) FROM pg_database WHERE datname = %s"
        row = connection.execute(query, [f"{_name(address)}_replaced"]).fetchone()
    return row is not None and row[0] > 0


def left_behind(address: str, *, is_own: bool) -> list[str]:
    """Say in words which databases a killed restore left; `is_own` says that none is under way: its draft is dropped.

    The one that was replaced is kept: it may be all that is left of what was there.
    """
    name, words = _name(address), []
    with _elsewhere(address) as connection:
        query = "SELECT datname, pg_size_pretty(pg_database_size(oid)) FROM pg_database WHERE datname = ANY(%s)"
        for left, size in connection.execute(query, [[f"{name}_restoring", f"{name}_replaced"]]).fetchall():
            what = f"a restore that was cut off left the database {left} ({size})"
            if is_own and left == f"{name}_restoring":
                with suppress(psycopg.errors.ObjectInUse):
                    connection.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(left)))
                    words.append(f"{what}, which is dropped")
                    continue
            words.append(f"{what}: the next restore drops it, or do it by hand (DROP DATABASE {left})")
    return words


@contextmanager
def connected(address: str) -> Iterator[psycopg.Connection]:
    """Give a session in which each statement stands alone; DatabaseError if the server cannot be reached."""
    try:
        connection = psycopg.connect(address, autocommit=True, connect_timeout=10)
    except psycopg.OperationalError as error:
        raise DatabaseError(f"The database cannot be reached: {error}") from error
    with connection:
        yield connection


def answers(address: str) -> bool:
    """Say whether a server takes sessions there."""
    try:
        with connected(address):
            return True
    except DatabaseError:
        return False


@contextmanager
def _elsewhere(address: str) -> Iterator[psycopg.Connection]:
    for name in _ELSEWHERE:
        if name != _name(address):
            try:
                connection = psycopg.connect(make_conninfo(address, dbname=name), autocommit=True, connect_timeout=10)
            except psycopg.OperationalError as error:
                refused = error
                continue
            with connection:
                yield connection
            return
    raise DatabaseError(f"The database server cannot be reached: {refused}") from refused


def _name(address: str) -> str:
    return str(conninfo_to_dict(address)["dbname"])


def _drop(connection: psycopg.Connection, name: str) -> None:
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _create(connection: psycopg.Connection, name: str, *, like: str) -> sql.Composed:
    """Return the statement that makes a database which sorts texts as another does."""
    query = "SELECT to_jsonb(one) FROM pg_database one WHERE datname = %s"
    row = connection.execute(query, [like]).fetchone()
    if row is None:
        raise DatabaseError(f"There is no database {like}: make it first (createdb {like}).")
    settings: dict[str, str | None] = row[0]
    words = sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE {} LC_CTYPE {}").format(
        sql.Identifier(name), sql.Literal(settings["datcollate"]), sql.Literal(settings["datctype"])
    )
    locale = settings.get("datlocale") or settings.get("daticulocale")
    kinds = {"i": "icu ICU_LOCALE", "b": "builtin BUILTIN_LOCALE"}
    if (kind := kinds.get(settings.get("datlocprovider") or "")) and locale:
        words += sql.SQL(f" LOCALE_PROVIDER {kind} {{}}").format(sql.Literal(locale))
    return words


def _copy_settings(connection: psycopg.Connection, name: str, to: str) -> None:
    query = (
        "SELECT unnest(setconfig) FROM pg_db_role_setting JOIN pg_database one ON one.oid = setdatabase"
        " WHERE datname = %s AND setrole = 0"
    )
    for (setting,) in connection.execute(query, [name]).fetchall():
        key, _, value = setting.partition("=")
        words = sql.SQL("ALTER DATABASE {} SET {} = {}")
        connection.execute(words.format(sql.Identifier(to), sql.SQL(key), sql.Literal(value)))


def _version(address: str) -> int:
    with connected(address) as connection:
        return connection.info.server_version // 10000


def _program(name: str, version: int) -> Path:
    programs = {major: folder / name for major, folder in embedded.installed_postgres().items()}
    if own := shutil.which(name):
        version_line = subprocess.run([own, "--version"], capture_output=True, text=True, check=False).stdout
        if match := re.search(r"(\d+)", version_line):
            programs[int(match[1])] = Path(own)
    fitting = [major for major in sorted(programs) if major >= version]
    if not fitting:
        raise DatabaseError(f"{name} of PostgreSQL {version} is missing: install its client programs.")
    return programs[fitting[0]]
