"""What was moved one way."""

from collections.abc import Iterable
from typing import NamedTuple


class FioUnreadable(Exception):
    """A report without the figures that each has, or in a form that is not known."""


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
