"""What was moved one way."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class FioRefused(Exception):
    """A report that is not read: the reason of its failure, and the values of its words."""

    def __init__(self, reason: str = "unreadable", **values: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.values = values


class FioWay(NamedTuple):
    """Bytes, time (s), rate (B/s), operations a second and in all; latencies (s): mean, 99th percentile, largest."""

    size: float
    seconds: float
    rate: float
    iops: float
    operations: float
    mean: float | None = None
    tail: float | None = None
    most: float | None = None


@dataclass
class FioJob:
    """One job (or group of jobs) of a report: its errno, its group, and what it moved each way."""

    error: int = 0
    group: str = ""
    count: int = 1
    ways: Mapping[str, FioWay] = field(default_factory=dict)
    # Which of them it is; not every form tells its process.
    name: str = ""
    pid: str = ""
    # The share by which its figures may differ from what was counted.
    rounding: float = 0.0


def of_group(ways: Iterable[FioWay]) -> FioWay:
    """Return what the jobs of a group moved in the time of the longest, as fio's own line of the group has it.

    The rates of jobs that do not end together do not add up: none ever was the sum.
    """
    every = list(ways)
    whole = add_up(every)
    if len([way for way in every if way.operations]) < 2 or not whole.seconds:
        return whole
    return whole._replace(rate=whole.size / whole.seconds, iops=whole.operations / whole.seconds)


def add_up(ways: Iterable[FioWay]) -> FioWay:
    """Return what several clients moved together: mean latency by operations, percentile and largest of the worst."""
    every = list(ways)
    busy = [way for way in every if way.operations] or every
    weights = sum(way.operations for way in busy if way.mean is not None)
    mean = sum(way.operations * way.mean for way in busy if way.mean is not None)
    return FioWay(
        size=sum(way.size for way in busy),
        seconds=max((way.seconds for way in busy), default=0.0),
        rate=sum(way.rate for way in busy),
        iops=sum(way.iops for way in busy),
        operations=sum(way.operations for way in busy),
        mean=mean / weights if weights else None,
        tail=max((way.tail for way in busy if way.tail is not None), default=None),
        most=max((way.most for way in busy if way.most is not None), default=None),
    )
