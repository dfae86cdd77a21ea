"""Transfers measured with different options, all else being equal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.bench import statistics
from apps.bench.rules import pace
from apps.bench.rules.base import BELOW, Evidence, Point
from apps.bench.rules.presence import TRANSFERS
from apps.bench.rules.tcp.path import read_path
from apps.bench.rules.tcp.sweeps import MOST_SCATTER
from apps.bench.rules.told import names_in

METRIC = "throughput"
# A rate above this share of what TCP can have of the path was not measured well.
MOST_OF_PATH = 1.03
TOOLS = {"gridftp", "gridftp-third-party"}
# The options that a person chooses for speed, with what they are without being chosen.
OPTIONS = TRANSFERS


@dataclass(frozen=True)
class Transfer:
    """One choice of options: its rates (B/s) by trial, and the mean that stands for them.

    `is_held` says that a judge saw an end set the pace.
    """

    options: Mapping[str, Any]
    rates: Mapping[int, float]
    tool: str
    is_held: bool = False
    kind: statistics.Mean = statistics.Mean.ARITHMETIC

    @property
    def rate(self) -> statistics.Summary:
        """Return the summary of the rates."""
        return statistics.summarise(list(self.rates.values()), self.kind)

    @property
    def is_scattered(self) -> bool:
        """Return whether the repetitions contradict each other."""
        cv = self.rate.cv
        return cv is not None and cv > MOST_SCATTER

    @property
    def cost(self) -> tuple[Any, ...]:
        """Return what orders choices: of fewer nodes, connections and streams, then of fewer options."""
        own = self.options
        explicit = (bool(own["window"]), own["window"], bool(own["block_size"]), own["block_size"])
        return (own["data_nodes"] or 256, own["concurrency"], own["streams"], own["pipelining"], *explicit)


def is_gridftp(point: Point) -> bool:
    """Return whether a point is of GridFTP transfers."""
    return point.tool in TOOLS or {"streams", "concurrency", "pipelining"} <= names_in(point.parameters)


def read_transfers(evidence: Evidence) -> list[Transfer]:
    """Return the choices of the largest group that differs in options only; of equals that of the most trials."""
    groups: dict[tuple[tuple[str, str], ...], dict[tuple[str, ...], Transfer]] = {}
    for original in evidence.points:
        point = pace.undisturbed(original, METRIC)
        rates = point.metrics.get(METRIC, {})
        if not is_gridftp(point) or point.statistic == BELOW or not rates or min(rates.values()) <= 0:
            continue
        conditions = tuple(sorted((name, repr(v)) for name, v in point.parameters.items() if name not in OPTIONS))
        options = {name: point.parameters.get(name, default) for name, default in OPTIONS.items()}
        group = groups.setdefault((*conditions, ("tool", point.tool)), {})
        key = tuple(map(repr, options.values()))
        earlier, is_held = (group[key].rates, group[key].is_held) if key in group else ({}, False)
        is_held = is_held or bool(pace.flags_of(point))
        group[key] = Transfer(options, {**earlier, **rates}, point.tool, is_held, point.kind_of_mean(METRIC))
    path = read_path(evidence)
    if path is not None and not path.capacity.is_lower_bound:
        # Clients time by tenths of a second: of small files come rates that no path carries.
        max_rate = MOST_OF_PATH * path.ceiling_bps / 8
        groups = {
            conditions: {key: t for key, t in g.items() if t.rate.mean <= max_rate}
            for conditions, g in groups.items()
        }
    largest = max(
        groups.values(), key=lambda group: (len(group), sum(len(t.rates) for t in group.values())), default={}
    )
    return sorted(largest.values(), key=lambda transfer: transfer.cost)


def words(options: Mapping[str, Any]) -> list[str]:
    """Return the options of globus-url-copy as an argument list."""
    argv: list[str] = []
    if options["streams"] > 1:
        argv += ["-p", f"{options['streams']:.0f}"]
    if options["window"]:
        argv += ["-tcp-bs", f"{options['window']:.0f}"]
    if options["block_size"]:
        argv += ["-bs", f"{options['block_size']:.0f}"]
    if options["concurrency"] > 1:
        argv += ["-cc", f"{options['concurrency']:.0f}"]
    argv += ["-pp"] if options["pipelining"] else []
    argv += ["-stripe"] if options["data_nodes"] != 1 else []
    return argv
