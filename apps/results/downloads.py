"""Results as files: CSV and JSON, streamed so that size does not matter."""

import csv
from collections.abc import Iterable, Iterator, Mapping

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from rest_framework.request import Request

from apps.bench import strict_json
from apps.campaigns.models import Experiment
from apps.core import contract
from apps.core.cells import safe
from apps.core.json_answers import JsonAnswer
from apps.core.streams import send
from apps.results import queries


def refusal_of(missing: Mapping[str, Iterable[str]]) -> JsonAnswer:
    """Return 400 for what an address asks for and is not there: {parameter: names that there are}."""
    fields = {name: [contract.one_of(names)] for name, names in missing.items()}
    return JsonAnswer({"detail": _("Some fields are wrong: see “fields”."), "fields": fields}, status=400)


class EchoFile:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        """Return the text."""
        return text


def csv_of(request: HttpRequest | Request, experiment: Experiment) -> StreamingHttpResponse:
    """Return every sample of an experiment as CSV, one line a sample, values in base units."""
    name, kind = _name_of(experiment, "csv"), "text/csv; charset=utf-8"
    return send(request, lambda: csv_lines(queries.rows_of(experiment)), name=name, kind=kind)


def json_of(request: HttpRequest | Request, experiment: Experiment) -> StreamingHttpResponse:
    """Return every sample of an experiment as one JSON array of flat objects."""

    def parts() -> Iterator[bytes]:
        separator = "["
        for row in queries.rows_of(experiment):
            yield (separator + strict_json.dumps(row)).encode()
            separator = ",\n"
        yield b"[]" if separator == "[" else b"]"

    return send(request, parts, name=_name_of(experiment, "json"), kind="application/json")


def csv_lines(rows: Iterable[Mapping[str, object]]) -> Iterator[bytes]:
    """Return lines of CSV: the names of the first row, then the values of each."""
    writer = csv.writer(EchoFile())
    for number, row in enumerate(rows):
        if not number:
            yield writer.writerow(list(row)).encode()
        yield writer.writerow([safe(value) for value in row.values()]).encode()


def plain(value: object) -> object:
    """Return a cell's value of something that is several: a list's items joined by blanks, counts as "name:count"."""
    if isinstance(value, dict):
        return " ".join(f"{name}:{count}" for name, count in value.items())
    return safe(" ".join(map(str, value)) if isinstance(value, list) else value)


def _name_of(experiment: Experiment, ending: str) -> str:
    name = slugify(f"{experiment.campaign.name}-{experiment.name}") or "results"
    return f"{name}-{experiment.pk}.{ending}"
