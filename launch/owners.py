"""What root makes in a folder that is another user's is that user's: who starts the service there has to read it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def give(path: Path, *folders: Path) -> None:
    """Give what is root's of a file or folder, and of all in it, to the owner of the first of `folders` that is not
    root's; nothing if this is not root, or all of them are."""
    if os.geteuid() != 0 or not path.exists():
        return
    states = [folder.stat() for folder in folders if folder.exists()]
    owner = next((state for state in states if state.st_uid), None)
    if owner is not None:
        for entry in _all(path.resolve()):
            if entry.lstat().st_uid == 0:
                os.chown(entry, owner.st_uid, owner.st_gid, follow_symlinks=False)


@contextmanager
def private() -> Iterator[None]:
    """Make files and folders that nobody but their owner may read, whatever their maker says."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def _all(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir():
        for folder, folders, files in os.walk(path):
            yield from (Path(folder, name) for name in (*folders, *files))
