"""IOR's report: a table whose columns its header names, what it says of itself, or a summary in CSV."""

import csv
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.bench.outputs.documents import Damaged, dig, first_object, number, objects

MIB = 1024**2
# Sizes are printed with two digits behind the point, rates and times with four digits or more, times in whole us.
ROUNDING, TICK_S = 0.02, 1e-6

_VERSION = re.compile(r"^IOR-(\d[\w.+-]{0,40}): MPI Coordinated", re.M | re.A)
_HEADER = re.compile(r"^access +bw\(MiB/s\) .*$", re.M)
_CSV_HEADER = re.compile(r"^access,bw\(MiB/s\),.*$", re.M)
_SECTION = re.compile(r"^Options: *$", re.M)
_ROW = re.compile(r"^(write|read) +[\d.]", re.M)
# Before version 3.2 they stood behind tabs and "=".
_OPTION = re.compile(r"^\t?([a-z][\w ]{2,30}?) *[:=] (\S.*)$", re.M)
_CLIENTS = re.compile(r"(\d{1,9}) \(\d{1,9} per node\)", re.A)
_COMMAND = re.compile(r"^Command line *: (.*)$", re.M)
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{0,18})?(?:e[+-]\d{1,2})?", re.A)
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?) (bytes|KiB|MiB|GiB|TiB)", re.A)
_UNITS = {"bytes": 1, "KiB": 1024, "MiB": MIB, "GiB": 1024**3, "TiB": 1024**4}


class IorUnreadable(Exception):
    """A table whose rows do not fit its header."""


class IorSeveral(Exception):
    """A report of several tests, such as a script (-f) has: their number."""

    def __init__(self, tests: int) -> None:
        super().__init__(tests)
        self.tests = tests


@dataclass(frozen=True)
class IorPass:
    """One pass over the file: its rate with open and close (B/s), operations a second, times (s) of its parts.

    Those that an older program does not print are None.
    """

    access: str
    rate: float
    iops: float | None
    open_s: float | None
    transfer_s: float | None
    close_s: float | None
    total_s: float | None

    @property
    def moved(self) -> float | None:
        """Return the bytes that were moved, over which the program has its rate; None if it prints no time."""
        return self.rate * self.total_s if self.total_s else None


@dataclass(frozen=True)
class IorReport:
    """The rows of a report in order, its own means by access (B/s), and its options by name."""

    rows: tuple[IorPass, ...]
    means: Mapping[str, float]
    options: Mapping[str, str]
    version: str
    is_whole: bool
    command: str = ""

    def of(self, access: str) -> list[IorPass]:
        """Return the rows of one access, write or read."""
        return [row for row in self.rows if row.access == access]

    def word(self, name: str) -> str:
        """Return an option such as "api" if it is one plain word, else ""."""
        match = re.fullmatch(r"[A-Za-z0-9_-]{1,40}", self.options.get(name, ""))
        return match[0] if match else ""

    def size(self, name: str) -> int | None:
        """Return the bytes of an option such as "aggregate filesize"."""
        match = _SIZE.fullmatch(self.options.get(name, ""))
        return round(float(match[1]) * _UNITS[match[2]]) if match else None

    @property
    def planned(self) -> int | None:
        """Return the bytes that each pass was to move: with a time limit (-D), or after an error, it moves less."""
        return self.size("aggregate filesize")

    def moved_by(self, row: IorPass) -> float | None:
        """Return the bytes that a pass moved: those that were planned, which have more digits, if these are they."""
        if row.moved is None or row.total_s is None:
            return None if self.is_limited else self.planned
        tolerance = ROUNDING + TICK_S / row.total_s
        is_as_planned = self.planned and math.isclose(row.moved, self.planned, rel_tol=tolerance)
        return self.planned if is_as_planned else row.moved

    @property
    def is_limited(self) -> bool:
        """Return whether a pass ends after a time (-D), whatever it has moved."""
        return "stonewallingTime" in self.options or "-D" in self.command.split()

    @property
    def moved(self) -> float | None:
        """Return the bytes of the files: what the largest pass wrote, or read where nothing was written."""
        rows = self.of("write") or self.of("read")
        amounts = [amount for row in rows if (amount := self.moved_by(row))]
        return max(amounts) if amounts and len(amounts) == len(rows) else None

    @property
    def settings(self) -> dict[str, Any]:
        """Return the parameters that the options tell: sizes in B, counts, and whose file each rank wrote."""
        settings = {
            "api": self.word("api"),
            "block_size": self.size("blocksize"),
            "transfer_size": self.size("xfersize"),
            "segments": self.count("segments"),
            "iterations": self.count("repetitions"),
            "file_per_process": {"file-per-process": True, "single-shared-file": False}.get(
                self.options.get("access", "")
            ),
            "collective": {"collective": True, "independent": False}.get(self.options.get("type", "")),
        }
        return {name: value for name, value in settings.items() if value not in (None, "")}

    def count(self, name: str) -> int | None:
        """Return the number of an option such as "tasks"."""
        text = self.options.get(name, "")
        return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def read_report(text: str) -> IorReport:
    """Return what a text holds of a report; IorUnreadable if a row is damaged, IorSeveral if it has several tests."""
    if document := _document(text):
        return _of_json(document)
    if (tests := _count_tests(text)) > 1:
        raise IorSeveral(tests)
    version = _VERSION.search(text)
    command = _COMMAND.search(text)
    rows = (*_table(text), *_comma_separated(text))
    means = {row["Operation"]: _number(row["Mean(MiB)"]) * MIB for row in _summary(text) if "Mean(MiB)" in row}
    return IorReport(
        rows=rows,
        means=means,
        options=_options(text),
        version=version[1] if version else "",
        is_whole=re.search(r"^(?:Finished|Run finished) *: ", text, re.M) is not None
        or bool(_CSV_HEADER.search(text)),
        command=command[1] if command else "",
    )


