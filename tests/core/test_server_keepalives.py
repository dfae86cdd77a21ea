"""PostgreSQL ends the session of a machine that is gone within a minute, whatever opened it: it may hold a lease."""

import ast
import dataclasses
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_django
from django.db.utils import ConnectionHandler

from apps.config.settings import database
from apps.core import connections
from apps.core.sessions import Session
from launch import embedded
from launch.home import ROOT
from launch.process import Child

Entry = dict[str, Any]
LIMITS = {
    "tcp_keepalives_idle": "20",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "50000",
}
# How each process of the service, or none of them (commands), has the address of its database.
KINDS: dict[str, Callable[[Entry], None]] = {
    "web": lambda entry: connections.fit_to_web(entry, most=4),
    "worker": connections.fit_to_worker,
    "command": lambda entry: None,
}


@pytest.fixture(scope="module")
def over_tcp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address, on 127.0.0.1, of a PostgreSQL of its own: over a Unix socket it keeps nothing alive."""
    folder = tmp_path_factory.mktemp("tcp")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = embedded.postgres(folder / "postgres", durable=False)
    url = f"postgresql://fathom@127.0.0.1:{port}/postgres"

    def answers() -> bool:
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    argv = (*server.process.argv, "-c", "listen_addresses=127.0.0.1", "-c", f"port={port}")
    child = Child(
        dataclasses.replace(server.process, argv=argv, ready=answers, sign=None),
        log=folder / "log",
    )
    try:
        child.wait_ready()
        yield url
    finally:
        child.stop()
        server.forget_sockets()


@pytest.fixture(autouse=True)
def _not_the_tests_database(django_db_blocker: pytest_django.DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_every_session_is_kept_alive_by_the_server(over_tcp: str, kind: str) -> None:
    entry = database.from_url(over_tcp)
    KINDS[kind](entry)
    connection = ConnectionHandler({"default": entry})["default"]
    try:
        with connection.cursor() as cursor:
            found = {name: cursor.execute(f"SHOW {name}").fetchone()[0] for name in LIMITS}
        # Beside it: looks, and whoever else asks over a connection of its own.
        params = connection.get_connection_params()
        params.pop("pool", None)
        with Session.connect(**params) as own:
            beside = {name: own.execute(f"SHOW {name}").fetchone() for name in LIMITS}
    finally:
        connection.close()
        if kind == "web":
            connection.close_pool()
    assert found == LIMITS
    assert beside == {name: (value,) for name, value in LIMITS.items()}


def test_an_address_has_limits_of_its_own(over_tcp: str) -> None:
    entry = database.from_url(f"{over_tcp}?options=-c%20tcp_keepalives_idle%3D99")
    connections.fit_to_worker(entry)
    connection = ConnectionHandler({"default": entry})["default"]
    try:
        with connection.cursor() as cursor:
            assert cursor.execute("SHOW tcp_keepalives_idle").fetchone() == ("99",)
            assert cursor.execute("SHOW tcp_keepalives_count").fetchone() == ("3",)
    finally:
        connection.close()


def test_nobody_connects_but_through_sessions_that_are_given_up() -> None:
    """All that pages and workers open is a Session, which has Django's parameters and a limit of who waits."""
    calls = []
    for path in [*Path(ROOT, "apps").rglob("*.py"), *Path(ROOT, "workers").rglob("*.py")]:
        if "psycopg" not in (text := path.read_text()) and "essions" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert not re.fullmatch(r"psycopg\.(\w*Connection\.)?connect", called), path
            if called == "Session.connect":
                assert "**connection.get_connection_params()" in ast.unparse(node), path
            if called in ("Session.connect", "sessions.beside"):
                calls.append(path.name)
    assert len(calls) >= 4
