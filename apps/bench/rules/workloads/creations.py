"""What files cost that are made or opened: as many a second as so many tasks get on a file system."""

import math
from dataclasses import replace

from apps.bench.rules.base import Evidence, Point
from apps.bench.rules.shapes import described, nodes_of
from apps.bench.rules.workloads.amounts import PointRates, amounts_of
from apps.bench.rules.workloads.bases import BASES, COMPUTED, MEASURED, KnownAmount, Predicted, weakest
from apps.bench.rules.workloads.counts import at_count
from apps.bench.rules.workloads.described import WRITE, Workload
from apps.bench.rules.workloads.supplies import way_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# Files below this size cost more to create than to fill on most file systems.
SMALL = 64 * 1024**2


def with_files(evidence: Evidence, file_system: str, workload: Workload, rate: Predicted) -> Predicted:
    """Return the rate with what creating files costs: 1 / X = 1 / X0 + 1 / (files a second · size).

    Where a file system makes some while it fills others, it is as fast as the slower of both alone.
    """
    if workload.file_size >= SMALL or workload.shared:
        return rate
    files = _files_per_s(evidence, file_system, workload)
    if files is None:
        text = _("What creating files of %(size)s costs was not measured: small files may be much slower.")
        doubt = Message(text, {"size": format_quantity(workload.file_size, "B")})
        return replace(rate, low=0.0, basis=weakest(rate.basis, COMPUTED), doubts=(*rate.doubts, doubt))

    def after(bytes_per_s: float, files_per_s: float) -> float:
        own = files_per_s * workload.file_size
        return 1 / (1 / bytes_per_s + 1 / own) if min(bytes_per_s, own) > 0 else 0.0

    text = _("Each file costs its creation, %(rate)s a second in all.")
    doubts = tuple(doubt for doubt in files.doubts if doubt not in rate.doubts)
    if files.basis != MEASURED:
        doubts = (
            *doubts,
            Message(_("How many files a second as many tasks create was not measured.")),
        )
    return replace(
        rate,
        value=after(rate.value, files.value),
        low=after(rate.low, files.low),
        high=min(rate.high, files.high * workload.file_size),
        basis=weakest(rate.basis, files.basis, COMPUTED),
        trials=tuple(sorted({*rate.trials, *files.trials})),
        n=min(rate.n, files.n),
        why=(*rate.why, Message(text, {"rate": f"{files.value:.0f}"})),
        doubts=(*rate.doubts, *doubts),
    )


def _files_per_s(evidence: Evidence, name: str, workload: Workload) -> Predicted | None:
    """Return how many files a second the workload's tasks make (or open to read) on a file system.

    Of several ways of making them, each by itself, the one that was measured most like it, and of these the slowest.
    """
    metrics = ("file_create",) if workload.pattern.endswith(WRITE) else ("file_read", "file_stat")
    for metric in metrics:
        ways: dict[tuple[str, ...], dict[tuple[int, int], list[PointRates]]] = {}
        for point in evidence.points:
            rates = point.metrics.get(metric, {})
            if point.file_system == name and rates and min(rates.values()) > 0:
                cells = ways.setdefault(way_of(point), {})
                cells.setdefault(_count_of(point, evidence), []).append(PointRates(point, rates))
        amounts = [
            {count: KnownAmount(amount) for count, amount in amounts_of(cells, metric, math.prod, "1/s").items()}
            for cells in ways.values()
        ]
        predictions = [at_count(cells, workload.nodes, workload.tasks) for cells in amounts]
        files = [item for item in predictions if item]
        if files:
            return min(files, key=lambda item: (BASES.index(item.basis), item.value))
    return None


def _count_of(point: Point, evidence: Evidence) -> tuple[int, int]:
    """Return how many nodes made files, with how many tasks on each."""
    nodes = len(nodes_of(point)) or 1
    ranks = int(described(point, evidence).get("ranks") or nodes)
    nodes = min(nodes, ranks)
    return nodes, max(ranks // nodes, 1)
