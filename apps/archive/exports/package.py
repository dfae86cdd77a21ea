"""A selection as a data package: a table a tool, tables of campaigns and experiments, and what describes them.

The description follows Frictionless' Tabular Data Package, version 1 (specs.frictionlessdata.io).
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal

from apps.archive.exports import parquet
from apps.archive.exports.columns import ExportColumn, as_json
from apps.archive.exports.selection import ExportSelection
from apps.archive.rows import Rows, one_moment
from apps.archive.zip_stream import Packed, ZipStream
from apps.bench import strict_json
from apps.campaigns.models import Campaign, Experiment
from apps.core.cells import safe

Pieces = Iterator[bytes]
Ending = Literal["csv", "jsonl", "parquet"]
ENDINGS: tuple[Ending, ...] = ("csv", "jsonl", "parquet")
TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}

_CAMPAIGNS = (
    ExportColumn("campaign", "string", "", "Permanent id of the campaign"),
    ExportColumn("name", "string", "", "Name"),
    ExportColumn("goal", "string", "", "Goal"),
    ExportColumn("team", "string", "", "Short name of the team"),
    ExportColumn("origin", "string", "", "measured, published or imported"),
    ExportColumn("told_by_archive", "boolean", "", "Whether only an archive says that it was measured"),
    ExportColumn("licence", "string", "", "SPDX id of the licence; empty if none was chosen"),
    ExportColumn("launched_at", "datetime", "", "Launched (UTC)"),
    ExportColumn("finished_at", "datetime", "", "Finished (UTC)"),
)
_EXPERIMENTS = (
    ExportColumn("campaign", "string", "", "Permanent id of the campaign"),
    ExportColumn("experiment", "integer", "", "Place of the experiment in its campaign, from 0"),
    ExportColumn("name", "string", "", "Name"),
    ExportColumn("tool", "string", "", "Short name of the tool"),
    ExportColumn("repetitions", "integer", "", "Repetitions asked for"),
    ExportColumn("fixed", "string", "", "Fixed parameters as they were written (JSON)"),
    ExportColumn("factors", "string", "", "Factors as they were written (JSON)"),
    ExportColumn("file_system", "string", "", "File system"),
)


def table_of(selection: ExportSelection, slug: str, ending: Ending) -> Iterator[bytes]:
    """Yield the table of one tool of a selection."""
    with one_moment():
        yield from _pieces(Rows(slug, selection.tools[slug]), ending)


def package_of(selection: ExportSelection, ending: Ending, *, now: datetime, address: str) -> Iterator[bytes]:
    """Yield a zip of all tables and their description (`datapackage.json`); `address` is where they come from."""
    stream = ZipStream()
    resources: list[dict[str, Any]] = []
    with one_moment():
        experiments = selection.experiments
        tables = [Rows(slug, parts) for slug, parts in selection.tools.items()]
        # Kept back until the first rows of trials are there: what breaks before is an error, no torn zip.
        begun: list[bytes] = []
        for name, columns, values, keys in (
            ("campaigns", _CAMPAIGNS, _campaigns(experiments), ["campaign"]),
            ("experiments", _EXPERIMENTS, _experiments(experiments), ["campaign", "experiment"]),
        ):
            begun += stream.add(f"{name}.{ending}", _small(columns, values, ending), is_packed=_is_packed(ending))
            resources.append(_resource(name, columns, stream.packed[-1], ending, keys, _ABOVE.get(name, ())))
        for rows in tables:
            name = f"trials-{rows.slug}".replace(".", "-")
            for piece in stream.add(f"{name}.{ending}", _pieces(rows, ending), is_packed=_is_packed(ending)):
                yield b"".join([*begun, piece])
                begun.clear()
            keys = ["campaign", "experiment", "trial"]
            resources.append(_resource(name, rows.columns, stream.packed[-1], ending, keys, _ABOVE["trials"]))
    yield from begun
    description = _description(selection, resources, now, address)
    yield from stream.add("datapackage.json", [strict_json.dumps(description, ensure_ascii=False, indent=2).encode()])
    yield from stream.close()


_ABOVE = {
    "experiments": (("campaigns", ["campaign"]),),
    "trials": (("experiments", ["campaign", "experiment"]), ("campaigns", ["campaign"])),
}


def _is_packed(ending: Ending) -> bool:
    return ending == "parquet"


def _pieces(rows: Rows, ending: Ending) -> Iterator[bytes]:
    if ending == "parquet":
        return parquet.converted(rows.pieces("exact"), rows.columns)
    return rows.pieces(ending)


def _campaigns(experiments: Sequence[Experiment]) -> Iterator[list[Any]]:
    campaigns: dict[int, Campaign] = {item.campaign_id: item.campaign for item in experiments}
    for item in campaigns.values():
        yield [
            item.permanent_id, item.name, item.goal, item.team.slug, item.origin, item.is_told,
            item.licence or None,
            _moment(item.launched_at), _moment(item.finished_at),
        ]  # fmt: skip


def _experiments(experiments: Sequence[Experiment]) -> Iterator[list[Any]]:
    for item in experiments:
        fixed, factors = (strict_json.dumps(value, ensure_ascii=False) for value in (item.fixed, item.factors))
        system = item.file_system.name if item.file_system else None
        yield [
            item.campaign.permanent_id, item.position, item.name, item.tool, item.repetitions, fixed, factors, system
        ]  # fmt: skip


def _moment(value: datetime | None) -> str | None:
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if value else None


def _small(columns: Sequence[ExportColumn], values: Iterable[list[Any]], ending: Ending) -> Iterator[bytes]:
    """Return a table that is small."""
    names = [column.name for column in columns]
    if ending == "jsonl":
        return (strict_json.dumps(dict(zip(names, row, strict=True))).encode() + b"\n" for row in values)
    lines = _csv(names, values, safe if ending == "csv" else lambda value: value)
    return parquet.converted(lines, columns) if ending == "parquet" else lines


def _csv(names: list[str], values: Iterable[list[Any]], text_of: Callable[[object], object]) -> Iterator[bytes]:
    for row in (names, *values):
        out = io.StringIO()
        # As PostgreSQL writes it in the other tables.
        plain = [str(value).lower() if isinstance(value, bool) else value for value in row]
        csv.writer(out, lineterminator="\n").writerow([text_of(value) for value in plain])
        yield out.getvalue().encode()


def _resource(
    name: str,
    columns: Sequence[ExportColumn],
    packed: Packed,
    ending: Ending,
    keys: list[str],
    above: Iterable[tuple[str, list[str]]],
) -> dict[str, Any]:
    """Return the description of a table: where it is, its checksum, its columns and what its rows belong to."""
    return {
        "name": name.lower(),
        "path": packed.path,
        "profile": "tabular-data-resource",
        "format": ending,
        "mediatype": TYPES[ending],
        "encoding": "utf-8",
        "bytes": packed.size,
        "hash": f"sha256:{packed.sha256}",
        "schema": {
            "fields": as_json(columns),
            "primaryKey": keys,
            "foreignKeys": [
                {"fields": fields, "reference": {"resource": resource, "fields": fields}}
                for resource, fields in above
            ],
            "missingValues": [""],
        },
    }


def _description(
    selection: ExportSelection, resources: list[dict[str, Any]], now: datetime, address: str
) -> dict[str, Any]:
    campaigns = {item.campaign_id: item.campaign for item in selection.experiments}
    licences = sorted({item.licence for item in campaigns.values() if item.licence})
    return {
        "profile": "tabular-data-package",
        "name": "fathom-export",
        "title": f"Results of {len(campaigns)} campaigns",
        # For programs: in one language whoever asks, as the names of columns are.
        "description": "One table of trials for each tool; figures are in base units, which each column names.",
        "created": _moment(now),
        **({"licenses": [{"name": name} for name in licences]} if licences else {}),
        "sources": [{"title": "Fathom", "path": address}],
        "selection": selection.query,
        "resources": resources,
    }
