"""Which mean stands for what a tool measured several times at one setting: one definition for pages and rules."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.bench import statistics
from apps.bench.statistics import Mean
from apps.bench.text import Message
from apps.bench.toolkit.tool import Tool

# Whether a trial moves a set amount of data (and not as much as a set time allows), by the tool's group.
EQUAL_WORK = ("storage", "transfer", "mpi")


def right_mean(tools: Iterable[Tool], settings: Iterable[Mapping[str, Any]], unit: str) -> tuple[Mean, Message]:
    """Return the mean that is right for what tools measured at settings in a unit, and why."""
    equal = all(tool.group in EQUAL_WORK for tool in tools) and not any(item.get("duration") for item in settings)
    return statistics.right_mean(unit, equal_work=equal)


def harmonic_metrics(tool: Tool, settings: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of the tool's metrics of which the harmonic mean is right, measured at these settings."""
    listed = list(settings)
    return frozenset(
        metric.name for metric in tool.metrics if right_mean([tool], listed, metric.unit)[0] is Mean.HARMONIC
    )
