"""The embedded servers start, keep their data, and leave nothing behind."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest
import redis

from launch import embedded, leash
from launch.process import Child
from tests.launch.watching import alive, wait_until_gone

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can take on another id")


def test_they_answer_and_keep_their_data_over_a_restart(tmp_path: Path) -> None:
    with (
        embedded.Embedded(tmp_path) as servers,
        psycopg.connect(servers.database_url) as connection,
        redis.Redis.from_url(servers.redis_url) as client,
    ):
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        client.set("kept", "42")
    with (
        embedded.Embedded(tmp_path) as servers,
        psycopg.connect(servers.database_url) as connection,
        redis.Redis.from_url(servers.redis_url) as client,
    ):
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
        assert client.get("kept") == b"42"


def test_they_leave_no_process_and_no_socket_folder(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    with embedded.Embedded(folder, durable=False) as servers:
        pids = [child.pid for child in servers.children]
        sockets = [server.sockets for server in servers.servers]
        assert all(alive(pid) for pid in pids)
        assert all(folder.exists() for folder in sockets)
    assert not any(alive(pid) for pid in pids)
    assert not any(folder.exists() for folder in sockets)


def test_they_die_with_a_starter_that_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from launch import embedded\n"
        "servers = embedded.Embedded(Path(sys.argv[1]), durable=False).__enter__()\n"
        "print(*(child.pid for child in servers.children), flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    ) as starter:
        assert starter.stdout
        pids = [int(pid) for pid in starter.stdout.readline().split()]
        assert len(pids) == 2
        starter.kill()
    assert not wait_until_gone(pids)


def test_two_pairs_run_side_by_side(tmp_path: Path) -> None:
    with (
        embedded.Embedded(tmp_path / "one", durable=False) as one,
        embedded.Embedded(tmp_path / "two", durable=False) as two,
    ):
        for servers in (one, two):
            with psycopg.connect(servers.database_url) as connection:
                connection.execute("CREATE TABLE mine ()")
            with redis.Redis.from_url(servers.redis_url) as client:
                assert client.incr("mine") == 1


def test_a_path_with_a_space_and_a_long_path_work(tmp_path: Path) -> None:
    folder = tmp_path / "a folder" / ("long" * 30)
    with (
        embedded.Embedded(folder, durable=False) as servers,
        psycopg.connect(servers.database_url) as connection,
    ):
        assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)


@root_only
@pytest.mark.parametrize("identity", [leash.NAMESPACE, leash.set_id(leash.NOBODY, leash.NOBODY)])
def test_root_starts_it_in_a_folder_closed_to_others(tmp_path: Path, identity: str) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    for _ in range(2):
        server = embedded.postgres(closed / "data", durable=False, identity=identity)
        child = Child(server.process, log=tmp_path / "postgres.log")
        try:
            child.wait_ready()
            with psycopg.connect(server.url) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
        finally:
            child.stop()


@root_only
def test_a_folder_of_an_ordinary_user_is_served_as_that_user_by_root(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    os.chown(data, leash.NOBODY, leash.NOBODY)
    server = embedded.postgres(data, durable=False)
    assert server.process.identity == leash.set_id(leash.NOBODY, leash.NOBODY)
    assert (data / "cluster").stat().st_uid == leash.NOBODY


def test_a_server_that_does_not_start_shows_the_end_of_its_log(tmp_path: Path) -> None:
    servers = embedded.Embedded(tmp_path, durable=False)
    (tmp_path / "postgres" / "cluster" / "postgresql.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(embedded.EmbeddedError, match="no_such_setting"):
        servers.__enter__()
    assert not any(child.alive for child in servers.children)


def test_a_set_up_that_fails_shows_why_and_is_not_taken_for_a_whole_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "cluster.new").write_text("in the way")
    with pytest.raises(embedded.EmbeddedError, match="initdb failed"):
        embedded.postgres(tmp_path, durable=False)
    assert not (tmp_path / "cluster").exists()


def test_a_cluster_of_another_version_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster" / "PG_VERSION").write_text("9\n")
    with pytest.raises(embedded.EmbeddedError, match="PostgreSQL 9"):
        embedded.postgres(tmp_path, durable=False)


def test_a_socket_folder_that_is_a_link_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The folder of a test may itself be too long for sockets.
    with tempfile.TemporaryDirectory(prefix="run-", dir="/tmp") as runtime:
        monkeypatch.setattr(tempfile, "tempdir", runtime)
        data = tmp_path / ("long" * 40)
        first = embedded.socket_folder(data)
        assert first.parent == Path(runtime)
        assert first.stat().st_mode & 0o777 == 0o700
        first.rmdir()
        first.symlink_to(tmp_path)
        with pytest.raises(embedded.EmbeddedError, match="TMPDIR"):
            embedded.socket_folder(data)


@pytest.mark.parametrize(
    ("euid", "owner", "has_name", "namespaces", "identity"),
    [
        (1000, 1000, True, False, leash.SAME),
        (1000, 1000, True, True, leash.SAME),
        (1000, 1000, False, True, leash.NAMESPACE),
        (1000, 1000, False, False, leash.SAME),
        (0, 0, True, True, leash.NAMESPACE),
        (0, 0, True, False, "id:65534:65534"),
        (0, 1000, True, True, "id:1000:1000"),
    ],
)
def test_postgres_is_never_root(euid: int, owner: int, has_name: bool, namespaces: bool, identity: str) -> None:
    chosen = embedded.choose_identity(euid=euid, owner=owner, group=owner, has_name=has_name, namespaces=namespaces)
    assert chosen == identity


def test_a_data_folder_of_another_user_is_refused_with_the_remedy() -> None:
    with pytest.raises(embedded.EmbeddedError, match="run as that user"):
        embedded.choose_identity(euid=1000, owner=0, group=0, has_name=True, namespaces=True)


def test_a_missing_package_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(embedded.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(embedded.EmbeddedError, match="make clean"):
        embedded.valkey(tmp_path)


def test_a_machine_without_an_embedded_valkey_is_told_what_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(embedded.platform, "machine", lambda: "sparc64")
    with pytest.raises(embedded.EmbeddedError, match="REDIS_URL"):
        embedded.valkey(tmp_path)
