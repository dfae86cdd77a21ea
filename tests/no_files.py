"""What may have a file's name and is none."""

import os
import socket
import stat
from pathlib import Path

import pytest


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root makes devices")
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def _link_to_pipe(path: Path) -> None:
    _pipe(path.with_name("pipe"))
    path.symlink_to("pipe")


NO_FILES = (_pipe, _device, _socket, _link_to_pipe)
