"""The workbook that IOzone writes with -b: the figures of its report, without the words around them.

It is of the first form of Excel's (BIFF2): records of a number (2 bytes), a length (2 bytes) and that many bytes; a
cell begins with its row and column (2 bytes each) and three bytes of format.
"""

import itertools
import struct
from collections.abc import Iterator

from apps.bench.tools._iozone.command import UnknownOption, apart, words_of
from apps.bench.tools._iozone.report import KIB, IozonePoint, IozoneReport, IozoneUnreadable

_BEGIN = b"\x09\x00\x04\x00"
_NUMBER, _LABEL = 0x03, 0x04
_FORMAT = 7
# The titles of its tables of record sizes by file sizes, and of its rows by numbers of processes.
_TABLES = {
    "Writer": "write", "Re-writer": "rewrite", "Reader": "read", "Re-reader": "reread", "Random Read": "random_read",
    "Random Write": "random_write", "Backward Read": "backward_read", "Record Rewrite": "record_rewrite",
    "Stride Read": "strided_read", "Fwrite": "fwrite", "Re-fwrite": "refwrite", "Fread": "fread",
    "Re-fread": "refread",
}  # fmt: skip
_ROWS = {
    "Initial write": "write", "Rewrite": "rewrite", "Read": "read", "Re-read": "reread",
    "Reverse Read": "backward_read", "Stride read": "strided_read", "Random read": "random_read",
    "Mixed workload": "mixed",
    "Random write": "random_write", "Pwrite": "pwrite", "Pread": "pread", "Fwrite": "fwrite", "Fread": "fread",
}  # fmt: skip
_SIZES = "The top row is records sizes, the left column is file sizes"
_PROCESSES = "Throughput report Y-axis is type of test X-axis is number of processes"
# What every title of a table by numbers of processes holds.
_TABLE = "report Y-axis"
# No size in KiB and no figure is larger.
_LARGEST = 1e15
# Where the first number of processes stands.
_FIRST_COUNT = 2

Cells = dict[int, dict[int, str | float]]


def is_workbook(raw: bytes) -> bool:
    """Return whether this is such a workbook and IOzone's."""
    return raw.startswith(_BEGIN) and (_SIZES.encode() in raw or _PROCESSES.encode() in raw)


def command_of(raw: bytes) -> list[str]:
    """Return the command line that stands in its first cell."""
    return words_of(str(_read_cells(raw).get(0, {}).get(0, "")))


def read_workbook(raw: bytes) -> IozoneReport:
    """Return what a workbook holds; Unreadable if a record is damaged or a figure stands under no heading.

    A table of sizes does not say its unit: the command line does, so one that is not IOzone's is unreadable, too.
    """
    cells = _read_cells(raw)
    try:
        argv = apart(command_of(raw))
    except UnknownOption as error:
        raise IozoneUnreadable from error
    unit = "operations" if "-O" in argv else "latency" if "-N" in argv else "rate"
    texts = [str(row.get(0, "")).strip() for row in cells.values()]
    points = _of_processes(cells, argv) if _PROCESSES in texts else _of_sizes(cells)
    return IozoneReport(
        points=tuple(points),
        unit=unit,
        version="",
        is_whole=True,
        has_banner=False,
        is_verified=False,
        is_spread="-+m" in argv,
        direct="-I" in argv,
        fsync="-e" in argv,
    )


def _read_cells(raw: bytes) -> Cells:
    cells: Cells = {}
    position = 0
    while position + 4 <= len(raw):
        kind, length = struct.unpack_from("<HH", raw, position)
        record = raw[position + 4 : position + 4 + length]
        position += 4 + length
        if kind not in (_NUMBER, _LABEL):
            continue
        if len(record) < length or length <= _FORMAT:
            raise IozoneUnreadable
        row, column = struct.unpack_from("<HH", record)
        if kind == _LABEL:
            text = record[_FORMAT + 1 : _FORMAT + 1 + record[_FORMAT]].decode("utf-8", "replace")
            cells.setdefault(row, {})[column] = text
        elif length == _FORMAT + 8:
            cells.setdefault(row, {})[column] = _figure(record)
    return dict(sorted(cells.items()))


def _figure(record: bytes) -> float:
    value: float = struct.unpack_from("<d", record, _FORMAT)[0]
    if not 0 <= value <= _LARGEST:
        raise IozoneUnreadable
    return value


def _of_sizes(cells: Cells) -> Iterator[IozonePoint]:
    """Yield a point for each file size and record size (KiB), in the order of the table."""
    points: dict[tuple[float, float], IozonePoint] = {}
    metric, records = "", dict[int, float]()
    for row in cells.values():
        title = row.get(0)
        if isinstance(title, str):
            metric, records = _TABLES.get(title.strip().removesuffix(" Report"), ""), {}
            continue
        figures = {column: value for column, value in row.items() if isinstance(value, float)}
        if not metric:
            continue
        if not records:
            records = figures
            continue
        size = figures.pop(0, 0.0)
        for column, value in figures.items():
            if not size or not records.get(column):
                raise IozoneUnreadable
            key = (size, records[column])
            point = points.setdefault(key, IozonePoint(round(size * KIB), round(records[column] * KIB), 1))
            point.figures[metric] = value
    yield from points.values()


def _of_processes(cells: Cells, argv: list[str]) -> Iterator[IozonePoint]:
    """Yield a point for each number of processes; the size of their files is told by the command line only."""
    options = dict(itertools.pairwise(argv))
    first = options.get("-t") or options.get("-l") or ""
    record = next((text for row in cells.values() if (text := str(row.get(0, ""))).startswith("Record size = ")), "")
    kibibytes = record.removeprefix("Record size = ").partition(" ")[0]
    if not first.isdecimal() or not kibibytes.isdecimal():
        raise IozoneUnreadable
    points: dict[int, IozonePoint] = {}
    is_throughput = False
    for row in cells.values():
        title = str(row.get(0, "")).strip()
        # With -+u a table of the processors' use follows, whose rows have the same names.
        is_throughput = title == _PROCESSES or (is_throughput and _TABLE not in title)
        metric = _ROWS.get(title) if is_throughput else None
        for column, value in row.items():
            if metric and isinstance(value, float) and column >= _FIRST_COUNT:
                count = int(first) + column - _FIRST_COUNT
                points.setdefault(count, IozonePoint(0, int(kibibytes) * KIB, count)).figures[metric] = value
    yield from points.values()
