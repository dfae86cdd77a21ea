"""Servers whose sockets lie outside `var`: others may clear these away, and they come back at the same place."""

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from launch import embedded, leash, reachability
from launch.embedded import Server
from tests.launch.conftest import Make
from tests.launch.watching import wait_for


def _postgres_answers(server: Server) -> bool:
    return reachability.postgres_answers(server.sockets, embedded.DATABASE)


def _valkey_answers(server: Server) -> bool:
    return reachability.valkey_answers(server.sockets / "valkey.sock")


@pytest.mark.parametrize(
    ("server_of", "answers"),
    [(embedded.postgres, _postgres_answers), (embedded.valkey, _valkey_answers)],
    ids=["postgres", "valkey"],
)
def test_one_whose_sockets_were_cleared_away_is_back_at_the_same_place(
    server_of: Callable[..., Server], answers: Callable[[Server], bool], make: Make, tmp_path: Path
) -> None:
    server = server_of(tmp_path / ("long" * 30), durable=False)
    assert server.sockets.parent == Path(tempfile.gettempdir())
    name = server.process.name
    try:
        with make(server.process) as supervisor:
            assert answers(server)
            shutil.rmtree(server.sockets)
            os.kill(supervisor.pids()[name], signal.SIGKILL)
            assert wait_for(lambda: answers(server), 60)
            assert server.sockets.stat().st_mode & 0o777 == 0o700
    finally:
        server.forget_sockets()


def _link_to_nowhere(folder: Path) -> None:
    folder.symlink_to(folder.with_name("nowhere"))


def _another_users(folder: Path) -> None:
    folder.mkdir()
    if os.geteuid() == 0:
        os.chown(folder, leash.NOBODY, leash.NOBODY)
    else:
        pytest.skip("only root can make a folder of another user's")


@pytest.mark.parametrize("put", [_link_to_nowhere, Path.touch, _another_users])
def test_what_others_put_in_their_place_is_not_used_and_looked_at_as_seldom_as_any_failure(
    put: Callable[[Path], None], make: Make, events: list[tuple[str, str]], tmp_path: Path
) -> None:
    server = embedded.valkey(tmp_path / ("long" * 30), durable=False)
    folder = server.sockets
    try:
        with make(server.process) as supervisor:
            shutil.rmtree(folder)
            put(folder)
            os.kill(supervisor.pids()["valkey"], signal.SIGKILL)
            reason = "is not a folder of this user"
            assert wait_for(lambda: sum(reason in text for _part, text in events) >= 2, 60)
            refusals = [text for _part, text in events if reason in text]
            assert all(text.endswith("tried again in 0.2 s") for text in refusals)
            assert not _valkey_answers(server)
            folder.rmdir() if folder.is_dir() else folder.unlink()
            assert wait_for(lambda: _valkey_answers(server), 60)
    finally:
        server.forget_sockets()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of another user's")
@pytest.mark.parametrize(("identity", "is_taken"), [(leash.SAME, False), (leash.set_id(leash.NOBODY, 0), True)])
def test_root_takes_no_folder_but_its_own_and_that_of_the_servers_user(
    identity: str, is_taken: bool, tmp_path: Path
) -> None:
    data = tmp_path / ("long" * 30)
    folder = embedded.socket_folder(data)
    try:
        os.chown(folder, leash.NOBODY, leash.NOBODY)
        with contextlib.nullcontext() if is_taken else pytest.raises(embedded.EmbeddedError, match="TMPDIR"):
            embedded.socket_folder(data, identity)
    finally:
        folder.rmdir()


def test_a_log_out_takes_no_sockets_along(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = embedded.socket_folder(tmp_path / ("long" * 30))
    folder.rmdir()
    assert tmp_path not in folder.parents
