"""The points of sweeps: what each of their trials gave, what judges saw, and which layer that measures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import FloatField, Func, QuerySet

from apps.bench.rules.base import DISK, FILE_SYSTEM, INTERCONNECT, NETWORK, SAMPLE, Point
from apps.bench.rules.told import Told
from apps.bench.sweep import likeness
from apps.bench.toolkit import Tool, bears_on, doubts, goes_back, harmonic_metrics
from apps.results.evidence.lanes import LOCAL, MeasuredLane
from apps.results.models import Result, Sample
from apps.testbeds.models import FileSystem

# Of an archive no more results than these, the latest, are read: a page asks for them.
MOST_RESULTS = 3000
# What a result keeps of how a publication prints it (`apps.tuning.published`).
PRINTED = "published"

# What belongs together: lane and place in the sweep.
Cell = tuple[int, int]


@dataclass
class _Told:
    """What the results of one cell told: its parameters of the first, `observed` and `at` of the last recorded."""

    parameters: dict[str, Any]
    experiment: int
    recorded: tuple[float, int]
    observed: dict[str, Any]
    at: float
    metrics: dict[str, dict[int, float]] = field(default_factory=dict)
    flagged: dict[str, set[int]] = field(default_factory=dict)
    bears: dict[str, set[str]] = field(default_factory=dict)
    on_all: set[str] = field(default_factory=set)

    def note(self, flag: Mapping[str, Any], trial: int) -> None:
        """Note a flag of a trial, and on which metrics it bears where it names any."""
        self.flagged.setdefault(flag["name"], set()).add(trial)
        if flag.get("metrics"):
            self.bears.setdefault(flag["name"], set()).update(flag["metrics"])
        else:
            self.on_all.add(flag["name"])


def of_lanes(lanes: Mapping[int, MeasuredLane], *, most_results: int | None = None) -> list[tuple[int, Point]]:
    """Return (lane, point) of all that was measured on lanes, of the figures that count.

    Those that a sender's own limit held are left out: they tell of the limit. Points come in the order of their first
    results. With `most_results` only that many of the latest are read.
    """
    # Their experiments are named, too: by these the database finds results without looking through all.
    rows = Result.objects.filter(
        experiment__in={item.lane.experiment_id for item in lanes.values()},
        trial__lane__in=lanes,
        trial__is_warmup=False,
    )
    if most_results is not None:
        latest = list(rows.order_by("-recorded_at", "-pk").values_list("pk", flat=True)[:most_results])
        rows = Result.objects.filter(pk__in=latest)
    results: dict[int, tuple[_Told, int, list[dict[str, Any]]]] = {}
    cells: dict[Cell, _Told] = {}
    fields = ("trial_id", "trial__lane_id", "trial__point", "trial__parameters", "experiment_id", "flags", "observed")
    samples = rows.order_by("pk").values_list(
        "pk", *fields, _unix_time("run__ended_at", "recorded_at"), _unix_time("recorded_at")
    )
    for pk, trial, lane, place, parameters, experiment, flags, observed, at, recorded in samples:
        cell = cells.get((lane, place))
        if not cell:
            cell = cells[lane, place] = _Told(parameters, experiment, (recorded, pk), observed, at)
        elif (recorded, pk) > cell.recorded:
            cell.recorded, cell.observed, cell.at = (recorded, pk), observed, at
        results[pk] = cell, trial, flags
    for pk, metrics, values in _samples(rows):
        cell, trial, flags = results[pk]
        for flag in flags:
            cell.note(flag, trial)
        limited = [flag for flag in flags if flag["name"] in doubts.HELD]
        for metric, value in zip(metrics, values, strict=True):
            if any(bears_on(flag, metric) for flag in limited):
                # The sender kept to a limit of its own: that says nothing of what is measured.
                continue
            cell.metrics.setdefault(metric, {})[trial] = value
    harmonic = _harmonic(cells, lanes)
    return [
        (lane, _point(cell, lanes[lane], harmonic[cell.experiment]))
        for (lane, _place), cell in cells.items()
        if cell.metrics
    ]


def _harmonic(cells: Mapping[Cell, _Told], lanes: Mapping[int, MeasuredLane]) -> dict[int, frozenset[str]]:
    """Return the metrics of each experiment whose figures have a harmonic mean, in rules as in its tables."""
    settings: dict[int, list[dict[str, Any]]] = {}
    tools = {}
    for (lane, _place), cell in cells.items():
        settings.setdefault(cell.experiment, []).append(cell.parameters)
        tools[cell.experiment] = lanes[lane].tool
    return {pk: harmonic_metrics(tools[pk], own) for pk, own in settings.items()}


def _point(cell: _Told, measured: MeasuredLane, harmonic: frozenset[str]) -> Point:
    file_system = measured.file_system
    return Point(
        _parameters(cell, measured),
        cell.metrics,
        tool=measured.tool.slug,
        layer=layer_of(cell.parameters, measured),
        roles=measured.roles,
        file_system=file_system.name if file_system else "",
        observed=cell.observed,
        warnings=frozenset(cell.flagged),
        flagged={name: frozenset(trials) for name, trials in cell.flagged.items()},
        bears={name: frozenset(own) for name, own in cell.bears.items() if name not in cell.on_all},
        statistic=cell.observed.get(PRINTED, {}).get("statistic", SAMPLE),
        experiment=cell.experiment,
        campaign=measured.lane.experiment.campaign_id,
        at=cell.at,
        harmonic=harmonic,
        is_back=_is_back(cell, measured),
    )


def _is_back(cell: _Told, measured: MeasuredLane) -> bool | None:
    """Return whether the data of a cell went back, None where nobody told."""
    if measured.tool.backwards_at[0] in _unknown(cell, measured):
        return None
    # A publication says between whom, not which of a probe's ends sent.
    return goes_back(None if PRINTED in cell.observed else measured.tool, cell.parameters)


def _parameters(cell: _Told, measured: MeasuredLane) -> Mapping[str, Any]:
    """Return the parameters of a cell; of an import some are not known, and no rule reads them."""
    unknown = _unknown(cell, measured)
    if measured.tool.backwards_at[0] in unknown:
        # By this name a point is asked for its direction, whatever its tool calls it.
        unknown |= {Tool.backwards_at[0]}
    return Told(cell.parameters, unknown) if unknown else cell.parameters


def _unknown(cell: _Told, measured: MeasuredLane) -> frozenset[str]:
    return frozenset(item.name for item in likeness.unknown_of(measured.tool, cell.parameters))


def layer_of(parameters: Mapping[str, Any], measured: MeasuredLane) -> str:
    """Return which layer of the way to the data a setting measures alone; "" for none, such as a copy of files."""
    group, file_system = measured.tool.group, measured.file_system
    if group == "storage" or (group == "mpi" and measured.tool.file_system == "required"):
        return DISK if file_system and _is_disk(file_system, measured) else FILE_SYSTEM
    if group == "mpi":
        return INTERCONNECT
    if group == "network":
        return NETWORK
    on_disk = "file" in (parameters.get("read_from"), parameters.get("write_to"))
    unknown = {item.name for item in likeness.unknown_of(measured.tool, parameters)}
    in_memory = not on_disk and unknown.isdisjoint(("read_from", "write_to"))
    return NETWORK if group == "transfer" and in_memory else ""


def _is_disk(file_system: FileSystem, measured: MeasuredLane) -> bool:
    """Return whether it is local, or of a kind of its own on the very nodes that are said to serve it."""
    if file_system.kind in LOCAL:
        return measured.is_local
    return file_system.kind == FileSystem.Kind.OTHER and bool(measured.serving) and measured.is_local


def _unix_time(*fields: str) -> Func:
    """Return the first date that is there as a number (s): thousands of dates take long to read."""
    return Func(*fields, template="extract(epoch FROM coalesce(%(expressions)s))::float8", output_field=FloatField())


def _samples(rows: QuerySet[Result]) -> Iterable[tuple[int, list[str], list[float]]]:
    """Return (result, metrics, values) of what counts."""
    own = Sample.objects.filter(result__in=rows, counts=True).values_list("result_id").order_by("result_id")
    return own.annotate(metrics=ArrayAgg("metric", order_by="pk"), values=ArrayAgg("value", order_by="pk"))
