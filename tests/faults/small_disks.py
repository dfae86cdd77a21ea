"""Disks of a site that can be full: small file systems in memory, which root alone mounts."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

FAULTS = ("fill-agent-disk", "fill-server-disk")
WITHOUT = f"{' and '.join(FAULTS)} are left out: no file system may be mounted here, which a full disk needs."
_PIECE = 64 * 1024
# So many files each of them takes.
_FILES = 20_000
# What comes free meanwhile is taken again this often (s).
_AGAIN_S = 0.2


def _may_mount() -> bool:
    trial = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", tempfile.gettempdir()]
    with contextlib.suppress(OSError):
        return os.geteuid() == 0 and not subprocess.run(trial, capture_output=True, check=False).returncode
    return False


MAY_MOUNT = _may_mount()


class SmallDisk:
    """A file system of so many MiB at a folder that is empty, or not there, until it is taken away."""

    def __init__(self, folder: Path, mib: int) -> None:
        self._folder = folder
        folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        options = f"size={mib}m,nr_inodes={_FILES},mode=711"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)

    @contextlib.contextmanager
    def full_of_files(self) -> Iterator[None]:
        """Have it take no file more as long as the block lasts; those that are there may grow."""
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=".filler-") as filler:
            with contextlib.suppress(OSError):
                for number in range(_FILES):
                    (Path(filler) / str(number)).touch()
            yield

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """Have it take nothing more as long as the block lasts."""
        is_over = threading.Event()
        with tempfile.NamedTemporaryFile(dir=self._folder, prefix=".filler-", buffering=0) as filler:
            _fill(filler.fileno())
            topping = threading.Thread(target=_top_up, args=(filler.fileno(), is_over), daemon=True)
            topping.start()
            try:
                yield
            finally:
                is_over.set()
                topping.join()

    def take_away(self) -> None:
        """Unmount it, and leave what was on it where it was."""
        rest = self._folder.with_name(f"{self._folder.name}.rest")
        subprocess.run(["cp", "-a", str(self._folder), str(rest)], check=True)
        subprocess.run(["umount", "-l", str(self._folder)], check=True)
        shutil.rmtree(self._folder)
        rest.rename(self._folder)


def _top_up(file: int, is_over: threading.Event) -> None:
    while not is_over.wait(_AGAIN_S):
        _fill(file)


def _fill(file: int) -> None:
    with contextlib.suppress(OSError):
        while os.write(file, b"0" * _PIECE):
            pass
