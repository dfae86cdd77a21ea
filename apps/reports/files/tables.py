"""A document's tables, and the data of its figures, as CSV files in one ZIP; numbers are not rounded."""

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from django.utils.translation import gettext as _

from apps.reports.document import Document, Figure, Table, TextLink, Value, walk
from apps.reports.files import cells, flat
from apps.reports.files.base import Imprint, Progress
from apps.results import downloads

# The same document gives the same file.
_DATE = (1980, 1, 1, 0, 0, 0)
# What tells spreadsheets that the file is UTF-8.
_MARK = "\ufeff"
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


def render(document: Document, imprint: Imprint, output: Path, progress: Progress) -> None:
    """Write the ZIP: contents.csv says which file is which table."""
    numbers = cells.numbers_of(document)
    blocks = [block for block in walk(document) if isinstance(block, Table | Figure)]
    contents: list[list[str]] = []
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, block in enumerate(blocks, start=1):
            name = f"{place:03}-{file_name(block.key)}.csv"
            _add(archive, name, _lines(block))
            note = block.note if isinstance(block, Table) else cells.sentence_of(block)
            contents.append([name, numbers[id(block)], block.caption, note])
            progress(place / len(blocks))
        heads = [_("File"), _("Number"), _("Caption"), _("Note")]
        _add(archive, "contents.csv", [heads, *contents])


def file_name(key: str) -> str:
    """Return a key as part of a file's name."""
    return _NOT_IN_NAMES.sub("-", key.lower()).strip("-")[:60] or "data"


def _lines(block: Table | Figure) -> Iterator[Sequence[object]]:
    if isinstance(block, Figure) and block.data is None:
        yield flat.heads_of(block.chart)
        yield from flat.rows_of(block.chart)
        return
    table = block.data if isinstance(block, Figure) and block.data else block
    assert isinstance(table, Table)
    yield [cells.head_of(column) for column in table.columns]
    for row in table.rows:
        yield [_value(value) for value in row]


def _value(value: Value | TextLink) -> object:
    return value.text if isinstance(value, TextLink) else value


def _add(archive: zipfile.ZipFile, name: str, lines: Iterable[Sequence[object]]) -> None:
    """Write a file line by line, so that its length does not matter."""
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(entry, "w") as raw, io.TextIOWrapper(raw, "utf-8", newline="") as out:
        out.write(_MARK)
        writer = csv.writer(out)
        writer.writerows([downloads.safe(value) for value in line] for line in lines)
