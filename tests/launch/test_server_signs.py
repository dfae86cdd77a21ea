"""Embedded servers give signs of life though they refuse, and none while they are stopped."""

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
import redis

from launch import embedded, reachability
from launch.process import Child
from tests.launch.watching import wait_for


def test_a_server_that_refuses_lives_and_one_that_was_stopped_does_not(tmp_path: Path) -> None:
    server = embedded.postgres(tmp_path / "p", durable=False)
    child = Child(server.process, log=tmp_path / "log")
    try:
        child.wait_ready()
        assert server.process.sign and server.process.sign()
        # No database of that name, or no place left: it refuses, and lives.
        with psycopg.connect(server.url, autocommit=True) as asking:
            asking.execute("ALTER DATABASE postgres ALLOW_CONNECTIONS false")
        assert not server.process.ready()
        assert server.process.sign()
        os.kill(child.pid, signal.SIGSTOP)
        assert not server.process.sign()
        os.kill(child.pid, signal.SIGCONT)
        assert wait_for(server.process.sign)
    finally:
        child.stop()
    assert not reachability.postgres_lives(server.sockets)


def test_valkey_lives_until_it_is_stopped(tmp_path: Path) -> None:
    server = embedded.valkey(tmp_path / "v", durable=False)
    child = Child(server.process, log=tmp_path / "log")
    try:
        child.wait_ready()
        assert server.process.sign and server.process.sign()
        os.kill(child.pid, signal.SIGSTOP)
        assert not server.process.sign()
        os.kill(child.pid, signal.SIGCONT)
        assert server.process.sign()
    finally:
        child.stop()
    assert not server.process.sign()


@pytest.mark.parametrize("ask", [reachability.valkey_answers, reachability.valkey_lives])
def test_a_silent_valkey_is_asked_once_each_time(ask: Callable[[Path], bool], tmp_path: Path) -> None:
    path = tmp_path / "valkey.sock"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen()
        assert not ask(path)
        # All that came has been left lying, and is there to be counted.
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_valkey_that_cannot_write_lives_and_answers(tmp_path: Path) -> None:
    server = embedded.valkey(tmp_path / "v", durable=False)
    child = Child(server.process, log=tmp_path / "log")
    try:
        child.wait_ready()
        (tmp_path / "v" / "dump.rdb").mkdir()
        client = redis.Redis.from_url(server.url)
        client.config_set("save", "1 1")
        client.set("x", "1")
        assert wait_for(lambda: refuses(client))
        assert server.process.sign and server.process.ready
        assert server.process.sign() and server.process.ready()
    finally:
        child.stop()


def refuses(client: redis.Redis) -> bool:
    try:
        client.ping()
    except redis.ResponseError as error:
        return "MISCONF" in str(error)
    return False
