"""What globus-url-copy itself reports with -vb: bytes, average and instantaneous rate, every few seconds."""

import re
from dataclasses import dataclass

from apps.bench.toolkit import SampleSeries

# "MB" is 2^20 bytes here; the time behind the average is counted in tenths of a second.
MB = 2**20
TICK_S = 0.1

_PROGRESS = re.compile(
    r"(?<!\d)(\d{1,18}) bytes {1,20}(\d{1,9}\.\d\d) MB/sec avg {1,20}(\d{1,9}\.\d\d) MB/sec inst", re.ASCII
)
_SOURCE = re.compile(r"^Source: (\S+)$", re.M)
_DEST = re.compile(r"^Dest: {1,10}(\S+)$", re.M)


@dataclass(frozen=True)
class TransferProgress:
    """One report: bytes so far, the time they took (s), average and instantaneous rate (B/s)."""

    moved: int
    time: float
    average: float
    instantaneous: float


@dataclass(frozen=True)
class GridftpReport:
    """The reports of one run, and the places that it read from and wrote to, as it names them."""

    points: tuple[TransferProgress, ...]
    sources: tuple[str, ...]
    destinations: tuple[str, ...]

    @property
    def is_of_one_file(self) -> bool:
        """Return whether the reports are all of one file: with several they begin anew for each."""
        return len(self.sources) <= 1

    @property
    def last(self) -> TransferProgress | None:
        """Return the last report of one file, None if there was none or there were several files."""
        return self.points[-1] if self.points and self.is_of_one_file else None

    def as_series(self) -> tuple[SampleSeries, ...]:
        """Return average and instantaneous rate over time, of one file that took several reports."""
        if not self.is_of_one_file or len(self.points) < 2:
            return ()
        times = tuple(point.time for point in self.points)
        return tuple(
            SampleSeries("throughput", name, "B/s", times, tuple(getattr(point, name) for point in self.points))
            for name in ("average", "instantaneous")
        )


def read_report(text: str) -> GridftpReport:
    """Return the reports in the order of time; a striped transfer repeats them, and each is kept once."""
    points: list[TransferProgress] = []
    for match in _PROGRESS.finditer(text):
        amount, average, instantaneous = int(match[1]), float(match[2]) * MB, float(match[3]) * MB
        # A report of nothing has no time of its own: it came before the first that has.
        time = round(amount / average / TICK_S) * TICK_S if average else 0.0
        if not points or (time > points[-1].time and amount >= points[-1].moved):
            points.append(TransferProgress(amount, round(time, 1), average, instantaneous))
    return GridftpReport(tuple(points), tuple(_SOURCE.findall(text)), tuple(_DEST.findall(text)))
