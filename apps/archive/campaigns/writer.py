"""Write a campaign as an archive, piece by piece."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.agents.models import FactSnapshot, Job
from apps.archive.campaigns import fields, form, sizes
from apps.archive.campaigns.conclusions import editions_of, finding_lines, report_lines
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.jobs import job_record, jobs_of, outputs_of, withheld_of
from apps.archive.campaigns.places import CampaignInventory
from apps.archive.campaigns.records import Json, record
from apps.archive.rows import one_moment
from apps.archive.zip_stream import ZipStream
from apps.bench import strict_json
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign, Event, Run, Trial
from apps.campaigns.services.foreign_names import names_with
from apps.reports.queries import as_read_by
from apps.results.models import Result, Series
from apps.testbeds.models import Cluster, Node
from apps.testbeds.queries.readers import of_own_nodes
from apps.toolbox.models import VERSION_MARK, ToolVersion
from apps.tuning.analysis import queries as analyses

_BATCH = 200
_PIECE = 256 * 1024
ENDED = (Campaign.State.FINISHED, Campaign.State.CANCELLED)


def archive_of(campaign: Campaign, *, now: datetime, reader: User | None = None) -> Iterator[bytes]:
    """Yield the archive of a campaign that has ended; ArchiveError, before anything else, if there can be none.

    It holds what its `reader` may read (None: the service itself): who is not of the team of the nodes gets it
    without commands, what they printed, what agents told, and notes of the inventory.
    """
    if campaign.state not in ENDED:
        text = _("The campaign has not ended: its archive would hold half of it. Wait, or cancel it.")
        raise ArchiveError("state", Message(text))
    if too_large := sizes.refusal_of(campaign, reader):
        raise ArchiveError("size", too_large)
    return _ArchiveWriter(campaign, now, reader).pieces()


class _ArchiveWriter:
    def __init__(self, campaign: Campaign, now: datetime, reader: User | None) -> None:
        self._campaign = campaign
        self._is_imported = campaign.origin == Campaign.Origin.IMPORTED
        self._reader = reader
        self._now = now
        self._zip = ZipStream()
        self._people: dict[int, User] = {}
        self._told: set[str] = set()
        self._raw: list[Callable[[], Iterator[bytes]]] = []

    def pieces(self) -> Iterator[bytes]:
        with one_moment():
            campaign = self._campaign
            campaign.refresh_from_db()
            self._places = CampaignInventory(campaign, Run.objects.filter(trial__campaign=campaign).values("pk"))
            experiments = list(campaign.experiments.order_by("position", "pk"))
            self._number = {item.pk: place for place, item in enumerate(experiments)}
            lanes = [(item, list(item.lanes.order_by("pk"))) for item in experiments]
            self._lane = {lane.pk: place for _item, rows in lanes for place, lane in enumerate(rows)}
            editions = editions_of(campaign, self._reader).defer(None)
            yield from self._json(form.INVENTORY, json.loads(self._places.as_inventory(self._reader)))
            yield from self._json(form.TOOLS, self._tools())
            yield from self._lines(form.FACTS, self._facts())
            yield from self._lines(form.EXPERIMENTS, (self._experiment(item, rows) for item, rows in lanes))
            yield from self._trials()
            yield from self._lines(form.RESULTS, self._results())
            yield from self._lines(form.SERIES, self._series())
            yield from self._lines(form.EVENTS, self._events())
            yield from self._lines(form.FINDINGS, self._findings())
            yield from self._lines(form.REPORTS, report_lines(campaign, self.person, self._reader))
            for edition in editions.iterator(chunk_size=1):
                path = f"reports/{edition.permanent_id}.json"
                yield from self._zip.add(path, [as_read_by(edition, self._reader).canonical.encode()])
            # Last, for it tells of the people that all the others named.
            yield from self._json(form.CAMPAIGN, self._about())
            yield from self._json(form.MANIFEST, self._manifest(len(experiments)))
            sums = "".join(f"{item.sha256}  {item.path}\n" for item in self._zip.packed)
            yield from self._zip.add(form.SUMS, [sums.encode()])
            yield from self._zip.close()

    def _findings(self) -> Iterator[Json]:
        return finding_lines(self._campaign, self._places, self.trial, self.person, self._reader)

    def person(self, pk: int | None, told: str = "") -> str | None:
        """Return a person's user name, or the one that only an archive told, and remember them."""
        if told:
            self._told.add(told)
            return told
        if pk is None:
            return None
        if pk not in self._people:
            self._people[pk] = User.objects.get(pk=pk)
        return self._people[pk].get_username()

    def trial(self, experiment: int, position: int) -> list[int]:
        """Return what an archive calls a trial: the place of its experiment, and its own."""
        return [self._number[experiment], position]

    def _json(self, path: str, data: Any) -> Iterator[bytes]:
        return self._zip.add(path, [strict_json.dumps(data, ensure_ascii=False, indent=1).encode()])

    def _lines(self, path: str, records: Iterable[Json]) -> Iterator[bytes]:
        return self._zip.add(path, _joined(records))

    def _analysed(self) -> Json:
        """Return what has an analysis that failed here carried out where the archive is read."""
        return {} if analyses.standing_of(self._campaign).is_done else {"analysed_at": None}

    def _about(self) -> Json:
        campaign = self._campaign
        notes = [
            {**record(note, fields.NOTE), "created_by": self.person(note.created_by_id, note.told_by)}
            for note in campaign.notes.order_by("pk")
        ]
        # The campaign's maker is named before the people are listed.
        author = campaign.brought_in.get("made_by", "") if campaign.is_archives_word else ""
        maker = self.person(campaign.created_by_id, author)
        names = dict.fromkeys(self._told, "")
        names |= {user.get_username(): user.get_full_name() for user in self._people.values()}
        people = [{"username": username, "name": name} for username, name in sorted(names.items())]
        return {
            "campaign": record(campaign, fields.CAMPAIGN) | self._analysed(),
            "created_by": maker,
            "team": campaign.team.name,
            "notes": notes,
            "people": people,
            "names": [list(name) for name in names_with(campaign)],
        }

    def _manifest(self, experiments: int) -> Json:
        campaign = self._campaign
        return {
            "format": form.FORMAT,
            "version": form.VERSION,
            "campaign": campaign.permanent_id,
            "name": campaign.name,
            "made_at": self._now.isoformat(),
            "counts": {
                "experiments": experiments,
                "trials": campaign.trials.count(),
                "results": Result.objects.filter(trial__campaign=campaign).count(),
                "findings": campaign.findings.count(),
                "editions": editions_of(campaign, self._reader).count(),
            },
        }

    def _tools(self) -> list[Json]:
        slugs = {item.tool for item in self._campaign.experiments.all() if VERSION_MARK in item.tool}
        # Of the campaign's own team only: whatever it names, no other team's definition leaves with it.
        versions = ToolVersion.objects.filter(tool__team=self._campaign.team_id).select_related("tool")
        named = versions.filter(tool__slug__in={slug.rpartition(VERSION_MARK)[0] for slug in slugs})
        return [
            {"slug": item.tool.slug, "number": item.number, "note": item.note, "definition": item.definition}
            for item in sorted(named, key=lambda version: version.slug)
            if item.slug in slugs
        ]

    def _facts(self) -> Iterator[Json]:
        jobs = Job.objects.filter(run_ref__in=self._runs().values("pk"), facts__isnull=False)
        snapshots = FactSnapshot.objects.filter(pk__in=jobs.order_by().values("facts"))
        rows = of_own_nodes(snapshots, self._reader).order_by("pk")
        self._fact: dict[int, int] = {}
        for place, snapshot in enumerate(rows.iterator(chunk_size=_BATCH)):
            self._fact[snapshot.pk] = place
            yield {"node": self._places.name(Node, snapshot.node_id), **record(snapshot, fields.FACTS)}

    def _runs(self) -> QuerySet[Run]:
        return Run.objects.filter(trial__campaign=self._campaign)

    def _experiment(self, item: Any, lanes: list[Any]) -> Json:
        roles = [
            {
                "role": part.role,
                "node": self._places.name(Node, part.node_id) if part.node_id else None,
                "cluster": self._places.name(Cluster, part.cluster_id) if part.cluster_id else None,
            }
            for part in item.roles.order_by("pk")
        ]
        return {
            **record(item, fields.EXPERIMENT),
            "file_system": item.file_system.name if item.file_system else None,
            "after": self._number[item.after_id] if item.after_id else None,
            "roles": roles,
            "lanes": [
                {"roles": self._places.roles(lane.roles), "resources": self._places.resources(lane.resources)}
                for lane in lanes
            ],
        }

    def _trials(self) -> Iterator[bytes]:
        """Yield the trials' lines, then each job's output: a zip takes one file at a time."""
        outputs: list[tuple[str, int]] = []
        yield from self._lines(form.TRIALS, self._trial_lines(outputs))
        for start in range(0, len(outputs), _BATCH):
            folders = {run: folder for folder, run in outputs[start : start + _BATCH]}
            for run, place, job in jobs_of(list(folders), self._reader):
                path = f"{folders[run]}/{place}-{job.role}"
                for name, content in outputs_of(job, path, is_imported=self._is_imported):
                    yield from self._zip.add(name, content)

    def _trial_lines(self, outputs: list[tuple[str, int]]) -> Iterator[Json]:
        trials = Trial.objects.filter(campaign=self._campaign).order_by("pk").prefetch_related("runs__timings")
        for batch in _batches(trials):
            folders = {
                run.pk: "/".join(map(str, ("raw", *self.trial(trial.experiment_id, trial.position), run.attempt)))
                for trial in batch
                for run in trial.runs.all()
            }
            outputs += [(folder, run) for run, folder in folders.items()]
            jobs: dict[int, list[Json]] = {run: [] for run in folders}
            for pk, number, job in jobs_of(list(folders), self._reader):
                jobs[pk].append(self._job(job, f"{folders[pk]}/{number}-{job.role}"))
            withheld = withheld_of(list(folders), self._reader)
            for trial in batch:
                place = self.trial(trial.experiment_id, trial.position)
                entries = [self._run(run, jobs[run.pk], is_whole=run.pk not in withheld) for run in trial.runs.all()]
                yield {
                    "experiment": place[0],
                    "lane": self._lane[trial.lane_id],
                    **record(trial, fields.TRIAL),
                    "invalid_by": self.person(trial.invalid_by_id, trial.invalid_told_by),
                    "runs": entries,
                }

    def _run(self, run: Run, jobs: list[Json], *, is_whole: bool) -> Json:
        timings = [record(item, fields.TIMING) for item in run.timings.all()]
        entry = {**record(run, fields.RUN), "timings": timings, "jobs": jobs}
        # A plan is the commands once more.
        return entry if is_whole else entry | {"plan": None, "jobs": []}

    def _job(self, job: Job, path: str) -> Json:
        facts = self._fact[job.facts_id] if job.facts_id else None
        entry = job_record(job, path, is_imported=self._is_imported)
        return {**entry, "node": self._places.name(Node, job.node_id), "facts": facts}

    def _results(self) -> Iterator[Json]:
        rows = Result.objects.filter(trial__campaign=self._campaign).order_by("pk")
        for batch in _batches(rows.select_related("run", "trial").prefetch_related("samples", "earlier")):
            for result in batch:
                samples = sorted(result.samples.all(), key=lambda sample: sample.pk)
                yield {
                    **self._of(result),
                    **record(result, fields.RESULT),
                    "samples": [[sample.metric, sample.value] for sample in samples],
                    "earlier": [
                        {**record(item, fields.SUPERSEDED), "reading": json.loads(zlib.decompress(item.reading_z))}
                        for item in result.earlier.all()
                    ],
                }

    def _series(self) -> Iterator[Json]:
        rows = Series.objects.filter(result__trial__campaign=self._campaign).order_by("pk")
        for series in rows.select_related("result__run", "result__trial").iterator(chunk_size=_BATCH):
            yield {**self._of(series.result), **record(series, fields.SERIES)}

    def _of(self, result: Result) -> Json:
        trial = result.trial
        return {"trial": self.trial(trial.experiment_id, trial.position), "attempt": result.run.attempt}

    def _events(self) -> Iterator[Json]:
        rows = Event.objects.filter(campaign=self._campaign).order_by("pk").select_related("trial")
        for event in rows.iterator(chunk_size=_BATCH):
            trial = self.trial(event.trial.experiment_id, event.trial.position) if event.trial else None
            yield {"trial": trial, **record(event, fields.EVENT)}


def _batches(rows: QuerySet[Any]) -> Iterator[list[Any]]:
    """Yield rows that are ordered by their number in batches, each in a query of its own."""
    last = 0
    while batch := list(rows.filter(pk__gt=last)[:_BATCH]):
        yield batch
        last = batch[-1].pk


def _joined(records: Iterable[Json]) -> Iterator[bytes]:
    waiting, size = [], 0
    for item in records:
        line = strict_json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        waiting.append(line)
        size += len(line)
        if size >= _PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)
