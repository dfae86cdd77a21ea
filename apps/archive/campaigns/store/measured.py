"""Store what was measured: trials, runs, jobs with what they printed, results, samples and series."""

import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from apps.accounts.models import User
from apps.agents.models import FactSnapshot, Job
from apps.archive.campaigns import fields, form, records
from apps.archive.campaigns.form import wrong
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.records import Json
from apps.archive.campaigns.store.choices import Here
from apps.archive.campaigns.store.defined import tool_of
from apps.archive.campaigns.store.outputs import store_output
from apps.bench import strict_json
from apps.bench.text import Message, _
from apps.bench.toolkit import Reading, Tool
from apps.campaigns.models import Campaign, Experiment, Lane, Run, Trial
from apps.results.models import Result, Sample, Series, StageTiming, Superseded
from apps.testbeds.models import Node

# Nothing that came in is ever carried on with: only what has ended comes in.
_TRIALS = (Trial.State.SUCCEEDED, Trial.State.FAILED, Trial.State.CANCELLED)
_RUNS = (Run.State.SUCCEEDED, Run.State.FAILED, Run.State.CANCELLED)
_JOBS = (Job.State.ENDED, Job.State.LOST)
_BATCH = 200
_RATE = 500

Key = tuple[int, int]


class MeasurementStore:
    """Stores an archive's measurements, and knows by their places what became of them."""

    def __init__(self, archive: Archive, campaign: Campaign, here: Here, people: Mapping[str, User] | None) -> None:
        self._archive = archive
        self._campaign = campaign
        self._here = here
        self._people = people
        self.trials: dict[Key, int] = {}
        self._runs: dict[tuple[int, int, int], int] = {}
        self._results: dict[tuple[int, int, int], int] = {}

    def store(self, experiments: list[Experiment], lanes: list[list[Lane]], progress: Callable[[int], None]) -> None:
        """Store all of it; `progress` is told how many trials and results are, and then that it goes on."""
        self._experiments, self._lanes = experiments, lanes
        self._tools = [tool_of(item.tool, self._campaign.team, form.EXPERIMENTS) for item in experiments]
        self._known_tools = {item.tool for item in experiments}
        self._facts = self._store_facts()
        for batch in _batches(self._archive.lines(form.TRIALS), _BATCH):
            self._store_trials(batch)
            progress(len(self.trials))
        for batch in _batches(self._archive.lines(form.RESULTS), _RATE):
            self._store_results(batch)
            progress(len(self.trials) + len(self._results))
        for batch in _batches(self._archive.lines(form.SERIES), _RATE):
            Series.objects.bulk_create(self._series(data, place) for place, data in batch)
            progress(len(self.trials) + len(self._results))

    def trial(self, place_of: object, place: str) -> int:
        """Return the number of a trial that a record names."""
        return self.trials[self._key(place_of, place)]

    def _key(self, raw: object, place: str) -> Key:
        numbers = records.sequence(raw, place)
        if len(numbers) != 2:
            raise wrong(place, Message(_("A trial is named by two numbers.")))
        key = records.whole(numbers[0], place), records.whole(numbers[1], place)
        if self.trials and key not in self.trials:
            raise wrong(place, Message(_("It names a trial that is not in the archive.")))
        return key

    def _store_facts(self) -> list[FactSnapshot]:
        snapshots = []
        for place, data in self._archive.lines(form.FACTS):
            node = self._here.number(Node, data.get("node"), place)
            values = records.values(FactSnapshot, data, ("digest", "facts"), place)
            stamps = records.stamps(FactSnapshot, data, place)
            # What this node's agent said for a campaign that was deleted here stays its word, if it is the same.
            identity = {"node_id": node, "created_at": stamps["created_at"], "facts": values["facts"]}
            snapshot = FactSnapshot.objects.own().filter(**identity).first()
            if snapshot is None:
                reference = self._campaign.permanent_id
                snapshot = FactSnapshot.objects.create(node_id=node, archive_ref=reference, **values)
                records.restamp([snapshot], [stamps])
            snapshots.append(snapshot)
        return snapshots

    def _store_trials(self, batch: list[tuple[str, Json]]) -> None:
        trials = [self._trial(data, place) for place, data in batch]
        Trial.objects.bulk_create(trials)
        records.restamp(trials, [records.stamps(Trial, data, place) for place, data in batch])
        runs: list[tuple[Run, Json, str]] = []
        numbers: dict[int, Key] = {}
        for trial, (place, data) in zip(trials, batch, strict=True):
            key = data["experiment"], trial.position
            self.trials[key], numbers[trial.pk] = trial.pk, key
            for item in records.sequence(data.get("runs"), f"{place}, runs"):
                runs.append((self._run(trial, records.mapping(item, place), place), item, place))
        Run.objects.bulk_create(run for run, _data, _place in runs)
        stamps = [records.stamps(Run, data, place) for _run, data, place in runs]
        records.restamp([run for run, _data, _place in runs], stamps)
        for run, data, place in runs:
            self._runs[(*numbers[run.trial_id], run.attempt)] = run.pk
            timings = records.sequence(data.get("timings"), f"{place}, timings")
            StageTiming.objects.bulk_create(
                StageTiming(run=run, **records.values(StageTiming, item, fields.TIMING, f"{place}, timings"))
                for item in timings
            )
        self._store_jobs([(run, job, place) for run, data, place in runs for job in _jobs(data, place)])

    def _trial(self, data: Json, place: str) -> Trial:
        number = records.whole(data.get("experiment"), f"{place}, experiment")
        lane = records.whole(data.get("lane"), f"{place}, lane")
        if number >= len(self._experiments) or lane >= len(self._lanes[number]):
            raise wrong(place, Message(_("It names an experiment or a lane that is not in the archive.")))
        values = records.values(Trial, data, _own(fields.TRIAL), place)
        _one_of(values["state"], _TRIALS, place)
        _check_parameters(values["parameters"], self._tools[number], f"{place}, parameters")
        marker = records.text(data.get("invalid_by") or "", f"{place}, invalid_by", 150)
        return Trial(
            campaign=self._campaign,
            experiment=self._experiments[number],
            lane=self._lanes[number][lane],
            **({"invalid_told_by": marker} if self._people is None else {"invalid_by": self._people.get(marker)}),
            **values,
        )

    def _run(self, trial: Trial, data: Json, place: str) -> Run:
        values = records.values(Run, data, _own(fields.RUN), place)
        _one_of(values["state"], _RUNS, place)
        return Run(trial=trial, experiment_id=trial.experiment_id, **values)

    def _store_jobs(self, entries: list[tuple[Run, Json, str]]) -> None:
        numbered = [(run, data, place, self._number(data.get("id"), place)) for run, data, place in entries]
        numbers_sent = [number for *_rest, number in numbered]
        present = set(Job.objects.filter(pk__in=numbers_sent).values_list("pk", flat=True))
        jobs = []
        for run, data, place, number in numbered:
            values = records.values(Job, data, _own(fields.JOB), place)
            _one_of(values["state"], _JOBS, place)
            stages = (run.plan or {"stages": []})["stages"]
            if values["stage"] >= len(stages):
                raise wrong(place, Message(_("It names a stage that the plan does not have.")))
            snapshot = None
            if data.get("facts") is not None:
                index = records.whole(data["facts"], f"{place}, facts")
                if index >= len(self._facts):
                    raise wrong(place, Message(_("It names facts that are not in the archive.")))
                snapshot = self._facts[index]
            node = self._here.number(Node, data.get("node"), place)
            # Of a campaign that was deleted here the jobs may be left.
            pk = uuid.uuid4() if number in present else number
            jobs.append(Job(pk=pk, run_ref=run.pk, node_id=node, facts=snapshot, **values))
        Job.objects.bulk_create(jobs)
        records.restamp(jobs, [records.stamps(Job, data, place) for _run, data, place, _number in numbered])
        is_imported = self._campaign.origin == Campaign.Origin.IMPORTED
        for job, (_run, data, place, _number) in zip(jobs, numbered, strict=True):
            store_output(self._archive, job, data, f"{place}, {data['id']}", is_imported=is_imported)

    def _number(self, raw: object, place: str) -> uuid.UUID:
        try:
            return uuid.UUID(records.text(raw, place))
        except ValueError:
            raise wrong(place, Message(_("This is no id of a job."))) from None

    def _store_results(self, batch: list[tuple[str, Json]]) -> None:
        results = [self._result(data, place) for place, data in batch]
        Result.objects.bulk_create(results)
        samples: list[Sample] = []
        earlier: list[Superseded] = []
        for result, (place, data) in zip(results, batch, strict=True):
            key = self._run_key(data, place)
            self._results[key], tool = result.pk, self._tools[key[0]]
            for pair in records.sequence(data.get("samples"), f"{place}, samples"):
                samples.append(_sample(result, pair, tool, f"{place}, samples"))
            for item in records.sequence(data.get("earlier"), f"{place}, earlier"):
                earlier.append(_superseded(result, records.mapping(item, place), place))
        Sample.objects.bulk_create(samples, batch_size=5000)
        Superseded.objects.bulk_create(earlier)

    def _run_key(self, data: Json, place: str) -> tuple[int, int, int]:
        key = (*self._key(data.get("trial"), place), records.whole(data.get("attempt"), place))
        if key not in self._runs:
            raise wrong(place, Message(_("It names a run that is not in the archive.")))
        return key

    def _result(self, data: Json, place: str) -> Result:
        key = self._run_key(data, place)
        values = records.values(Result, data, _own(fields.RESULT), place)
        if values["tool"] not in self._known_tools:
            # A result's page says what its tool calls its figures.
            tool_of(values["tool"], self._campaign.team, f"{place}, tool")
        return Result(
            run_id=self._runs[key],
            trial_id=self.trials[key[:2]],
            experiment=self._experiments[key[0]],
            **values,
        )

    def _series(self, data: Json, place: str) -> Series:
        key = self._run_key(data, place)
        if key not in self._results:
            raise wrong(place, Message(_("It names a result that is not in the archive.")))
        values = records.values(Series, data, fields.SERIES, place)
        if len(values["times"]) != len(values["values"]):
            raise wrong(place, Message(_("There is one value for each time.")))
        return Series(result_id=self._results[key], **values)


