"""Servers whose sockets lie outside `var`: others may clear these away, and they come back at the same place."""

import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from launch import embedded, reachability
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


def test_a_log_out_takes_no_sockets_along(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = embedded.socket_folder(tmp_path / ("long" * 30))
    folder.rmdir()
    assert tmp_path not in folder.parents
