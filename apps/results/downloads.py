"""Results as files: CSV and JSON, streamed so that size does not matter."""

import csv
import json
from collections.abc import Iterator

from django.http import StreamingHttpResponse
from django.utils.text import slugify

from apps.campaigns.models import Experiment
from apps.results import queries

# A text cell that starts with one of these would be run as a formula by a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Line:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        """Return the text."""
        return text


def csv_of(experiment: Experiment) -> StreamingHttpResponse:
    """Return every sample of an experiment as CSV, one line a sample, values in base units."""

    def lines() -> Iterator[str]:
        writer = csv.writer(Line())
        header: list[str] = []
        for row in queries.rows_of(experiment):
            if not header:
                header = list(row)
                yield writer.writerow(header)
            yield writer.writerow([safe(value) for value in row.values()])

    return _attachment(lines(), experiment, "csv", "text/csv; charset=utf-8")


def json_of(experiment: Experiment) -> StreamingHttpResponse:
    """Return every sample of an experiment as one JSON array of flat objects."""

    def parts() -> Iterator[str]:
        separator = "["
        for row in queries.rows_of(experiment):
            yield separator + json.dumps(row)
            separator = ",\n"
        yield "[]" if separator == "[" else "]"

    return _attachment(parts(), experiment, "json", "application/json")


def safe(value: object) -> object:
    """Return a cell's value such that no spreadsheet takes it for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _attachment(parts: Iterator[str], experiment: Experiment, ending: str, kind: str) -> StreamingHttpResponse:
    name = slugify(f"{experiment.campaign.name}-{experiment.name}") or "results"
    return StreamingHttpResponse(
        parts,
        content_type=kind,
        headers={"Content-Disposition": f'attachment; filename="{name}-{experiment.pk}.{ending}"'},
    )
