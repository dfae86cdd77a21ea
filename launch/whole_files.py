"""Files that are read again, written whole or not at all: a kill or a full disk leaves what was there before."""

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes, *, mode: int = 0o600) -> None:
    """Put content into a file with the given rights; OSError leaves the file as it was."""
    draft = path.with_name(path.name + ".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    draft.replace(path)
