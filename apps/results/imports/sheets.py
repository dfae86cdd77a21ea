"""Read a table that was sent: first its head, and once its columns have a meaning, every row."""

import json
from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction

from apps.bench.tools.base import Tool
from apps.results.imports import columns, grouping, tables, uploads
from apps.results.imports.models import Import, ImportItem
from apps.results.imports.recognising import storable
from apps.toolbox import queries as toolbox

# So many rows are shown while columns are given their meaning.
SHOWN = 8
_BATCH = 500


def read_head(imported: Import) -> None:
    """Keep the headers and the first rows of a table; TableError or ContainerError says why there are none."""
    with uploads.opened(imported, 0) as file:
        headers, rows = tables.read_table(file)
        first = [row for _number, row in zip(range(SHOWN), rows, strict=False)]
    shown = [[tables.text_of(cells.get(header))[:80] for header in headers] for _line, cells in first]
    imported.sheet = storable({"headers": headers, "rows": shown})
    imported.save(update_fields=["sheet", "updated_at"])


@transaction.atomic
def read_rows(imported: Import) -> None:
    """Make an item of each row, refused or not; TableError or ContainerError ends it."""
    imported.items.all().delete()
    tool = toolbox.get_tool(imported.mapping["tool"])
    with uploads.opened(imported, 0) as file:
        _headers, rows = tables.read_table(file)
        ImportItem.objects.bulk_create(_items(imported, tool, rows), batch_size=_BATCH)


def _items(imported: Import, tool: Tool, rows: Iterator[tables.Row]) -> Iterator[ImportItem]:
    places = grouping.Places(imported.team_id)
    mapping: dict[str, Any] = imported.mapping["columns"]
    zone = ZoneInfo(imported.created_by.timezone if imported.created_by else "UTC")
    name = str(imported.uploads[0]["name"])[:300]
    for position, (number, cells) in enumerate(rows):
        line = columns.read_line(tool, cells, mapping, places, zone)
        item = ImportItem(source=imported, position=position, file=name, place=number, tool=tool.slug)
        if line.refusal:
            item.refusal = storable(line.refusal.as_json())
        else:
            item.group, item.digest = f"{tool.slug}|", line.digest
            item.told, item.values, item.roles = line.told, line.values, line.roles
            item.repetition, item.measured_at = line.repetition, line.measured_at
        # The row as it stands in the table, which the figures were read from.
        item.command = storable({"row": json.dumps({key: tables.text_of(cell) for key, cell in cells.items()})})
        yield item
