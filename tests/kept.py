"""What many tests begin with is made once by each process of a run; for each later test it is put back as it was.

To define, launch and measure a campaign takes a third of a second of a processor, a team that has one of everything
takes seconds. What stands in the rows is what the service wrote when it was made first, with the numbers it had then;
times are moved by as much as went by since.
"""

import io
import pickle
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from django.apps import apps
from django.db import connection, models, transaction
from django.utils import timezone

from apps.core import broker
from tests import rewriting

T = TypeVar("T")
_TIME = re.compile(rb"\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:\+00(?::00)?|Z)")
# As far behind or before the time of its making the times lie that go with it (s).
_BEHIND, _BEFORE = timedelta(minutes=1), timedelta(hours=1)
# What alone has rows once it is migrated (tests.management.commands.flush).
_MIGRATED = {"auth_permission", "django_content_type"}
# Counters of the limits (apps.core.limits.counters), which know people and teams by their numbers.
_COUNTED = "fathom:limit:*"


@dataclass(frozen=True)
class _Table:
    """A table, its columns as COPY names them, and the text of its rows."""

    name: str
    columns: str
    text: bytes


@dataclass(frozen=True)
class _Kept:
    """Values, pickled with the numbers of rows in place of these, the rows, when they were made, and the files.

    The content of a folder among the files is None.
    """

    values: bytes
    tables: Sequence[_Table]
    began: datetime
    ended: datetime
    files: Mapping[Path, bytes | None]


_kept: dict[str, _Kept] = {}


def world(name: str, make: Callable[[], T], folder: Path | None = None) -> T:
    """Return what `make` returns, with all rows that it writes; it may hold rows of models and paths in a folder.

    It is kept where the database is empty but for what was migrated, and so is the folder, if files are written.
    """
    if name in _kept:
        _put_back(_kept[name], folder)
    else:
        began, migrated = timezone.now(), _rows()
        values = _pickled(made := make(), folder)
        if {table.name for table in migrated} - _MIGRATED:
            return made
        rows = [table for table in _rows() if table not in migrated]
        _kept[name] = _Kept(values, rows, began, timezone.now(), _files(folder))
    found: T = _Unpickler(_kept[name].values, folder).load()
    return found


def _put_back(kept: _Kept, folder: Path | None) -> None:
    client = broker.client(timeout_s=10)
    if counters := list(client.scan_iter(_COUNTED, count=1000)):
        client.delete(*counters)
    for path, content in kept.files.items():
        assert folder
        if content is None:
            (folder / path).mkdir(exist_ok=True)
        else:
            (folder / path).write_bytes(content)
    with transaction.atomic(), rewriting.allowed(), connection.cursor() as cursor:
        for table in kept.tables:
            with cursor.copy(f'COPY "{table.name}" ({table.columns}) FROM STDIN') as copy:
                copy.write(_moved(table.text, kept))


def _files(folder: Path | None) -> dict[Path, bytes | None]:
    """Return {path within the folder: content}; in memory, for a worker that is interrupted takes no folder away."""
    found = sorted(folder.rglob("*")) if folder else []
    return {path.relative_to(folder): None if path.is_dir() else path.read_bytes() for path in found if folder}


def _rows() -> list[_Table]:
    """Return the rows of all models that have any."""
    tables = []
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            if not model._meta.managed:
                continue
            fields = [field for field in model._meta.local_concrete_fields if not field.generated]
            names = ", ".join(f'"{field.column}"' for field in fields)
            with cursor.copy(f'COPY (SELECT {names} FROM "{model._meta.db_table}") TO STDOUT') as copy:
                if text := b"".join(bytes(block) for block in copy):
                    tables.append(_Table(model._meta.db_table, names, text))
    return tables


def _moved(text: bytes, kept: _Kept) -> bytes:
    """Return a text with its times as far from now as they were when it was made."""
    by = timezone.now() - kept.ended

    def move(match: re.Match[bytes]) -> bytes:
        time = datetime.fromisoformat(match[0].decode())
        if not kept.began - _BEHIND < time < kept.ended + _BEFORE:
            return match[0]
        return (time + by).isoformat(sep=match[1].decode()).encode()

    return _TIME.sub(move, text)


def _pickled(values: Any, folder: Path | None) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, folder).dump(values)
    return buffer.getvalue()


class _Pickler(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, folder: Path | None) -> None:
        super().__init__(buffer)
        self._folder = folder

    def persistent_id(self, value: Any) -> tuple[str, Any] | None:
        """Return what stands for a row or a path."""
        if isinstance(value, models.Model):
            return value._meta.label, value.pk
        if isinstance(value, Path) and self._folder and value.is_relative_to(self._folder):
            return "", str(value.relative_to(self._folder))
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, values: bytes, folder: Path | None) -> None:
        super().__init__(io.BytesIO(values))
        self._folder = folder
        self._rows: dict[tuple[str, Any], Any] = {}

    def persistent_load(self, named: tuple[str, Any]) -> Any:
        """Return the row as it is now, or the path in this test's folder."""
        label, value = named
        if not label:
            assert self._folder
            return self._folder / value
        if named not in self._rows:
            self._rows[named] = apps.get_model(label)._base_manager.get(pk=value)
        return self._rows[named]
