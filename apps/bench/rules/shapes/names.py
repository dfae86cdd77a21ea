"""Factors under names that all tools share."""

from collections.abc import Mapping
from typing import Any

from apps.bench.rules.base import Evidence, Point, Trend
from apps.bench.rules.shapes.apart import words_of
from apps.bench.units import format_quantity

RECORD, CLIENTS, THREADS, TASKS = "record_size", "clients", "threads", "tasks"
FILE_SYSTEM, KIND, BLOCK = "file_system", "file_system_kind", "file_system_block"

NOTHING: Mapping[str, Any] = {}

# What the tools call the bytes moved by one call, and the processes on each client.
_RECORDS = {"iozone": "record_size", "fio": "block_size", "ior": "transfer_size"}
THREADS_OF = {"iozone": "threads", "fio": "jobs"}


def described(point: Point, evidence: Evidence) -> dict[str, Any]:
    """Return a point's parameters under the names that all tools share, and what follows from the evidence."""
    parameters = dict(point.parameters)
    for names, shared in ((_RECORDS, RECORD), (THREADS_OF, THREADS)):
        own = names.get(point.tool, "")
        if own in parameters:
            parameters[shared] = parameters.pop(own)
    if point.tool in THREADS_OF:
        parameters[CLIENTS] = parameters.get(CLIENTS) or len(nodes_of(point)) or None
    if parameters.get(CLIENTS) and parameters.get(THREADS):
        parameters[TASKS] = parameters[CLIENTS] * parameters[THREADS]
    elif point.tool == "ior" and parameters.get("ranks"):
        parameters[TASKS] = parameters["ranks"]
    if point.file_system:
        parameters[FILE_SYSTEM] = point.file_system
        facts = evidence.file_systems.get(point.file_system)
        parameters |= {KIND: facts.kind} if facts else {}
        parameters |= {BLOCK: facts.block_size_bytes} if facts and facts.block_size_bytes else {}
    return parameters


def nodes_of(point: Point) -> tuple[str, ...]:
    """Return the nodes that did the work: clients of a file system, or the nodes of a parallel program."""
    return point.roles.get("client") or point.roles.get("node") or ()


def factors_behind(factor: str) -> frozenset[str]:
    """Return the names that change with a factor and so are not among what is held fixed."""
    if factor == BLOCK:
        return frozenset({BLOCK, FILE_SYSTEM})
    if factor == FILE_SYSTEM:
        return frozenset({BLOCK, FILE_SYSTEM, KIND})
    if factor == TASKS:
        return frozenset({TASKS, CLIENTS, THREADS, "ranks"})
    return frozenset({factor, TASKS} if factor in (CLIENTS, THREADS, "ranks") else {factor})


def canonical(tool: str, name: str) -> str:
    """Return the shared name of a tool's parameter."""
    if name == _RECORDS.get(tool) or (name == "block_size" and tool == "iozone"):
        return RECORD
    if name in ("block_size_bytes", "gpfs_block_bytes"):
        return BLOCK
    return THREADS if name == THREADS_OF.get(tool) else name


def way_of(trend: Trend) -> str:
    """Return the metric and all that was held while a factor was varied, by the tool's names: "read, threads = 2"."""
    return in_words(trend.tool, trend.metric, trend.fixed, trend.apart)


def in_words(tool: str, metric: str, settings: Mapping[str, Any], apart: Mapping[str, Any] = NOTHING) -> str:
    """Return a metric with the conditions that it was measured under, under the tool's own names.

    `apart` {name: value} are the settings in which others of the metric differ (`settings_apart`): all are told.
    """
    record, threads = _RECORDS.get(tool, RECORD), THREADS_OF.get(tool, THREADS)
    conditions = [(record, settings.get(RECORD)), (CLIENTS, settings.get(CLIENTS)), (threads, settings.get(THREADS))]
    # Where a program has no clients with threads of their own, its ranks say how many there were.
    conditions += [("ranks", settings.get("ranks"))] if tool == "ior" else []
    pairs = [
        (name, format_quantity(value, "B") if name == record else f"{value:g}")
        for name, value in conditions
        if value and is_number(value)
    ]
    names_told = {name for name, _value in pairs}
    others = words_of(tool, {name: value for name, value in apart.items() if name not in names_told})
    return ", ".join([metric, *(f"{name} = {value}" for name, value in pairs), *others])


def is_number(value: Any) -> bool:
    """Return whether a factor's value is a quantity."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def order(value: Any) -> tuple[int, Any]:
    """Return a key that sorts numbers before words."""
    return (0, value) if is_number(value) else (1, str(value))


def frozen(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return a mapping as a key."""
    return tuple(sorted((name, repr(value)) for name, value in values.items()))
