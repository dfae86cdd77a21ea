"""Large files that are written beside the name they get: each has a draft of its own, and none outlives its maker."""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from apps.core.regular_files import open_found

# No one else's: those of any name are removed, such as one that has a date in it.
END = ".fathom-draft"


@contextmanager
def draft_of(file: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Give a new file beside `file`, locked while it is written; it goes unless it was given another name."""
    path, draft = _made(file)
    try:
        with draft:
            yield path, draft
    finally:
        path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove the drafts in a folder, whatever they were to be called, that nobody is at any more."""
    for path in folder.glob(f"*{END}"):
        with contextlib.suppress(OSError), open_found(path) as left:
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def _made(file: Path) -> tuple[Path, IO[bytes]]:
    while True:
        descriptor, name = tempfile.mkstemp(prefix=f"{file.name}.", suffix=END, dir=file.parent)
        draft = os.fdopen(descriptor, "w+b")
        # Where files cannot be locked none is swept either.
        with contextlib.suppress(OSError):
            fcntl.flock(draft, fcntl.LOCK_EX)
        if (path := Path(name)).exists():
            return path, draft
        # Another took it for left behind before it was locked.
        draft.close()
