"""What lies below a campaign's figures, in a digest for each kind: its time series, and what its commands printed.

Told by their contents, however they are packed: retention packs them more tightly, and archives have them unpacked.
"""

import hashlib
import struct
from collections.abc import Iterable, Iterator
from itertools import islice

from django.db.models import F
from django.db.models.functions import Collate

from apps.agents import compression
from apps.agents.models import Job, JobFile
from apps.bench import strict_json
from apps.campaigns.models import Campaign, Run
from apps.results.models import Series

SERIES, OUTPUT = "series", "output"
# Rows that are in memory at once; what one command printed may take megabytes.
_SERIES_AT_ONCE, _RUNS_AT_ONCE = 500, 50
# Of what was printed, unpacked (B).
_PART = 1024 * 1024


def record_digests_of(campaign: Campaign) -> dict[str, str]:
    """Return {SERIES, OUTPUT: SHA-256 in hexadecimal} of a campaign as it stands in the database."""
    return {SERIES: _digest(_series(campaign)), OUTPUT: _digest(_output(campaign))}


def _digest(pieces: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(len(piece).to_bytes(8, "big") + piece)
    return digest.hexdigest()


def _series(campaign: Campaign) -> Iterator[bytes]:
    rows = Series.objects.filter(result__trial__campaign=campaign).annotate(
        experiment=F("result__experiment__position"),
        trial=F("result__trial__position"),
        run=F("result__run__attempt"),
    )
    ordered = rows.order_by("experiment", "trial", "run", Collate("metric", "C"), Collate("stream", "C"))
    for row in ordered.iterator(chunk_size=_SERIES_AT_ONCE):
        yield strict_json.dumps([row.experiment, row.trial, row.run, row.metric, row.stream, row.unit]).encode()
        for numbers in (row.times, row.values):
            yield struct.pack(f"<{len(numbers)}d", *numbers)


def _output(campaign: Campaign) -> Iterator[bytes]:
    runs = Run.objects.filter(trial__campaign=campaign).order_by(
        "trial__experiment__position", "trial__position", "attempt"
    )
    places = runs.values_list("pk", "trial__experiment__position", "trial__position", "attempt")
    rows = places.iterator()
    while some := list(islice(rows, _RUNS_AT_ONCE)):
        # In no order of the database's: that of jobs is the order in which they were made, here or by an archive.
        lines: dict[int, list[str]] = {}
        jobs = Job.objects.filter(run_ref__in=[pk for pk, *_place in some])
        for job in jobs.select_related("output").prefetch_related("collected").order_by():
            lines.setdefault(int(job.run_ref or 0), []).append(_line(job))
        for pk, *place in some:
            yield strict_json.dumps([place, sorted(lines.get(pk, ()))]).encode()


def _line(job: Job) -> str:
    """Return a job's command, its end, and the digests of what it printed and gave back."""
    output = getattr(job, "output", None)
    printed = output and [
        *(_sum(data) for data in (output.stdout_z, output.stderr_z, output.telemetry_z)),
        *(output.stdout_bytes, output.stderr_bytes, output.truncated, output.cut_on_way),
    ]
    files = sorted(_file(file) for file in job.collected.all())
    return strict_json.dumps(
        [job.stage, job.role, job.argv, job.exit_code, job.signal, job.timed_out, printed, files]
    )


def _file(file: JobFile) -> list[object]:
    return [file.name, _sum(file.content_z), file.size, file.truncated, file.cut_on_way]


def _sum(packed: bytes | memoryview) -> str:
    digest = hashlib.sha256()
    for part in compression.unpack_in_parts(packed, _PART):
        digest.update(part)
    return digest.hexdigest()
