"""Make a campaign of what was imported, all of it in one transaction: trials, runs, raw outputs, results, samples."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet

from apps.agents.models import Job, JobOutput
from apps.archive.imports import checks, groups, sweeps
from apps.archive.imports.models import Import, ImportItem
from apps.bench import strict_json
from apps.bench.sweep import likeness
from apps.bench.text import Message, _
from apps.bench.toolkit import Plan, Reading, SampleValue, Stage
from apps.bench.validity import caches
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Experiment, ExperimentRole, Lane, Run, Trial
from apps.results import server_caches
from apps.results.models import Result, Sample, Series
from apps.testbeds import queries as inventory
from apps.testbeds.models import FileSystem, Node
from apps.toolbox import queries as toolbox

Json = dict[str, Any]

# Where a result tells which file it was read from, and which line or output of it.
PROVENANCE = "imported"
BATCH = 200
_PLAN = Plan((Stage("measure", ()),)).as_json()


@transaction.atomic
def store(imported: Import, now: datetime) -> Campaign:
    """Return the campaign that holds everything of an import that was checked and has no problem."""
    moment = _moment_of(imported, now)
    campaign = Campaign.objects.create(
        team_id=imported.team_id,
        name=imported.name,
        origin=Campaign.Origin.IMPORTED,
        created_by_id=imported.created_by_id,
        state=Campaign.State.FINISHED,
        launched_at=moment,
        finished_at=moment,
    )
    ready = [group for group in imported.groups if _items(imported, group["key"]).exists()]
    for position, group in enumerate(ready):
        _GroupWriter(imported, campaign, position, group, moment).write()
    _tell_times(campaign)
    text = _("Imported by %(user)s from %(files)s; trials: %(count)s.")
    files = ", ".join(str(upload["name"]) for upload in imported.uploads[:5])
    files += ", …" if len(imported.uploads) > 5 else ""
    who = imported.created_by.get_username() if imported.created_by else ""
    values = {"user": who, "files": files, "count": campaign.trials.count()}
    campaigns.write_event(campaign_id=campaign.pk, message=Message(text, values))
    return campaign


def _items(imported: Import, key: str) -> QuerySet[ImportItem]:
    items = groups.usable(imported).filter(group=key, problem__isnull=True, reading__isnull=False)
    return items.select_related("source").order_by("position")


def _moment_of(imported: Import, now: datetime) -> datetime:
    """Return the time of what does not tell its own: as was said, else that of the last that does."""
    if imported.measured_on:
        return datetime.combine(imported.measured_on, time(12), UTC)
    latest: datetime | None = groups.usable(imported).aggregate(last=Max("measured_at"))["last"]
    return min(latest, now) if latest else now


def _tell_times(campaign: Campaign) -> None:
    """Let the campaign have the times of the measurement, not that of the import."""
    times = list(campaign.trials.order_by("finished_at").values_list("finished_at", flat=True))
    campaign.launched_at, campaign.finished_at = times[0], times[-1]
    campaign.save(update_fields=["launched_at", "finished_at", "updated_at"])


class _GroupWriter:
    """Writes one group as an experiment."""

    def __init__(self, imported: Import, campaign: Campaign, position: int, group: Json, moment: datetime) -> None:
        self._imported, self._campaign, self._moment = imported, campaign, moment
        self._key = group["key"]
        self._choice = imported.choices[self._key]
        self._tool = toolbox.get_tool(group["tool"])
        file_system = self._choice["file_system"]
        self._experiment = Experiment(
            campaign=campaign,
            position=position,
            name=self._choice["name"],
            tool=group["tool"],
            order=Experiment.Order.AS_GIVEN,
            context=False,
            file_system=FileSystem.objects.get(pk=file_system) if file_system else None,
            expanded_at=moment,
        )
        self._lanes: dict[str, Lane] = {}
        self._networks = inventory.Networks()
        # What the servers of the file system have as memory, by lane.
        self._memories: dict[int, int | None] = {}
        # Points in the order in which they come, and how often each came on each lane.
        self._points: dict[str, Json] = {}
        self._numbers: dict[str, int] = {}
        self._repetitions: dict[tuple[int, int], int] = defaultdict(int)
        self._beside = self._varied_beside()

    def write(self) -> None:
        """Write the experiment and all of its trials."""
        self._experiment.save()
        count = 0
        for items in self._batches():
            self._write(items, count)
            count += len(items)
        # What they printed is the runs' now.
        _items(self._imported, self._key).update(reading=None, stdout_z=b"", stderr_z=b"")
        sweep = sweeps.sweep_of(self._tool, list(self._points.values()))
        for name, value in sweep.items():
            setattr(self._experiment, name, value)
        self._experiment.repetitions = min(1000, max(self._repetitions.values()))
        self._experiment.save()
        members = {
            (role, node) for lane in self._lanes.values() for role, nodes in lane.roles.items() for node in nodes
        }
        ExperimentRole.objects.bulk_create(
            ExperimentRole(experiment=self._experiment, role=role, node_id=node) for role, node in sorted(members)
        )

    def _batches(self) -> Iterator[list[ImportItem]]:
        last = -1
        while items := list(_items(self._imported, self._key).filter(position__gt=last)[:BATCH]):
            last = items[-1].position
            yield items

    def _write(self, items: Sequence[ImportItem], first: int) -> None:
        trials = Trial.objects.bulk_create(self._trial(item, first + place) for place, item in enumerate(items))
        runs = Run.objects.bulk_create(
            Run(
                trial=trial,
                experiment_id=trial.experiment_id,
                attempt=1,
                state=Run.State.SUCCEEDED,
                plan=_PLAN,
                stage=0,
                started_at=trial.finished_at or self._moment,
                ended_at=trial.finished_at,
            )
            for trial in trials
        )
        rows = list(zip(items, trials, runs, strict=True))
        jobs = [job for item, trial, run in rows if (job := self._job(item, trial, run))]
        Job.objects.bulk_create(jobs)
        printed = {job.run_ref: job for job in jobs}
        JobOutput.objects.bulk_create(
            JobOutput(
                job=printed[run.pk],
                stdout_z=item.stdout_z,
                stderr_z=item.stderr_z,
                stdout_bytes=item.command["bytes"],
                stderr_bytes=len(checks.output_of(item).stderr),
            )
            for item, _trial, run in rows
            if run.pk in printed
        )
        results = Result.objects.bulk_create(self._result(item, trial, run) for item, trial, run in rows)
        Sample.objects.bulk_create(
            Sample(
                result=result,
                trial_id=result.trial_id,
                experiment=self._experiment,
                metric=sample["metric"],
                value=sample["value"],
            )
            for item, result in zip(items, results, strict=True)
            for sample in _reading(item)["samples"]
        )
        Series.objects.bulk_create(
            Series(result=result, **series)
            for item, result in zip(items, results, strict=True)
            for series in _reading(item)["series"]
        )
        for item, trial, _run in rows:
            item.trial = trial
        ImportItem.objects.bulk_update(items, ["trial"])

    def _trial(self, item: ImportItem, position: int) -> Trial:
        params = self._identified(item, position)
        key = strict_json.dumps(params, sort_keys=True)
        self._points.setdefault(key, params)
        point = self._numbers.setdefault(key, len(self._numbers))
        lane = self._lane(checks.roles_of(item, self._choice))
        self._repetitions[lane.pk, point] += 1
        return Trial(
            campaign=self._campaign,
            experiment=self._experiment,
            lane=lane,
            position=position,
            point=point,
            repetition=item.repetition or self._repetitions[lane.pk, point],
            parameters=params,
            state=Trial.State.SUCCEEDED,
            attempts=1,
            finished_at=item.measured_at or self._moment,
        )

    def _identified(self, item: ImportItem, position: int) -> Json:
        """Return what was told of a trial's parameters, and with which others it may be taken for one setting.

        Where all that bears on figures is known its settings say so; else it is alike with those of its group of
        which a person said so, by a repetition's number in the table or for all of them, and with no other.
        """
        parameters: Json = _reading(item)["parameters"]
        described = {name: value for name, value in parameters.items() if name not in self._beside}
        if not likeness.absent(self._tool, described):
            return described
        place = f"{self._campaign.permanent_id}/{self._experiment.position + 1}"
        is_alike = self._choice.get("alike") or item.repetition is not None
        return {**described, likeness.AS_IN: place if is_alike else f"{place}/{position + 1}"}

    def _varied_beside(self) -> set[str]:
        """Return the parameters on which no figure depends and that differ from output to output, such as ports.

        They make no other settings: results keep them as what was requested. How many clients there were stays, and
        so does what somebody gave a column of a table to.
        """
        if self._imported.kind == Import.Kind.TABLE:
            return set()
        names = [item.name for item in self._tool.parameters if item.aside and item.unit != "count"]
        rows = list(
            _items(self._imported, self._key).values_list(*(f"reading__parameters__{name}" for name in names))
        )
        columns = zip(names, zip(*rows, strict=True), strict=True) if names and rows else ()
        return {name for name, values in columns if len(set(map(repr, values))) > 1}

    def _lane(self, roles: dict[str, list[int]]) -> Lane:
        key = repr(sorted(roles.items()))
        if key not in self._lanes:
            nodes = [node for members in roles.values() for node in members]
            resources = inventory.resources_of(list(Node.objects.filter(pk__in=nodes)), self._networks)
            if self._experiment.file_system:
                resources.append(self._experiment.file_system.key)
            self._lanes[key] = Lane.objects.create(experiment=self._experiment, roles=roles, resources=resources)
        return self._lanes[key]

    def _job(self, item: ImportItem, trial: Trial, run: Run) -> Job | None:
        """Return the command that printed an output, on the node that played its role; a table's row has none."""
        reading = _reading(item)
        members = trial.lane.roles.get(reading["role"])
        if not members:
            return None
        return Job(
            node_id=members[0],
            run_ref=run.pk,
            role=reading["role"],
            argv=[word[:4096] for word in reading["argv"]],
            time_limit_s=0,
            state=Job.State.ENDED,
            exit_code=item.command["exit_code"],
            signal=item.command["signal"],
            timed_out=item.command["timed_out"],
            started_at=item.measured_at,
        )

    def _of_servers(self, reading: Json, lane: Lane) -> list[Json]:
        """Return the doubt in what the file system's servers may have given from their memory."""
        if lane.pk not in self._memories:
            clients = {pk for members in lane.roles.values() for pk in members}
            self._memories[lane.pk] = server_caches.memory_of(self._experiment.file_system, clients)
        samples = tuple(SampleValue(sample["metric"], sample["value"]) for sample in reading["samples"])
        reading_without_flags = Reading(samples=samples, observed=reading["observed"])
        return [flag.as_json() for flag in caches.server_flags(reading_without_flags, self._memories[lane.pk])]

    def _result(self, item: ImportItem, trial: Trial, run: Run) -> Result:
        reading = _reading(item)
        place = {"file": item.file, "place": item.place, "sha256": item.digest}
        return Result(
            run=run,
            trial=trial,
            experiment=self._experiment,
            tool=self._tool.slug,
            tool_version=reading["tool_version"][:100],
            requested=reading["requested"],
            granted=reading["granted"],
            observed={**reading["observed"], PROVENANCE: place},
            flags=[*reading["flags"], *self._of_servers(reading, trial.lane)],
            recorded_at=trial.finished_at or self._moment,
        )


def _reading(item: ImportItem) -> Json:
    assert item.reading is not None, "only what was read is stored"
    return item.reading
