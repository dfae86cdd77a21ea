"""Jobs as records of an archive, and what they printed as its files."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.agents import bounds, compression
from apps.agents.models import Job, JobFile
from apps.archive.campaigns import fields
from apps.archive.campaigns.records import Json, record
from apps.core.octets import OctetLength
from apps.testbeds.queries.readers import of_own_nodes

# Nothing unpacks to more than so many times what it takes: zlib to 1,032, xz to some 7,000.
_MOST_GAIN = 10_000
# So many bytes (packed) of what jobs printed are read at once.
_MOST_AT_ONCE = 4 * 1024 * 1024


def withheld_of(runs: list[int], reader: User | None) -> set[int]:
    """Return the runs of which the reader may not read every command."""
    jobs = Job.objects.filter(run_ref__in=runs)
    others = jobs.exclude(pk__in=of_own_nodes(jobs, reader).order_by().values("pk"))
    return {int(number or 0) for number in others.order_by().values_list("run_ref", flat=True)}


def jobs_of(runs: list[int], reader: User | None) -> Iterator[tuple[int, int, Job]]:
    """Yield (run, place in it, job) by the order of runs and their stages, with what a reader may read of it.

    What they printed is read a few MiB at a time: a reader of the archive may take it slowly.
    """
    order = {run: place for place, run in enumerate(runs)}
    rows = Job.objects.filter(run_ref__in=set(runs) - withheld_of(runs, reader))
    weights = rows.order_by("stage", "created_at", "pk").values_list("pk", "run_ref", _WEIGHT)
    places: Counter[int] = Counter()
    for batch in _in_pieces(sorted(weights, key=lambda row: order[row[1]])):
        whole = Job.objects.select_related("output").prefetch_related("collected")
        jobs = whole.in_bulk([pk for pk, _run, _weight in batch])
        for pk, run, _weight in batch:
            job = jobs.pop(pk)
            yield run, places[run], job
            places[run] += 1
            # A job and what it printed hold each other: they would stay until garbage is collected.
            job._state.fields_cache.clear()
            vars(job).pop("_prefetched_objects_cache", None)


def _in_pieces(rows: Iterable[tuple[UUID, int, int]]) -> Iterator[list[tuple[UUID, int, int]]]:
    """Yield jobs in pieces of so many bytes, or of one that has more."""
    piece, size = list[tuple[UUID, int, int]](), 0
    for row in rows:
        if piece and size + row[-1] > _MOST_AT_ONCE:
            yield piece
            piece, size = [], 0
        piece.append(row)
        size += row[-1]
    if piece:
        yield piece


def _length(of: str) -> Coalesce:
    return Coalesce(OctetLength(of), 0)


# How many bytes (packed) of a job an archive reads.
_FILES = JobFile.objects.filter(job=OuterRef("pk")).order_by().values("job")
_WEIGHT = (
    _length("output__stdout_z")
    + _length("output__stderr_z")
    + _length("output__telemetry_z")
    + Coalesce(Subquery(_FILES.annotate(size=Sum(_length("content_z"))).values("size")), 0)
)


@dataclass(frozen=True)
class RawFile:
    """One text of a job as an archive has it: its name, as it is packed, and how many bytes archives take of it."""

    name: str
    packed: bytes
    most_bytes: int

    @cached_property
    def length(self) -> int:
        """Its bytes as an archive has them."""
        if len(self.packed) * _MOST_GAIN <= self.most_bytes:
            return sum(map(len, compression.unpack_in_parts(self.packed)))
        return min(self._whole, self.most_bytes)

    @cached_property
    def is_cut(self) -> bool:
        """Whether an archive has its head alone: it was stored when there was no such limit, or another."""
        return len(self.packed) * _MOST_GAIN > self.most_bytes and self._whole > self.most_bytes

    @cached_property
    def _whole(self) -> int:
        length = 0
        for part in compression.unpack_in_parts(self.packed):
            length += len(part)
            if length > self.most_bytes:
                break
        return length

    def parts(self) -> Iterator[bytes]:
        """Yield what an archive has of it."""
        left = self.most_bytes
        for part in compression.unpack_in_parts(self.packed):
            yield part[:left]
            left -= len(part)
            if left <= 0:
                return


def most_bytes_of(job: Job, *, is_imported: bool) -> int:
    """Return how much archives take of a job's stdout, stderr and files each; imported outputs are no agent's."""
    return bounds.MOST_OUTPUT_BYTES if is_imported else min(job.output_limit_bytes, bounds.MOST_OUTPUT_BYTES)


def job_record(job: Job, path: str, *, is_imported: bool) -> Json:
    """Return a job's record without its node and facts; `path` is what its files' paths begin with.

    What an archive has the head of alone is `truncated`, as what an agent has cut off.
    """
    output = getattr(job, "output", None)
    printed, files = _printed(job, is_imported), _collected(job, is_imported)
    output_record = None
    if output is not None:
        is_cut = output.truncated or any(file.is_cut for file in printed) or len(files) < len(job.collected.all())
        output_record = record(output, fields.OUTPUT) | {"truncated": is_cut}
        output_record |= dict.fromkeys(("stdout", "stderr", "telemetry"))
        output_record |= {file.name: f"{path}.{file.name}" for file in printed}
    collected = [
        {**record(row, fields.COLLECTED), "truncated": row.truncated or file.is_cut, "path": f"{path}.{file.name}"}
        for row, file in zip(job.collected.all(), files, strict=False)
    ]
    return {"id": str(job.pk), **record(job, fields.JOB), "output": output_record, "collected": collected}


def outputs_of(job: Job, path: str, *, is_imported: bool) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield path and parts of what a job printed, what its agent read meanwhile, and the files it gave back."""
    for file in (*_printed(job, is_imported), *_collected(job, is_imported)):
        yield f"{path}.{file.name}", file.parts()


def _printed(job: Job, is_imported: bool) -> list[RawFile]:
    """Return what a job printed and its agent read, without what has nothing in it; half a telemetry is none."""
    output = getattr(job, "output", None)
    if output is None:
        return []
    most = most_bytes_of(job, is_imported=is_imported)
    files = [
        RawFile("stdout", bytes(output.stdout_z), most),
        RawFile("stderr", bytes(output.stderr_z), most),
        RawFile("telemetry", bytes(output.telemetry_z), bounds.MOST_TELEMETRY_BYTES),
    ]
    some = [file for file in files if compression.head(file.packed, 1)]
    return [file for file in some if file.name != "telemetry" or not file.is_cut]


def _collected(job: Job, is_imported: bool) -> list[RawFile]:
    """Return the files that a job gave back, all of which share what is taken of them."""
    left, files = most_bytes_of(job, is_imported=is_imported), []
    for place, row in enumerate(list(job.collected.all())[: bounds.MOST_FILES]):
        files.append(RawFile(f"file-{place}", bytes(row.content_z), left))
        left -= files[-1].length
    return files
