"""Transfers measured with different options, all else being equal."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from apps.bench import network, statistics
from apps.bench.rules import pace
from apps.bench.rules.base import Evidence, Point
from apps.bench.rules.layers.links import ceiling_of
from apps.bench.rules.presence import TRANSFERS
from apps.bench.rules.readings import read_once
from apps.bench.rules.tcp.between import FILES, levels_between
from apps.bench.rules.tcp.levels import Levels
from apps.bench.rules.tcp.path import PathReading, read_path
from apps.bench.rules.tcp.sweeps import MOST_SCATTER
from apps.bench.rules.told import names_in
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

METRIC = "throughput"
# A rate above this share of what TCP can have of the paths was not measured well, or these are not as they are known.
MOST_OF_PATH = 1.03
# Fewer runs than this are no repetition.
LEAST_BELIEVED = 2
TOOLS = {"gridftp", "gridftp-third-party"}
ENDS = ("source", "destination")
# The options that a person chooses for speed, with what they are without being chosen.
OPTIONS = TRANSFERS


@dataclass(frozen=True)
class Transfer:
    """One choice of options: its rates (B/s) by trial, and the mean that stands for them.

    `is_held` says that a judge saw an end set the pace. `ceiling` is what TCP can have of all the paths between its
    data nodes at once (B/s), None where one of them is not known.
    """

    options: Mapping[str, Any]
    rates: Mapping[int, float]
    tool: str
    is_held: bool = False
    kind: statistics.Mean = statistics.Mean.ARITHMETIC
    ceiling: float | None = None

    @property
    def is_beyond(self) -> bool:
        """Return whether it had more than the paths, as they are known, carry."""
        return self.ceiling is not None and self.rate.mean > MOST_OF_PATH * self.ceiling

    @cached_property
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


@dataclass(frozen=True)
class TriedChoices:
    """The choices that one group of transfers differs in, the cheapest first, and those that are not believed.

    `apart` is how many others were measured under other conditions, as of files of another size.
    """

    kept: tuple[Transfer, ...] = ()
    left_out: tuple[Transfer, ...] = ()
    apart: int = 0

    @property
    def remarks(self) -> tuple[Message, ...]:
        """Return which choices are left out, and why."""
        remarks = []
        if self.apart:
            text = _("%(count)s choices that were measured with other files, or other ends, are not compared here.")
            remarks.append(Message(text, {"count": self.apart}))
        if not self.left_out:
            return tuple(remarks)
        text = _(
            "%(left)s of %(all)s choices are left out: of one run each, they had more than the paths carry as far as"
            " they are known (%(figures)s). Repeat them."
        )
        figures = ", ".join(
            f"{say(item)} {format_quantity(item.rate.mean, 'B/s')} > {format_quantity(item.ceiling or 0.0, 'B/s')}"
            for item in self.left_out
        )
        count = len(self.left_out)
        return (*remarks, Message(text, {"left": count, "all": count + len(self.kept), "figures": figures}))


def read_transfers(evidence: Evidence) -> list[Transfer]:
    """Return the choices that are believed (`read_choices`)."""
    return list(read_choices(evidence).kept)


@read_once
def read_choices(evidence: Evidence) -> TriedChoices:
    """Return the choices of the largest group that differs in options only; of equals that of the most trials.

    Clients time by tenths of a second: of small files come rates that no path carries. A rate of one run beyond the
    paths is one of these; one that was repeated says as much of what is known of the paths.
    """
    path = read_path(evidence)
    groups: dict[tuple[tuple[str, str], ...], dict[tuple[str, ...], Transfer]] = {}
    levels = levels_between(evidence).get(FILES, Levels(()))
    for original in filter(is_gridftp, levels.points):
        point = pace.undisturbed(original, METRIC)
        rates = point.metrics.get(METRIC, {})
        conditions = tuple(sorted((name, repr(v)) for name, v in point.parameters.items() if name not in OPTIONS))
        options = {name: point.parameters.get(name, default) for name, default in OPTIONS.items()}
        group = groups.setdefault((*conditions, ("tool", point.tool)), {})
        key = tuple(map(repr, options.values()))
        earlier, is_held = (group[key].rates, group[key].is_held) if key in group else ({}, False)
        is_held = is_held or bool(pace.flags_of(point))
        ceiling = ceiling_for(evidence, path, point, options["data_nodes"])
        kind = point.kind_of_mean(METRIC)
        group[key] = Transfer(options, {**earlier, **rates}, point.tool, is_held, kind, ceiling)
    largest = max(
        groups.values(), key=lambda group: (len(group), sum(len(t.rates) for t in group.values())), default={}
    )
    choices = sorted(largest.values(), key=lambda transfer: transfer.cost)
    left_out = tuple(item for item in choices if item.is_beyond and len(item.rates) < LEAST_BELIEVED)
    apart = sum(map(len, groups.values())) - len(choices)
    return TriedChoices(tuple(item for item in choices if item not in left_out), left_out, apart)


def ceiling_for(evidence: Evidence, path: PathReading | None, point: Point, data_nodes: int) -> float | None:
    """Return what TCP can have (B/s) of the paths between so many data nodes of each end (0: all), None if unknown.

    Of one pair it is the path's, as measured; of several what the links of all pairs carry at once.
    """
    ends = [point.roles.get(role, ())[: data_nodes or None] for role in ENDS]
    if data_nodes == 1 or (not data_nodes and max(map(len, ends)) == 1):
        return path.ceiling_bps / 8 if path is not None and not path.capacity.is_lower_bound else None
    pairs = [evidence.path_between(a, b) for a, b in network.pairs_at_once(*ends)]
    if len(pairs) < (data_nodes or 1) or not all(pair.capacity_bps for pair in pairs):
        return None
    return ceiling_of(evidence, [[pair] for pair in pairs])


def say(transfer: Transfer) -> str:
    """Return a choice as one writes it; with how many data nodes, which no option says."""
    nodes = transfer.options["data_nodes"]
    return " ".join([*words(transfer.options), *([f"({nodes} × {nodes})"] if nodes > 1 else [])]) or "globus-url-copy"


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
