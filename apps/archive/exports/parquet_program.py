"""A program that turns CSV on its standard input into Parquet on its standard output, a piece at a time.

The first line is the schema, as JSON: [{"name", "type", "title", "unit"}]. It is a program of its own so that
pyarrow, with its tens of megabytes, stays out of the service's processes; it imports nothing of ours.
"""

import json
import os
import sys
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

_BLOCK = 4 * 1024 * 1024


def main() -> None:
    """Convert."""
    columns: list[dict[str, Any]] = json.loads(sys.stdin.buffer.readline())
    types = {
        "string": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "datetime": pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema(
        [pa.field(column["name"], types[column["type"]], metadata={**_about(column)} or None) for column in columns]
    )
    options = csv.ConvertOptions(
        column_types=schema, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
    )
    reading = csv.ReadOptions(block_size=_BLOCK, use_threads=False)
    parsing = csv.ParseOptions(newlines_in_values=True)
    with (
        csv.open_csv(
            sys.stdin.buffer, read_options=reading, parse_options=parsing, convert_options=options
        ) as batches,
        parquet.ParquetWriter(sys.stdout.buffer, schema, compression="zstd") as writer,
    ):
        for batch in batches:
            writer.write_batch(batch.cast(schema))


def _about(column: dict[str, Any]) -> dict[str, str]:
    return {name: column[name] for name in ("title", "unit") if column.get(name)}


if __name__ == "__main__":
    main()
    sys.stdout.buffer.flush()
    # Threads of Arrow's that still hold the standard input would abort an orderly end of the interpreter.
    os._exit(0)
