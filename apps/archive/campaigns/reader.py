"""Read an archive that somebody sent: weighed, checked against its sums, and never believed."""

import hashlib
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, BinaryIO

from apps.archive.campaigns import form, records
from apps.archive.campaigns.form import ArchiveError, wrong
from apps.archive.campaigns.records import Json
from apps.archive.imports.containers import ContainerError, Package
from apps.archive.imports.containers.limits import DAMAGES
from apps.bench.text import Message, _
from apps.campaigns import permanent_ids
from apps.core import documents

_CHUNK = 1024 * 1024
# Where what records name is, and how files end of which each line is read by itself.
_RAW, _REPORTS, _LINES = "raw/", "reports/", ".jsonl"
_SUM_LINE = 64 + 2
# Each has a line for each; editions are counted in the reports that they are of.
_COUNTED_FILES = (form.EXPERIMENTS, form.TRIALS, form.RESULTS, form.FINDINGS)
# A file of sums is as long as its paths.
_MOST_SUMS = form.LIMITS.entries * 400

Progress = Callable[[int, int], None]


class Archive:
    """An archive of a campaign in a seekable file of this name; ArchiveError says why it is refused."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        try:
            self._package = Package(file, name, form.LIMITS)
        except ContainerError as error:
            raise ArchiveError(error.code, error.message) from error
        self._names = set(self._package.names)
        self._named: set[str] = set()
        if form.MANIFEST not in self._names:
            raise ArchiveError("foreign", Message(_("This is no archive of a campaign: %(name)s is missing.", ),
                                                  {"name": form.MANIFEST}))  # fmt: skip
        self.manifest = self._read_manifest()
        missing = [name for name in form.NEEDED if name not in self._names]
        if missing:
            text = _("The archive is not whole, %(name)s is missing: export the campaign again.")
            raise ArchiveError("incomplete", Message(text, {"name": missing[0]}))

    @property
    def permanent_id(self) -> str:
        """Return the permanent id of the campaign."""
        return str(self.manifest["campaign"])

    @property
    def name(self) -> str:
        """Return the name that the campaign is stored under, whatever the manifest says."""
        about = records.mapping(self.json(form.CAMPAIGN), form.CAMPAIGN)
        campaign = records.mapping(about.get("campaign"), f"{form.CAMPAIGN}, campaign")
        return records.text(campaign.get("name"), f"{form.CAMPAIGN}, name")

    @cached_property
    def counts(self) -> dict[str, int]:
        """Return how many experiments, trials and the like are stored of it, whatever the manifest says."""
        counts = {file.removesuffix(_LINES): self._count(file) for file in _COUNTED_FILES}
        editions = (records.sequence(report.get("editions"), place) for place, report in self.lines(form.REPORTS))
        return counts | {"editions": sum(map(len, editions))}

    def verify(
        self, progress: Progress | None = None, *, after: int = 0, is_time_up: Callable[[], bool] = lambda: False
    ) -> int:
        """Compare files with their sums, those after so many, and return how many of all are done by now.

        At least one more each time, all of `total` unless the time is up. ArchiveError names a file that differs, is
        missing or was added.
        """
        sums = self._sums()
        others = self._names - {form.SUMS}
        if extra := sorted(others - sums.keys()):
            text = _("%(name)s has no sum in %(sums)s: it was added after the archive was made.")
            raise ArchiveError("sums", Message(text, {"name": extra[0], "sums": form.SUMS}))
        if missing := sorted(sums.keys() - others):
            text = _("The archive is not whole, %(name)s is missing: export the campaign again.")
            raise ArchiveError("incomplete", Message(text, {"name": missing[0]}))
        self._refuse_large()
        done = after
        for name in self._package.names[after:]:
            if name != form.SUMS and self._digest(name) != sums[name]:
                text = _("%(name)s is not as it was when the archive was made: export the campaign again.")
                raise ArchiveError("sums", Message(text, {"name": name}))
            done += 1
            if progress and done % 100 == 0:
                progress(done, self.total)
            if is_time_up():
                break
        return done

    @property
    def total(self) -> int:
        """Return how many files it has."""
        return len(self._names)

    def read_anew(self) -> None:
        """Have all that records name read once more: what was stored of it was taken back."""
        self._named.clear()

    def json(self, name: str) -> Any:
        """Return the values of a JSON file."""
        return self._parsed(self._bytes(name, form.LONGEST_JSON), name)

    def lines(self, name: str) -> Iterator[tuple[str, Json]]:
        """Yield the objects of a file of JSON lines, each with its place."""
        try:
            with self._package.open(name) as file:
                number = 0
                while line := file.readline(form.LONGEST_LINE + 1):
                    number += 1
                    place = f"{name}, {number}"
                    if len(line) > form.LONGEST_LINE:
                        raise wrong(place, Message(_("The line is too long.")))
                    yield place, records.mapping(self._parsed(line, place), place)
        except DAMAGES as error:
            raise _damaged(name) from error

    def raw(self, name: object, place: str, most_bytes: int) -> bytes:
        """Return a file that a record of a job names, of so many bytes at most."""
        path = self._named_once(name, _RAW, place)
        if self._package.size(path) > most_bytes:
            text = _(
                "It has more than %(most)s bytes, and no agent sends more of this job: export the campaign again "
                "where it was measured."
            )
            raise wrong(place, Message(text, {"most": most_bytes}))
        return self._bytes(path, most_bytes)

    def report(self, name: str, place: str) -> bytes:
        """Return the document of an edition."""
        return self._bytes(self._named_once(name, _REPORTS, place), form.LONGEST_REPORT)

    def _named_once(self, name: object, folder: str, place: str) -> str:
        """Return a path that no record named before: so what all name unpacks to no more than the archive does."""
        if not isinstance(name, str) or not name.startswith(folder) or name not in self._names:
            raise wrong(place, Message(_("It names a file that is not in the archive.")))
        if name in self._named:
            text = _(
                "It names %(name)s, which is another's already: export the campaign again where it was measured."
            )
            raise wrong(place, Message(text, {"name": name}))
        self._named.add(name)
        return name

    def _read_manifest(self) -> Json:
        manifest = records.mapping(self.json(form.MANIFEST), form.MANIFEST)
        if manifest.get("format") != form.FORMAT:
            raise ArchiveError("foreign", Message(_("This is no archive of a campaign.")))
        version = records.whole(manifest.get("version"), f"{form.MANIFEST}, version")
        if version > form.VERSION:
            text = _("The archive has version %(version)s of the form, this service reads %(known)s: update it.")
            raise ArchiveError("newer", Message(text, {"version": version, "known": form.VERSION}))
        identity = records.text(manifest.get("campaign"), f"{form.MANIFEST}, campaign")
        if permanent_ids.normalise(identity) != identity:
            raise wrong(f"{form.MANIFEST}, campaign", Message(_("This is no permanent id.")))
        records.text(manifest.get("name"), f"{form.MANIFEST}, name")
        counts = records.mapping(manifest.get("counts"), f"{form.MANIFEST}, counts")
        for name in (*(file.removesuffix(_LINES) for file in _COUNTED_FILES), "editions"):
            records.whole(counts.get(name), f"{form.MANIFEST}, {name}")
        return manifest

    def _sums(self) -> dict[str, str]:
        sums = {}
        for line in self._bytes(form.SUMS, _MOST_SUMS).decode(errors="replace").splitlines():
            digest, gap, name = line[:64], line[64:_SUM_LINE], line[_SUM_LINE:]
            if len(digest) != 64 or gap != "  " or not name or name in sums:
                raise wrong(form.SUMS, Message(_("A line holds a sum, two blanks and a path.")))
            sums[name] = digest
        return sums

    def _refuse_large(self) -> None:
        """Refuse a file of a length at which it is never read, before it is unpacked for its sum."""
        for name in self._package.names:
            if name.startswith(_RAW):
                most = form.LONGEST_RAW
            elif name.startswith(_REPORTS):
                most = form.LONGEST_REPORT
            elif name == form.SUMS or name.endswith(_LINES):
                continue
            else:
                most = form.LONGEST_JSON
            if self._package.size(name) > most:
                raise wrong(name, Message(_("The file is too large.")))

    def _count(self, name: str) -> int:
        """Return how many lines a file has; the last may have no end."""
        count, last = 0, b"\n"
        try:
            with self._package.open(name) as file:
                while chunk := file.read(_CHUNK):
                    count, last = count + chunk.count(b"\n"), chunk[-1:]
        except DAMAGES as error:
            raise _damaged(name) from error
        return count + (last != b"\n")

    def _digest(self, name: str) -> str:
        digest = hashlib.sha256()
        try:
            with self._package.open(name) as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
        except DAMAGES as error:
            raise _damaged(name) from error
        return digest.hexdigest()

    def _bytes(self, name: str, maximum: int) -> bytes:
        if self._package.size(name) > maximum:
            raise wrong(name, Message(_("The file is too large.")))
        try:
            with self._package.open(name) as file:
                return file.read()
        except DAMAGES as error:
            raise _damaged(name) from error

    def _parsed(self, data: bytes, place: str) -> Any:
        try:
            document = documents.read_json(data, form.RECORD_LIMITS)
            records.check(document, place)
        except (ValueError, RecursionError) as error:
            raise wrong(place, Message(_("This is not JSON."))) from error
        return document


def _damaged(name: str) -> ArchiveError:
    text = _("%(name)s is damaged: export the campaign again.")
    return ArchiveError("damaged", Message(text, {"name": name}))
