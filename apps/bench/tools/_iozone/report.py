"""IOzone's report: a table by column positions, or the throughput of several processes."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

KIB = 1024

# The column of the table in which each test's figure ends; a test that was not run leaves blanks there.
COLUMNS = {
    33: "write",
    42: "rewrite",
    51: "read",
    60: "reread",
    69: "random_read",
    78: "random_write",
    87: "backward_read",
    97: "record_rewrite",
    107: "strided_read",
    116: "fwrite",
    125: "refwrite",
    134: "fread",
    143: "refread",
}
# The same tests as throughput mode calls them.
PHASES = {
    "initial writers": "write",
    "rewriters": "rewrite",
    "readers": "read",
    "re-readers": "reread",
    "random readers": "random_read",
    "random writers": "random_write",
    "reverse readers": "backward_read",
    "stride readers": "strided_read",
    "mixed workload": "mixed",
    "pwrite writers": "pwrite",
    "pread readers": "pread",
    "fwriters": "fwrite",
    "freaders": "fread",
}
# Without retests (-+n) these are printed as 0.
RETESTS = {"rewrite": "write", "reread": "read", "refwrite": "fwrite", "refread": "fread"}

OPENING = re.compile(r"^[ \t]{0,9}Iozone: Performance Test of File I/O", re.M)
SIGNATURES = (
    re.compile(r"Iozone: Performance Test of File I/O"),
    re.compile(r"^\tChildren see throughput for +\d+ [a-z -]+[ \t]*= *[\d.]+ \w+/sec", re.M | re.A),
    re.compile(r"^iozone: (?:invalid option|interrupted)", re.M | re.A),
)

_ROW = re.compile(r"^(?P<file>[ ]{0,15}\d{1,16})(?P<record>[ ]{1,7}\d{1,7})(?P<figures>[ \d]*)$", re.M | re.A)
_EACH = re.compile(
    r"^\tEach process writes a +(\d{1,16}) kByte file in +(\d{1,10}) kByte records", re.M | re.A | re.I
)
_PHASE = re.compile(
    r"^\tChildren see throughput for +(\d{1,6}) ([a-z-]+(?: [a-z-]+)?)[ \t]*= *(\d{1,18}\.\d\d) (\w+)/sec",
    re.M | re.A,
)
_PART = re.compile(r"^\t(Min|Max) (throughput per process|xfer)[ \t]*= *(\d{1,18}\.\d\d) ", re.M | re.A)
_FILE = re.compile(r"^\tFile size set to (\d{1,16}) kB", re.M | re.A)
_RECORD = re.compile(r"^\tRecord Size (\d{1,10}) kB", re.M | re.A)
_END = "iozone test complete."
_VERSION = re.compile(r"Version \$Revision: ([\d.]{1,20}) \$", re.A)


class IozoneUnreadable(Exception):
    """A table whose figures stand where no column is, or are no figures."""


@dataclass
class IozonePoint:
    """What was measured with one file size and record size (B) by so many processes.

    `figures` are as printed, in the unit of the report; `least` are the rates of the slowest process, `most` those of
    the fastest, `moved` what the slowest moved (B).
    """

    file_size: int
    record_size: int
    processes: int
    figures: dict[str, float] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    moved: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class IozoneReport:
    """All points of a report, and what it says of itself; `unit` is rate (kB/s), operations (1/s) or latency (us).

    `is_spread` says that its processes ran on several nodes (-+m).
    """

    points: tuple[IozonePoint, ...]
    unit: str
    version: str
    is_whole: bool
    has_banner: bool
    # With -V it says itself that its rates mean nothing.
    is_verified: bool
    is_spread: bool
    direct: bool
    fsync: bool
    # Whether results stand before the banner or after the end: they are of another run.
    has_others: bool = False

    def rates(self, point: IozonePoint) -> dict[str, float]:
        """Return the figures of a point as rates (B/s); a kB of IOzone's is 1024 bytes."""
        return {metric: self._rate(value, point.record_size) for metric, value in point.figures.items() if value > 0}

    def _rate(self, value: float, record_size: int) -> float:
        if self.unit == "operations":
            return value * record_size
        if self.unit == "latency":
            return record_size / (value / 1e6)
        return value * KIB


def read_report(text: str) -> IozoneReport:
    """Return what a report holds; Unreadable if its table is damaged."""
    unit = "rate"
    if "OPS Mode." in text:
        unit = "operations"
    elif "Microseconds/op Mode." in text and not _PHASE.search(text):
        unit = "latency"
    version = _VERSION.search(text)
    banner = OPENING.search(text)
    outside = f"{text[: banner.start()]}\n{text.partition(_END)[2]}" if banner else ""
    return IozoneReport(
        points=(*_rows(text), *_throughputs(text)),
        unit=unit,
        version=version[1] if version else "",
        is_whole=_END in text,
        has_banner="Iozone: Performance Test" in text,
        is_verified="Performance measurements are invalid in this mode" in text,
        is_spread="Network distribution mode enabled" in text,
        direct="O_DIRECT feature enabled" in text,
        fsync="Include fsync in write timing" in text,
        has_others=bool(_ROW.search(outside) or _PHASE.search(outside)),
    )


def _rows(text: str) -> Iterator[IozonePoint]:
    for match in _ROW.finditer(text):
        if match.end("record") != match.start() + 24:
            raise IozoneUnreadable
        point = IozonePoint(int(match["file"]) * KIB, int(match["record"]) * KIB, 1)
        offset = match.start("figures") - match.start()
        for figure in re.finditer(r"\d+", match["figures"], re.ASCII):
            metric = COLUMNS.get(offset + figure.end())
            if metric is None or len(figure[0]) > 18:
                raise IozoneUnreadable
            point.figures[metric] = float(figure[0])
        yield point


def _throughputs(text: str) -> Iterator[IozonePoint]:
    """Yield a point for each number of processes; where an excerpt leaves sizes out they are 0."""
    starts = [(match.start(), int(match[1]) * KIB, int(match[2]) * KIB) for match in _EACH.finditer(text)]
    phases = list(_PHASE.finditer(text))
    point: IozonePoint | None = None
    begun = -1
    for index, match in enumerate(phases):
        header = max((number for number, start in enumerate(starts) if start[0] < match.start()), default=-1)
        metric, processes = PHASES.get(match[2]), int(match[1])
        if metric is None or not processes:
            continue
        if point is None or header != begun or processes != point.processes or metric in point.figures:
            if point:
                yield point
            begun = header
            sizes = starts[header][1:] if header >= 0 else (_size(_FILE, text), _size(_RECORD, text))
            point = IozonePoint(*sizes, processes)
        point.figures[metric] = float(match[3])
        end = phases[index + 1].start() if index + 1 < len(phases) else len(text)
        _add_parts(point, metric, text[match.end() : end])
    if point:
        yield point


def _add_parts(point: IozonePoint, metric: str, text: str) -> None:
    for match in _PART.finditer(text):
        if match[1] == "Min":
            target = point.moved if match[2] == "xfer" else point.least
            target[metric] = float(match[3])
        elif match[2] != "xfer":
            point.most[metric] = float(match[3])


def _size(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.search(text)
    return int(match[1]) * KIB if match else 0


def seconds_of(point: IozonePoint, rates: Mapping[str, float]) -> dict[str, float]:
    """Return for how long (s) each test ran, by its rate."""
    amount = point.file_size * point.processes
    seconds = {metric: amount / rate for metric, rate in rates.items() if amount and rate > 0}
    return {metric: value for metric, value in seconds.items() if math.isfinite(value)}
