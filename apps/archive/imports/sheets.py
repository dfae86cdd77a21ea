"""Read a table that was sent: first how its sheets begin, and once its columns have a meaning, every row."""

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import transaction

from apps.archive.imports import columns, figures, groups, tables, uploads
from apps.archive.imports.cells import text_of
from apps.archive.imports.models import Import, ImportItem
from apps.archive.imports.recognition import storable
from apps.archive.imports.tables import TableError
from apps.bench import strict_json
from apps.bench.text import Message, _
from apps.bench.toolkit import Tool
from apps.campaigns.errors import Refused
from apps.core import cpu_time, messages
from apps.toolbox import queries as toolbox

_BATCH = 500
# What all rows of a table may take of a processor (s): with 200 columns, 10,000 take a fourth of it.
ROWS_S = 120.0
_TOO_SLOW = _("Reading this table takes too long: send it in parts, or as CSV.")

Json = dict[str, Any]


@dataclass(frozen=True)
class Picked:
    """Sheets that were chosen of a table, as `Import.sheet` has them; of a CSV the only one, which has no name."""

    sheets: Sequence[Json]

    @property
    def names(self) -> list[str]:
        """Return their names; none of a CSV."""
        return [sheet["name"] for sheet in self.sheets if sheet["name"]]

    @property
    def headers(self) -> list[str]:
        """Return each header of theirs once."""
        return list(dict.fromkeys(header for sheet in self.sheets for header in sheet["headers"]))

    @property
    def partial(self) -> dict[str, list[str]]:
        """Return {header: the names of the sheets that have it} of those that not all have."""
        sheets_by_header = {
            header: [item["name"] for item in self.sheets if header in item["headers"]] for header in self.headers
        }
        return {header: names for header, names in sheets_by_header.items() if len(names) < len(self.sheets)}


def sheets_of(imported: Import) -> list[Json]:
    """Return all sheets of a table: {"name", "is_hidden", "headers", "rows", "problem"}."""
    whole = {"name": "", "is_hidden": False, "headers": [], "rows": [], "problem": None}
    return imported.sheet.get("sheets") or [{**whole, **imported.sheet}]


def names_of(imported: Import) -> list[str]:
    """Return the names of a workbook's sheets; none of a CSV."""
    return [sheet["name"] for sheet in sheets_of(imported) if sheet["name"]]


def pick(imported: Import, names: Iterable[str] = ()) -> Picked:
    """Return the sheets of these names; of none the first that is not hidden and can be read.

    Refused says at "sheets" which there are, if one is missing, or why one cannot be read.
    """
    there, sheets_asked = sheets_of(imported), set(names)
    sheet_names = names_of(imported)
    if sheets_asked and not sheet_names:
        raise Refused({"sheets": Message(_("This table has no sheets to choose from: leave them out."))})
    if missing := sorted(sheets_asked.difference(sheet_names)):
        text = _("The workbook has no sheet “%(name)s”. It has: %(sheets)s.")
        raise Refused({"sheets": Message(text, {"name": missing[0][:100], "sheets": ", ".join(sheet_names)})})
    for sheet in there:
        if sheet["name"] in sheets_asked and sheet["problem"]:
            text = _("“%(name)s” cannot be imported: %(why)s")
            values = {"name": sheet["name"], "why": messages.render(sheet["problem"])}
            raise Refused({"sheets": Message(text, values)})
    if sheets_asked:
        return Picked([sheet for sheet in there if sheet["name"] in sheets_asked])
    usable = [sheet for sheet in there if not sheet["problem"]]
    return Picked([next((sheet for sheet in usable if not sheet["is_hidden"]), usable[0])])


def read_head(imported: Import) -> None:
    """Keep how a table's sheets begin; TableError or ContainerError says why there are none."""
    with uploads.opened(imported, 0) as file, _in_time(cpu_time.READING_S):
        heads = [head.as_json() for head in tables.read_heads(file, _name_of(imported))]
    imported.sheet = storable({"sheets": heads})
    imported.save(update_fields=["sheet", "updated_at"])


@transaction.atomic
def read_rows(imported: Import) -> None:
    """Make an item of each row, refused or not; TableError or ContainerError ends it."""
    imported.items.all().delete()
    tool = toolbox.get_tool(imported.mapping["tool"])
    with uploads.opened(imported, 0) as file:
        rows = _read_in_time(tables.read_rows(file, _name_of(imported), imported.mapping.get("sheets", ())))
        items = list(_items(imported, tool, rows))
    _tell_apart(items)
    ImportItem.objects.bulk_create(items, batch_size=_BATCH)


def _name_of(imported: Import) -> str:
    return str(imported.uploads[0]["name"])


def _tell_apart(items: Sequence[ImportItem]) -> None:
    """Let the rows of a table be told again by all that it has: figures that are equal are no sign of the same run.

    A row's own time tells it again in any table.
    """
    whole = hashlib.sha256("".join(sorted(item.digest for item in items)).encode()).hexdigest()
    for item in items:
        if item.digest and item.measured_at is None:
            item.digest = hashlib.sha256(f"{whole}{item.digest}".encode()).hexdigest()


def _read_in_time(rows: Iterator[tables.Row]) -> Iterator[tables.Row]:
    """Yield the rows; TableError when to read them has taken ROWS_S of a processor."""
    remaining_s = ROWS_S
    while remaining_s > 0:
        began = time.process_time()
        # Some at a time: what is done with them talks to the database, and must not be ended anywhere.
        with _in_time(remaining_s):
            some = list(islice(rows, _BATCH))
        remaining_s -= time.process_time() - began
        yield from some
        if len(some) < _BATCH:
            return
    raise TableError(_TOO_SLOW)


@contextmanager
def _in_time(seconds: float) -> Iterator[None]:
    try:
        with cpu_time.limited(seconds):
            yield
    except cpu_time.OutOfTimeError as error:
        raise TableError(_TOO_SLOW) from error


def _items(imported: Import, tool: Tool, rows: Iterator[tables.Row]) -> Iterator[ImportItem]:
    places = groups.NodesByName(imported.team_id)
    mapping: Json = imported.mapping["columns"]
    zone = imported.zone
    name = _name_of(imported)[:150]
    alike = Counter[tuple[str, str]]()
    is_one, is_only = len(imported.mapping.get("sheets", ())) < 2, len(sheets_of(imported)) < 2
    # Which sign stands for the decimals is seen by all rows of a column, not by one.
    all_rows = list(rows)
    signs = figures.find_signs(all_rows, columns.of_numbers(tool, mapping))
    for position, (sheet, number, cells) in enumerate(all_rows):
        line = columns.read_line(tool, cells, mapping, places, zone, signs[sheet])
        item = ImportItem(source=imported, position=position, place=number, tool=tool.slug)
        item.file = name if is_only else f"{name}: {sheet}"
        if line.refusal:
            item.refusal = storable(line.refusal.as_json())
        else:
            # Sheets are to a workbook what folders are to outputs: each becomes an experiment.
            item.group = f"{tool.slug}|" if is_one else f"{tool.slug}|{sheet}"
            # Two that measured the same are two, and the same two when the table is sent again.
            group = (item.group, line.digest())
            item.digest = line.digest(0 if line.has_name else alike[group])
            alike[group] += 1
            item.told, item.values, item.roles = line.told, line.values, line.roles
            item.repetition, item.measured_at = line.repetition, line.measured_at
        # The row as it stands in the table, which the figures were read from.
        item.command = storable({"row": strict_json.dumps({key: text_of(cell) for key, cell in cells.items()})})
        yield item
