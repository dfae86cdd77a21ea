"""Embedded servers give signs of life though they refuse, and none while they are stopped."""

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
import redis

from launch import embedded, liveness, part, reachability, supervisor
from launch.liveness import EndingError
from launch.process import Child
from tests.launch.conftest import Make
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


def test_a_server_that_ends_and_waits_for_whoever_is_connected_is_ended_and_starts_again(
    make: Make, events: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liveness, "ASK_EVERY_S", 0.1)
    monkeypatch.setattr(supervisor, "HALTS_EVERY_S", 0.1)
    monkeypatch.setattr(part, "ENDS_WITHIN_S", 1.0)
    server = embedded.postgres(tmp_path / "p", durable=False)
    with make(server.process) as watched:
        before = watched.pids()["postgres"]
        with psycopg.connect(server.url) as idle:
            os.kill(before, signal.SIGTERM)
            assert wait_for(lambda: ends(server))
            # Who is in it may go on until then.
            assert idle.execute("SELECT 1").fetchone() == (1,)
            assert wait_for(lambda: watched.pids().get("postgres", before) != before)
            assert wait_for(lambda: server.process.ready and server.process.ready())
            with pytest.raises(psycopg.OperationalError):
                idle.execute("SELECT 1")
    told = [text for name, text in events if name == "postgres"]
    assert sum("told to wait for nobody" in text for text in told) == 1
    assert not [text for text in told if "killed" in text]


def ends(server: embedded.Server) -> bool:
    try:
        reachability.postgres_lives(server.sockets)
    except EndingError:
        return True
    return False


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
