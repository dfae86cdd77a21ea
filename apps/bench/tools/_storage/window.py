"""What clients that did not end together moved while all of them ran: by their own intervals, or by the kernel's."""

import bisect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from apps.bench.telemetry.report import Columns, Telemetry, read
from apps.bench.toolkit import Output

# A counter is of a pass over files if it grew by what the pass moved, and by no more than headers and the like add.
LEAST_GROWTH, MOST_GROWTH = 0.95, 1.25
# Of the time in which all ran each client must have been looked at so often: the ends fall between two looks.
LEAST_MOMENTS = 5
# Of clients that were together for this share of the time the sum of their own rates is the rate of all.
TOGETHER = 0.98
# What a command did before, between and after its passes may take this share of the shortest, or this long (s);
# of one with a single pass, which tidies up after it, the second share.
MOST_IDLE, MOST_AFTER, BRIEF_S = 0.03, 0.10, 0.25

Course = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Pass:
    """One pass of a client over its files: from `start` to `end` (server time, s) it moved `amount` (B, operations).

    `course` are (server time, what a counter showed) in ascending order, () if nobody looked meanwhile.
    """

    start: float
    end: float
    amount: float
    course: Course = ()

    def moved(self, start: float, end: float) -> float | None:
        """Return how much of the amount was moved from `start` to `end`; None if the course does not tell."""
        whole = _at(self.course, self.end) - _at(self.course, self.start) if self.course else 0.0
        moments = sum(start < moment < end for moment, _value in self.course)
        if whole <= 0 or moments < LEAST_MOMENTS:
            return None
        return self.amount * (_at(self.course, end) - _at(self.course, start)) / whole


@dataclass(frozen=True)
class Window:
    """The time (server time, s) in which all clients ran, and the rate of each in it (the amount's unit a second)."""

    start: float
    end: float
    rates: tuple[float, ...]

    @property
    def duration_s(self) -> float:
        """Return for how long (s) all of them ran."""
        return self.end - self.start


def window_of(passes: Sequence[Pass | None]) -> Window | None:
    """Return the rates of all clients while all of them ran; None if the course of one of them is not known."""
    complete = [item for item in passes if item is not None]
    if not complete or len(complete) < len(passes):
        return None
    start, end = max(item.start for item in complete), min(item.end for item in complete)
    if end <= start:
        return None
    amounts = [item.moved(start, end) for item in complete]
    rates = tuple(amount / (end - start) for amount in amounts if amount is not None)
    return Window(start, end, rates) if len(rates) == len(complete) else None


def one_after_the_other(output: Output, seconds: Sequence[float]) -> list[tuple[float, float]]:
    """Return from when to when (server time, s) each of a command's passes ran, [] where that is not sure enough."""
    if output.started_at is None or output.ended_at is None or not seconds or min(seconds) <= 0:
        return []
    idle = output.ended_at - output.started_at - sum(seconds)
    idle_share = MOST_IDLE if len(seconds) > 1 else MOST_AFTER
    if not -BRIEF_S <= idle <= max(idle_share * min(seconds), BRIEF_S):
        return []
    ends = itertools.accumulate(seconds, initial=output.started_at)
    return list(itertools.pairwise(ends))


def course_of(output: Output, span: tuple[float, float], amount: float, *, reads: bool, at_once: bool) -> Course:
    """Return what the agent saw of a pass of `amount` (B) over a span (server time, s); () if it saw nothing of it.

    `at_once` says that what a program writes is on its way when the call returns: its own counter tells then. Of what
    goes through the page cache only the interface's counters and the disks' tell when it left.
    """
    telemetry = read(output.telemetry) if output.telemetry else None
    if telemetry is None or output.started_at is None:
        return ()
    for counter in _counters(telemetry, output.started_at, reads=reads, at_once=at_once):
        course = _to_the_end(counter, span, amount)
        if LEAST_GROWTH * amount <= _at(course, span[1]) - _at(course, span[0]) <= MOST_GROWTH * amount:
            return course
    return ()


def _counters(telemetry: Telemetry, begun: float, *, reads: bool, at_once: bool) -> Iterator[Course]:
    """Yield the counters that may have seen what a program read or wrote, the surest first."""
    name = "read" if reads else "written"
    if (reads or at_once) and name in telemetry.own:
        pairs = zip(telemetry.times, telemetry.own[name], strict=True)
        yield tuple((begun + at, value) for at, value in pairs if at < telemetry.ended)
    others: list[tuple[Columns, str]] = [(telemetry.nic, "rx_bytes" if reads else "tx_bytes")]
    others += [(columns, name) for columns in telemetry.disks.values()]
    for columns, key in others:
        if key in columns:
            yield tuple((begun + at, value) for at, value in zip(telemetry.times, columns[key], strict=True))


def _to_the_end(course: Course, span: tuple[float, float], amount: float) -> Course:
    """Return a course that goes on to the end of a pass: nobody can look at a process that is gone.

    What is missing is what the pass moved in all, if most of it has been seen.
    """
    if not course or course[-1][0] >= span[1]:
        return course
    total = _at(course, span[0]) + amount
    return (*course, (span[1], total)) if total - amount / 2 <= course[-1][1] <= total else course


def _at(course: Course, moment: float) -> float:
    """Return a counter at a moment between two looks.

    What moves may have become faster or slower just then (another client began or ended): the growth between the two
    looks is shared out in the proportion of the rates before and after.
    """
    place = bisect.bisect(course, moment, key=lambda pair: pair[0])
    if place == 0 or place == len(course):
        return course[0 if place == 0 else -1][1]
    (left, first), (right, second) = course[place - 1], course[place]
    share = (moment - left) / (right - left)
    before, after = _slope(course, place - 1), _slope(course, place + 1)
    if before is not None and after is not None and before * share + after * (1 - share) > 0:
        share = before * share / (before * share + after * (1 - share))
    return first + share * (second - first)


def _slope(course: Course, place: int) -> float | None:
    """Return how fast a counter grew up to the look at a place, None where there is none before."""
    if not 0 < place < len(course) or course[place][0] <= course[place - 1][0]:
        return None
    return (course[place][1] - course[place - 1][1]) / (course[place][0] - course[place - 1][0])


def windows_of(passes: Sequence[Mapping[str, Pass]]) -> dict[str, Window]:
    """Return {metric: its window} where clients were apart and the courses of all of them are known."""
    names = set.intersection(*(set(own) for own in passes)) if passes else set()
    passes_by_metric = {name: [own[name] for own in passes] for name in sorted(names)}
    windows = {name: window_of(own) for name, own in passes_by_metric.items() if _were_apart(own)}
    return {name: window for name, window in windows.items() if window}


def _were_apart(passes: Sequence[Pass]) -> bool:
    """Return whether the clients were apart for long enough to falsify the sum of what each had in its own time."""
    common = min(item.end for item in passes) - max(item.start for item in passes)
    return common < TOGETHER * (max(item.end for item in passes) - min(item.start for item in passes))