def _own(names: tuple[str, ...]) -> list[str]:
    """Return the fields that are set as a row is made: the database's own times are set afterwards."""
    return [name for name in names if name not in ("created_at", "updated_at")]


def _jobs(data: Json, place: str) -> list[Json]:
    return [records.mapping(item, place) for item in records.sequence(data.get("jobs"), f"{place}, jobs")]


def _one_of(state: str, states: tuple[Any, ...], place: str) -> None:
    if state not in states:
        text = _("Only what has ended comes in; this is “%(state)s”.")
        raise wrong(f"{place}, state", Message(text, {"state": state}))


def _check_parameters(values: Json, tool: Tool, place: str) -> None:
    """Refuse a value that is of another kind than the tool's parameter: pages, rules and files reckon with it."""
    for parameter in tool.parameters:
        value = values.get(parameter.name)
        if value is not None and not parameter.holds(value):
            raise wrong(f"{place}, {parameter.name}", Message(_("This is of the wrong kind.")))


def _parse(parse: Callable[[Any], Any], data: Any, place: str) -> Any:
    try:
        return parse(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise wrong(place, Message(_("This is not in its form."))) from error


def _sample(result: Result, pair: Any, tool: Tool, place: str) -> Sample:
    parts = records.sequence(pair, place)
    if len(parts) != 2:
        raise wrong(place, Message(_("A sample is a metric and its value.")))
    metric = records.text(parts[0], place, 50)
    if all(metric != known.name for known in tool.metrics):
        text = _("The tool %(tool)s has no metric “%(metric)s” here: update the service, or leave it out.")
        raise wrong(place, Message(text, {"tool": tool.slug, "metric": metric}))
    return Sample(
        result=result,
        trial_id=result.trial_id,
        experiment_id=result.experiment_id,
        metric=metric,
        value=records.number(parts[1], place),
    )


def _superseded(result: Result, data: Json, place: str) -> Superseded:
    _parse(Reading.from_json, data.get("reading"), f"{place}, reading")
    packed = zlib.compress(strict_json.dumps(data["reading"]).encode())
    return Superseded(result=result, reading_z=packed, **records.values(Superseded, data, fields.SUPERSEDED, place))


def _batches(lines: Iterator[tuple[str, Json]], size: int) -> Iterator[list[tuple[str, Json]]]:
    while batch := list(islice(lines, size)):
        yield batch
