"""Files that are read again, written whole or not at all: kill, full disk and power cut leave what was there."""

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes, *, mode: int = 0o600) -> None:
    """Put content into a file with the given rights; OSError leaves the file as it was."""
    draft = path.with_name(path.name + ".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    put_in_place(draft, path)


def put_in_place(draft: Path, path: Path) -> None:
    """Give a draft that is written its name, once its content is on the disk: the name could be there first."""
    _sync(draft)
    draft.replace(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
