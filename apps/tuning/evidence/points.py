"""The points of sweeps: what each of their trials gave, what judges saw, and which layer that measures."""

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from apps.bench.rules.base import DISK, FILE_SYSTEM, INTERCONNECT, NETWORK, SAMPLE, Point
from apps.bench.tools.base import is_invalid
from apps.campaigns.models import Lane
from apps.results.models import Result, Sample
from apps.testbeds.models import FileSystem
from apps.tuning.evidence.lanes import Measured

# Of an archive no more results than these, the latest, are read: a page asks for them.
MOST_RESULTS = 3000
# Kinds of file system that lie on the disks of the node itself.
LOCAL = {FileSystem.Kind.XFS, FileSystem.Kind.EXT}
# What a result keeps of how a publication prints it (`apps.tuning.published`).
PRINTED = "published"

# What belongs together: lane and place in the sweep.
Cell = tuple[int, int]


def of_lanes(lanes: Sequence[Lane], *, most_results: int | None = None) -> list[tuple[int, Point]]:
    """Return (lane, point) of all that was measured on lanes, without warm-ups and without what a flag makes invalid.

    Points come in the order of their first results. With `most_results` only that many of the latest are read.
    """
    # Their experiments are named, too: by these the database finds results without looking through all.
    rows = Result.objects.filter(
        experiment__in={lane.experiment_id for lane in lanes},
        trial__lane__in=[lane.pk for lane in lanes],
        trial__is_warmup=False,
    )
    if most_results is not None:
        latest = list(rows.order_by("-recorded_at", "-pk").values_list("pk", flat=True)[:most_results])
        rows = Result.objects.filter(pk__in=latest)
    told: dict[int, tuple[Cell, int, list[dict[str, Any]]]] = {}
    made: dict[Cell, Point] = {}
    fields = ("pk", "trial_id", "trial__lane_id", "trial__point", "trial__parameters", "experiment_id", "flags")
    for pk, trial, lane, place, parameters, experiment, raised in rows.order_by("pk").values_list(*fields):
        told[pk] = (lane, place), trial, raised
        if (lane, place) not in made:
            made[lane, place] = Point(parameters, {}, experiment=experiment)
    metrics: dict[Cell, dict[str, dict[int, float]]] = defaultdict(dict)
    warnings: dict[Cell, set[str]] = defaultdict(set)
    for result, metric, value in _samples(rows):
        cell, trial, flags = told[result]
        # Most results have none: there are many samples.
        if flags:
            if any(is_invalid(flag, metric) for flag in flags):
                continue
            warnings[cell].update(flag["name"] for flag in flags)
        metrics[cell].setdefault(metric, {})[trial] = value
    return [
        (
            cell[0],
            dataclasses.replace(
                made[cell],
                metrics=metrics[cell],
                warnings=frozenset(warnings[cell]),
                observed=observed,
                statistic=observed.get(PRINTED, {}).get("statistic", SAMPLE),
                at=at,
            ),
        )
        for cell, (observed, at) in _last_seen(rows, list(made)).items()
        if metrics.get(cell)
    ]


def place(point: Point, measured: Measured) -> Point:
    """Return a point with its tool, layer, nodes and file system."""
    file_system = measured.file_system
    return dataclasses.replace(
        point,
        tool=measured.tool.slug,
        layer=layer_of(point, measured),
        roles=measured.roles,
        file_system=file_system.name if file_system else "",
    )


def layer_of(point: Point, measured: Measured) -> str:
    """Return which layer of the way to the data a point measures alone; "" for none, such as a copy of files."""
    group, file_system = measured.tool.group, measured.file_system
    if group == "storage" or (group == "mpi" and measured.tool.file_system == "required"):
        return DISK if file_system and _is_disk(file_system, measured) else FILE_SYSTEM
    if group == "mpi":
        return INTERCONNECT
    if group == "network":
        return NETWORK
    on_disk = "file" in (point.parameters.get("read_from"), point.parameters.get("write_to"))
    return NETWORK if group == "transfer" and not on_disk else ""


def _is_disk(file_system: FileSystem, measured: Measured) -> bool:
    """Return whether it is local, or of a kind of its own on the very nodes that are said to serve it."""
    if file_system.kind in LOCAL:
        return measured.is_local
    return file_system.kind == FileSystem.Kind.OTHER and bool(measured.serving) and measured.is_local


def _samples(rows: QuerySet[Result]) -> QuerySet[Sample, Any]:
    return Sample.objects.filter(result__in=rows).order_by("pk").values_list("result_id", "metric", "value")


def _last_seen(rows: QuerySet[Result], cells: list[Cell]) -> dict[Cell, tuple[dict[str, Any], float]]:
    """Return what judges saw in the last result of each cell, and when that was (Unix time), in the cells' order."""
    cell = ("trial__lane_id", "trial__point")
    latest = rows.order_by(*cell, "-recorded_at", "-pk").distinct(*cell)
    fields = (*cell, "observed", "run__ended_at", "recorded_at")
    seen = {
        (lane, place): (observed, (ended or recorded).timestamp())
        for lane, place, observed, ended, recorded in latest.values_list(*fields)
    }
    return {cell: seen[cell] for cell in cells}
