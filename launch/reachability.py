"""Whether the embedded servers answer, on their Unix sockets: when they can be used, and whether they live at all."""

from pathlib import Path

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from apps.core.server_words import shuts_down
from launch.liveness import EndingError


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
    """Say whether the server says anything: one that is full, or mends itself after a crash, refuses with FATAL.

    EndingError from one that shuts down, which may wait without end for those who are connected.
    """
    try:
        psycopg.connect(host=str(sockets), user="fathom", dbname="postgres", connect_timeout=5).close()
    except psycopg.OperationalError as error:
        if shuts_down(error):
            raise EndingError from error
        return "FATAL" in str(error)
    return True


def valkey_answers(path: Path) -> bool:
    """Say whether the server takes commands."""
    try:
        return _asked(path, timeout_s=2)
    except redis.ResponseError:
        # It has no room to write: it answers, and who asks how the service is hears its words.
        return True
    except (redis.ConnectionError, redis.TimeoutError):
        return False


def valkey_lives(path: Path) -> bool:
    """Say whether the server says anything: one that still loads its messages, or cannot write them, refuses."""
    try:
        return _asked(path, timeout_s=5)
    except (redis.BusyLoadingError, redis.ResponseError):
        return True
    except (redis.ConnectionError, redis.TimeoutError):
        return False


def _asked(path: Path, *, timeout_s: float) -> bool:
    # Who asks again and again does so here, too: redis-py would by itself, three times, with waits that grow.
    once = Retry(NoBackoff(), 0)
    with redis.Redis(unix_socket_path=str(path), socket_timeout=timeout_s, retry=once) as client:
        return bool(client.ping())
