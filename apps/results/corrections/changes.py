"""Read the raw archive again with today's parsers, and say what would change."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet

from apps.bench import strict_json
from apps.bench.toolkit import Reading, ToolFailure
from apps.campaigns.models import Run
from apps.results import services
from apps.results.models import Result
from apps.results.validity import MARK

Json = dict[str, Any]

# Where a result that was imported tells which file it comes from: no parser says that again.
_KEPT = "imported"
# The flag of a result that today's parser refuses.
REFUSED = "refused-when-read-again"
_PARTS = ("tool_version", "requested", "granted", "observed")


@dataclass(frozen=True)
class ResultChange:
    """What another reading of a run says: of a result that is there, or of a run that had none (`before` is None).

    `figures` {metric: (before, after)}, either None where there is no such figure; `parts` names what else differs.
    `failure` is why today's parser refuses what an earlier one read.
    """

    run: Run
    before: Result | None
    reading: Reading | None = None
    skew_s: float | None = None
    figures: dict[str, tuple[float | None, float | None]] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    failure: ToolFailure | None = None


@dataclass
class Looked:
    """How many runs were read again, and of how many the raw output is gone."""

    read: int = 0
    gone: int = 0


def runs_to_read(*, tool: str = "", campaign: int | None = None, team: str = "") -> QuerySet[Run]:
    """Return the ended runs whose raw output may tell something: those with a result, and failed last attempts."""
    runs = Run.objects.filter(Q(result__isnull=False) | Q(state=Run.State.FAILED, trial__state="failed"))
    runs = runs.filter(trial__campaign__deleting_at=None)
    if tool:
        runs = runs.filter(trial__experiment__tool=tool)
    if campaign is not None:
        runs = runs.filter(trial__campaign=campaign)
    if team:
        runs = runs.filter(trial__campaign__team__slug=team)
    related = ("result", "trial__lane", "trial__experiment__campaign__team", "trial__invalid_by")
    return runs.select_related(*related).order_by("pk")


def changes(runs: QuerySet[Run], looked: Looked) -> Iterator[ResultChange]:
    """Yield what changes, run by run; `looked` counts on as they are read."""
    for run in runs.iterator(chunk_size=500):
        if not _has_output(run):
            looked.gone += hasattr(run, "result")
            continue
        looked.read += 1
        change = change_of(run)
        if change is not None:
            yield change


def change_of(run: Run) -> ResultChange | None:
    """Return what reading the run again changes, None if it is nothing."""
    before: Result | None = getattr(run, "result", None)
    try:
        reading, skew = services.read_run(run)
    except ToolFailure as failure:
        if before is None or any(flag["name"] == REFUSED for flag in before.flags):
            return None
        return ResultChange(run, before, failure=failure)
    if before is None:
        after = {sample.metric: sample.value for sample in reading.samples}
        return ResultChange(run, None, reading, skew, {name: (None, value) for name, value in after.items()})
    figures = _figures(before, reading)
    parts = tuple(_parts(before, reading))
    return ResultChange(run, before, reading, skew, figures, parts) if figures or parts else None


def plain(reading: Reading) -> Json:
    """Return a reading as the database gives it back."""
    data: Json = json.loads(strict_json.dumps(reading.as_json()))
    return data


def as_stored(result: Result) -> Json:
    """Return a stored result in the form of a reading, with its figures in order."""
    return {
        **{name: getattr(result, name) for name in _PARTS},
        "flags": result.flags,
        "samples": [{"metric": item.metric, "value": item.value} for item in result.samples.order_by("metric")],
        "series": [
            {"metric": s.metric, "stream": s.stream, "unit": s.unit, "times": s.times, "values": s.values}
            for s in result.series.order_by("metric", "stream")
        ],
    }


def observed_of(reading: Json, before: Result | None) -> Json:
    """Return what was observed, with where it was imported from."""
    origin = {_KEPT: before.observed[_KEPT]} if before and _KEPT in before.observed else {}
    return {**reading["observed"], **origin}


def _has_output(run: Run) -> bool:
    result: Result | None = getattr(run, "result", None)
    if result and result.output_dropped_at:
        return False
    return any(hasattr(job, "output") for job in services.jobs_of(run))


def _figures(before: Result, reading: Reading) -> dict[str, tuple[float | None, float | None]]:
    old = {sample.metric: sample.value for sample in before.samples.all()}
    new = {sample.metric: sample.value for sample in reading.samples}
    names = [*old, *(name for name in new if name not in old)]
    return {name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)}


def _parts(before: Result, reading: Reading) -> Iterator[str]:
    new = plain(reading)
    new["observed"] = observed_of(new, before)
    for name in _PARTS:
        if new[name] != getattr(before, name):
            yield name
    if new["flags"] != [flag for flag in before.flags if flag["name"] != MARK]:
        yield "flags"
    if before.series_dropped_at is None:
        old_series = {(s.metric, s.stream): (s.unit, s.times, s.values) for s in before.series.all()}
        series = {(s["metric"], s["stream"]): (s["unit"], s["times"], s["values"]) for s in new["series"]}
        if series != old_series:
            yield "series"