def _count_tests(text: str) -> int:
    """Return how many tests a text tells of: each has options and a table, and its number in the summary of all."""
    numbers = {row["Test#"] for row in _summary(text) if "Test#" in row}
    tables = len(_HEADER.findall(text)) + len(_CSV_HEADER.findall(text))
    return max(len(numbers), tables, len(_SECTION.findall(text)))


def _summary(text: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the summary of all tests by the names of its columns, as far as they fit them."""
    names: list[str] = []
    for line in text.partition("\nSummary of all tests:\n")[2].splitlines():
        fields = line.split()
        if fields[:1] == ["Operation"]:
            names = fields
        elif fields[:1] in (["write"], ["read"]) and len(fields) == len(names):
            yield dict(zip(names, fields, strict=True))


def _options(text: str) -> dict[str, str]:
    """Return what stands behind each name; tasks were called clients before version 3.2."""
    options = {name.strip(): value.strip() for name, value in _OPTION.findall(text)}
    clients = _CLIENTS.fullmatch(options.get("clients", ""))
    return {"tasks": clients[1], **options} if clients else options


def _document(text: str) -> Any:
    """Return the summary in JSON (summaryFormat=JSON) that a text holds, None if it is of another form."""
    try:
        return first_object(text, on_a_new_line=True)
    except Damaged:
        raise IorUnreadable from None


def _of_json(data: Any) -> IorReport:
    tests = objects(dig(data, "tests"))
    if len(tests) > 1:
        raise IorSeveral(len(tests))
    test = tests[0] if tests else {}
    options = test.get("Options")
    # Up to version 3 the results are lists of passes, since 4 they are one list.
    passes = test.get("Results") or dig(options, "Results") or []
    listed = [row for each in passes for row in (each if isinstance(each, list) else [each])] if passes else []
    means = {
        str(entry.get("operation")): mean * MIB
        for entry in objects(dig(data, "summary"))
        if (mean := number(entry, "bwMeanMIB")) is not None
    }
    command, version = dig(data, "Command line"), dig(data, "Version")
    return IorReport(
        rows=tuple(_json_row(row) for row in objects(listed)),
        means=means,
        options={name: str(value) for name, value in options.items()} if isinstance(options, dict) else {},
        version=version[:40] if isinstance(version, str) and version.isprintable() else "",
        is_whole=any(isinstance(dig(data, name), str) for name in ("Finished", "finished")),
        command=command if isinstance(command, str) else "",
    )


def _json_row(row: Mapping[str, Any]) -> IorPass:
    rate, access = number(row, "bwMiB"), row.get("access")
    if rate is None or access not in ("write", "read"):
        raise IorUnreadable
    times = (number(row, name) for name in ("openTime", "wrRdTime", "closeTime", "totalTime"))
    return IorPass(str(access), rate * MIB, number(row, "iops"), *times)


def _table(text: str) -> Iterator[IorPass]:
    header = _HEADER.search(text)
    if not header:
        return
    names = header[0].split()
    end = text.find("\nSummary of all tests:", header.end())
    for line in text[header.end() : end if end >= 0 else None].splitlines():
        if _ROW.match(line):
            yield _row(dict(zip(names, _fitting(line.split(), len(names)), strict=True)))


def _comma_separated(text: str) -> Iterator[IorPass]:
    header = _CSV_HEADER.search(text)
    if not header:
        return
    names = header[0].split(",")
    lines = [line for line in text[header.end() :].splitlines() if line.startswith(("write,", "read,"))]
    for fields in csv.reader(lines):
        yield _row(dict(zip(names, _fitting(fields, len(names)), strict=True)))


def _fitting(fields: list[str], count: int) -> list[str]:
    if len(fields) != count:
        raise IorUnreadable
    return fields


def _row(fields: Mapping[str, str]) -> IorPass:
    def number(*names: str) -> float | None:
        text = next((fields[name] for name in names if name in fields), None)
        return None if text is None else _number(text)

    rate = number("bw(MiB/s)")
    if rate is None:
        raise IorUnreadable
    return IorPass(
        access=fields["access"],
        rate=rate * MIB,
        iops=number("IOPS"),
        open_s=number("open(s)"),
        transfer_s=number("wr/rd(s)"),
        close_s=number("close(s)"),
        total_s=number("total(s)"),
    )


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise IorUnreadable
    return float(text)
