"""Keep what was sent until it is imported or given up: files below VAR_DIR, one folder an import.

The row that names them is on the disk at once, so they have to be there before, under the number that it gets: a
transaction would hold what others wait for as long as the disk takes. What is read is compared with the row.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files import File

from apps.archive.imports.models import Import
from apps.bench.text import Message, _
from apps.core import scratch, space, whole_files


class NotWhole(Exception):
    """What was sent is not on the disk as it was sent; `message` says what to do."""

    def __init__(self) -> None:
        self.message = Message(_("What was sent is no longer whole on the server's disk: send it again."))
        super().__init__(str(self.message))


def keep(number: int, files: Sequence[File]) -> list[dict[str, Any]]:
    """Write files of the import that gets this number, and return {"name", "size", "sha256"} of each.

    A file's own name is never a path here.
    """
    folder = _folder(number)
    # What another database left under the same number.
    shutil.rmtree(folder, ignore_errors=True)
    whole_files.make_folder(folder, mode=0o700)
    with space.whole(folder):
        records = [_keep_one(folder / str(place), file) for place, file in enumerate(files)]
        whole_files.sync_all(folder)
        return records


def _keep_one(path: Path, file: File) -> dict[str, Any]:
    digest = hashlib.sha256()
    with path.open("wb") as target:
        for part in file.chunks():
            digest.update(part)
            target.write(part)
    return {"name": str(file.name), "size": file.size, "sha256": digest.hexdigest()}


def names(imported: Import) -> Iterator[tuple[int, str]]:
    """Yield number and name of each file."""
    yield from enumerate(str(upload["name"]) for upload in imported.uploads)


@contextmanager
def opened(imported: Import, number: int) -> Iterator[BinaryIO]:
    """Open a file that was sent; FileNotFoundError if it is gone, NotWhole if it is not what was sent any more."""
    sent = imported.uploads[number]
    with (_folder(imported.pk) / str(number)).open("rb") as file:
        if os.fstat(file.fileno()).st_size != sent["size"]:
            raise NotWhole
        if hashlib.file_digest(file, "sha256").hexdigest() != sent["sha256"]:
            raise NotWhole
        file.seek(0)
        yield file


def remove(number: int) -> None:
    """Remove what was sent for the import of a number."""
    shutil.rmtree(_folder(number), ignore_errors=True)


def sweep(*, now: datetime) -> None:
    """Remove what was sent with a request that never came to its end: folders that no import names, after a while."""
    base = Path(settings.VAR_DIR) / "imports"
    folders = {int(path.name): path for path in base.glob("*") if path.name.isdecimal()}
    numbers = set(Import.objects.filter(pk__in=folders).values_list("pk", flat=True))
    for number, path in folders.items():
        if number not in numbers:
            scratch.remove_if_left(path, now=now)


def _folder(number: int) -> Path:
    return Path(settings.VAR_DIR) / "imports" / str(number)
