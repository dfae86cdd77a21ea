"""Whether the embedded servers answer, on their Unix sockets: when they can be used, and whether they live at all."""

from pathlib import Path

import psycopg
import redis


def postgres_answers(sockets: Path, database: str) -> bool:
    """Say whether the server takes connections, and see to it that a database is there."""
    try:
        with psycopg.connect(
            host=str(sockets), user="fathom", dbname="postgres", autocommit=True, connect_timeout=2
        ) as connection:
            names = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database])
            if names.fetchone() is None:
                connection.execute(f"CREATE DATABASE {database}")
    except psycopg.OperationalError:
        return False
    return True


def postgres_lives(sockets: Path) -> bool:
    """Say whether the server says anything: one that is full, or mends itself after a crash, refuses with FATAL."""
    try:
        psycopg.connect(host=str(sockets), user="fathom", dbname="postgres", connect_timeout=5).close()
    except psycopg.OperationalError as error:
        return "FATAL" in str(error)
    return True


def valkey_answers(path: Path) -> bool:
    """Say whether the server takes commands."""
    try:
        with redis.Redis(unix_socket_path=str(path), socket_timeout=2) as client:
            return bool(client.ping())
    except redis.ResponseError:
        # It has no room to write: it answers, and who asks how the service is hears its words.
        return True
    except (redis.ConnectionError, redis.TimeoutError):
        return False


def valkey_lives(path: Path) -> bool:
    """Say whether the server says anything: one that still loads its messages, or cannot write them, refuses."""
    try:
        with redis.Redis(unix_socket_path=str(path), socket_timeout=5) as client:
            return bool(client.ping())
    except (redis.BusyLoadingError, redis.ResponseError):
        return True
    except (redis.ConnectionError, redis.TimeoutError):
        return False
