"""Store what jobs of an archive printed and gave back: no more of a job than its agent could have sent."""

import zlib

from apps.agents import bounds
from apps.agents.models import Job, JobFile, JobOutput
from apps.archive.campaigns import fields, records
from apps.archive.campaigns.form import wrong
from apps.archive.campaigns.jobs import most_bytes_of
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.records import Json
from apps.bench.text import Message, _


def store_output(archive: Archive, job: Job, data: Json, place: str, *, is_imported: bool) -> None:
    """Store it of a job whose record is `data`; ArchiveError at `place`, which names the job, for too much."""
    most = most_bytes_of(job, is_imported=is_imported)
    if data.get("output") is not None:
        output = records.mapping(data["output"], f"{place}, output")
        telemetry = output.get("telemetry")
        JobOutput.objects.create(
            job=job,
            stdout_z=_packed(archive, output.get("stdout"), f"{place}, stdout", most)[0],
            stderr_z=_packed(archive, output.get("stderr"), f"{place}, stderr", most)[0],
            telemetry_z=b""
            if telemetry is None
            else _packed(archive, telemetry, f"{place}, telemetry", bounds.MOST_TELEMETRY_BYTES)[0],
            **records.values(JobOutput, output, fields.OUTPUT, place),
        )
    collected = records.sequence(data.get("collected"), f"{place}, collected")
    if len(collected) > bounds.MOST_FILES:
        text = _("A job gives back %(most)s files at most: export the campaign again where it was measured.")
        raise wrong(f"{place}, collected", Message(text, {"most": bounds.MOST_FILES}))
    for item in collected:
        values = records.values(JobFile, item, fields.COLLECTED, place)
        packed, size = _packed(archive, item.get("path"), f"{place}, {values['name']}", most)
        most -= size
        JobFile.objects.create(job=job, content_z=packed, **values)


def _packed(archive: Archive, path: object, place: str, most_bytes: int) -> tuple[bytes, int]:
    """Return the packed content of a file of the archive, and its length; nothing where a record names none."""
    content = b"" if path is None else archive.raw(path, place, most_bytes)
    return zlib.compress(content), len(content)
