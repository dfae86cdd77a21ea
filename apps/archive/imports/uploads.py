"""Keep what was sent until it is imported or given up: files below VAR_DIR, one folder an import."""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files import File

from apps.archive.imports.models import Import
from apps.core import scratch, space


def keep(imported: Import, files: Sequence[File]) -> list[dict[str, Any]]:
    """Write files and return {"name", "size", "sha256"} of each; a file's own name is never a path here."""
    folder = _folder(imported)
    # What another database left under the same number.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    with space.whole(folder):
        return [_keep_one(folder / str(number), file) for number, file in enumerate(files)]


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
    """Open a file that was sent; FileNotFoundError if it is gone."""
    with (_folder(imported) / str(number)).open("rb") as file:
        yield file


def remove(imported: Import) -> None:
    """Remove what was sent."""
    shutil.rmtree(_folder(imported), ignore_errors=True)


def sweep(*, now: datetime) -> None:
    """Remove what was sent with a request that never came to its end: folders that no import names, after a while."""
    base = Path(settings.VAR_DIR) / "imports"
    folders = {int(path.name): path for path in base.glob("*") if path.name.isdecimal()}
    numbers = set(Import.objects.filter(pk__in=folders).values_list("pk", flat=True))
    for number, path in folders.items():
        if number not in numbers:
            scratch.remove_if_left(path, now=now)


def _folder(imported: Import) -> Path:
    return Path(settings.VAR_DIR) / "imports" / str(imported.pk)
