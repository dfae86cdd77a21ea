"""Rows of a tool's table as CSV and JSON Lines, written by PostgreSQL itself (COPY) and passed on in pieces."""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from django.db import connection, transaction
from django.db.models.expressions import RawSQL

from apps.archive.exports.columns import ExportColumn, columns_of
from apps.archive.exports.selection import ENDED, ExperimentPart
from apps.bench.toolkit import Tool
from apps.core import cells
from apps.core.subqueries import prepared
from apps.results import queries
from apps.toolbox import queries as toolbox

# "exact" is CSV of which texts stay as they are, for programs: a spreadsheet would take some of them for formulas.
Format = Literal["csv", "exact", "jsonl"]

# What is passed on at a time (B): large enough to cost nothing, small enough to be nothing in memory.
PIECE = 256 * 1024
# For one experiment's samples to be put together without the disk.
_WORK_MEM = "64MB"

_ROWS = """
SELECT {columns} FROM campaigns_trial t
CROSS JOIN (SELECT %s AS campaign, %s AS campaign_name, %s::int AS place, %s AS name) e
JOIN unnest(%s::bigint[], %s::text[]) l (id, nodes) ON l.id = t.lane_id
LEFT JOIN results_result r ON r.trial_id = t.id
LEFT JOIN (SELECT result_id{metrics}, string_agg(metric, ' ' ORDER BY metric) FILTER (WHERE NOT counts) AS not_counted
    FROM results_sample WHERE experiment_id = %s GROUP BY result_id) p
    ON p.result_id = r.id
WHERE t.experiment_id = %s AND t.state = ANY(%s){condition}
ORDER BY t.position
"""
# JSON has no control characters of its own, so that nothing is quoted and each row stands as it is.
_COPY = {
    "csv": "COPY ({rows}) TO STDOUT (FORMAT csv)",
    "exact": "COPY ({rows}) TO STDOUT (FORMAT csv)",
    "jsonl": "COPY (SELECT row_to_json(row) FROM ({rows}) row) TO STDOUT"
    " (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')",
}


class Rows:
    """A tool's table of the parts of a selection."""

    def __init__(self, slug: str, parts: Sequence[ExperimentPart]) -> None:
        self.slug = slug
        # Asked for before anything is sent: an answer that has begun cannot be another.
        self._parts = [(part, _condition(part)) for part in parts]
        self._tool: Tool = toolbox.get_tool(slug)
        self.columns, self._metrics = columns_of(slug, [part.experiment for part in parts])

    def pieces(self, ending: Format) -> Iterator[bytes]:
        """Yield the table in pieces, read from the database as they are asked for."""
        waiting, size = [], 0
        if ending != "jsonl":
            head = _head(self.columns)
            waiting, size = [head], len(head)
        for part, condition in self._parts:
            for row in self._copied(part, condition, ending):
                waiting.append(row)
                size += len(row)
                if size >= PIECE:
                    yield b"".join(waiting)
                    waiting, size = [], 0
        if waiting:
            yield b"".join(waiting)

    def _copied(self, part: ExperimentPart, condition: RawSQL | None, ending: Format) -> Iterator[bytes]:
        rows, values = self._query(part, condition, ending)
        with connection.cursor() as cursor, cursor.copy(_COPY[ending].format(rows=rows), values) as copy:
            for row in copy:
                yield bytes(row)

    def _query(self, part: ExperimentPart, narrowed: RawSQL | None, ending: Format) -> tuple[str, list[Any]]:
        experiment = part.experiment
        campaign = experiment.campaign
        lanes = queries.lane_names(experiment)
        expressions = [self._shown(column, ending) for column in self.columns]
        sums = "".join(f", max(value) FILTER (WHERE metric = %s) m{place}" for place in range(len(self._metrics)))
        values: list[Any] = [
            column.key
            for column, sql in zip(self.columns, expressions, strict=True)
            for _mark in range(sql.count("%s"))
        ]
        values += [campaign.permanent_id, campaign.name, experiment.position, experiment.name]
        values += [list(lanes), list(lanes.values())]
        values += [column.key for column in self._metrics]
        values += [experiment.pk, experiment.pk, list(ENDED)]
        condition = ""
        if narrowed is not None:
            condition = f" AND t.id IN ({narrowed.sql})"
            values += narrowed.params
        return _ROWS.format(columns=", ".join(expressions), metrics=sums, condition=condition), values

    def _shown(self, column: ExportColumn, ending: Format) -> str:
        """Return the SQL of a column with its name."""
        sql = f"p.m{self._metrics.index(column)}" if column in self._metrics else column.sql
        if ending == "csv" and column.type == "string":
            sql = cells.SAFE_SQL.format(sql)
        if ending == "jsonl":
            # Values have types of their own.
            sql = sql.replace("->>%s", "->%s").removesuffix("::text")
        name = column.name.replace('"', '""').replace("%", "%%")
        return f'{sql} AS "{name}"'


def _condition(part: ExperimentPart) -> RawSQL | None:
    """Return the trials that a part is narrowed to, None if it has all."""
    return None if part.condition is None else prepared(part.trials().values("pk"))


def _head(columns: Sequence[ExportColumn]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(column.name for column in columns)
    return out.getvalue().encode()


@contextmanager
def one_moment() -> Iterator[None]:
    """Read the database as it is at one moment, however long that takes."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        with connection.cursor() as cursor:
            if outermost:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT set_config('work_mem', %s, true)", [_WORK_MEM])
        yield
