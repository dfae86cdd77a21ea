"""Reading what the Intel MPI Benchmarks print: a head, then a table for each benchmark and number of processes."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.bench.outputs import launchers, texts
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output

TITLE = re.compile(r"^# +Intel ?\(R\) MPI Benchmark(?:s| Suite V?) ?(\d{1,4}(?:\.\d{1,4}){0,3})", re.M)
_BLOCK = re.compile(r"^# Benchmarking (\S{1,64}) *$", re.M)
_PROCESSES = re.compile(r"^# #processes = (\d{1,7})", re.M)
_GROUPS = re.compile(r"^# \( (\d{1,7}) groups? of (\d{1,7}) processes", re.M)
# How a benchmark is named that runs in groups at once.
MULTI = "# Benchmarking Multi-"
_CALLING = re.compile(r"^# Calling sequence was: *\n+# (\S.{0,2000})$", re.M)
_WAITING = re.compile(r"^# ?\( ?(\d{1,6}) additional process(?:es)? waiting", re.M)
_MODE = re.compile(r"^# +MODE: (\S{1,40})", re.M)
_HEAD = re.compile(r"^ *((?:#bytes +)?#repetitions +\S[^\n]*)$", re.M)
_NUMBER = r"\d{1,15}(?:\.\d{1,9})?"
_ROW = re.compile(rf"^ +({_NUMBER}(?: +{_NUMBER})+) *$", re.M)
_INVALID = re.compile(r"^Invalid benchmark name (\S{1,200})", re.M)
_TOO_FEW = re.compile(r"^# !! Benchmark \S{1,64} invalid for \d{1,7} processes !!", re.M)

# From this version on Mbytes/sec counts 10^6 bytes; before, 2^20.
_DECIMAL_SINCE = 2018.0
MEBIBYTE, MEGABYTE = 1024.0**2, 1e6


@dataclass(frozen=True)
class Block:
    """One table: `columns` as printed, {size (B): values in base units}; a benchmark without sizes has size 0 only.

    `name` is without the "Multi-" of one that ran in `groups` at once; `processes` are those that took part.
    """

    name: str
    processes: int
    groups: int
    mode: str
    rows: Mapping[int, Mapping[str, float]]


@dataclass(frozen=True)
class ImbReport:
    """The version, all tables, and options that the program took for benchmarks and ignored."""

    version: str
    blocks: tuple[Block, ...]
    ignored: tuple[str, ...]


def calling_words(text: str) -> list[str]:
    """Return the words of the command line that a head repeats, [] if there is none."""
    match = _CALLING.search(text)
    return match[1].split() if match else []


def processes_of(text: str) -> int | None:
    """Return how many ranks took part in the first table; of one that is for a single rank how many were started."""
    match = _PROCESSES.search(text)
    if groups := _GROUPS.search(text, 0, match.start() if match else len(text)):
        return int(groups[1]) * int(groups[2])
    waiting = _WAITING.search(text) if re.search(r"^# Benchmarking S_", text, re.M) else None
    return int(match[1]) + (int(waiting[1]) if waiting else 0) if match else None


def read_report(output: Output) -> ImbReport:
    """Return the tables of an output; ToolFailure if there are none, or they are not those that were asked for."""
    text = texts.read_text(output)
    title = TITLE.search(text)
    if not title:
        raise launchers.why_none(output, text)
    if len(TITLE.findall(text)) > 1:
        raise failure("several-results", output, n=len(TITLE.findall(text)))
    unknown = _INVALID.findall(text)
    # An option that this build lacks is taken for a benchmark's name, as is the word behind it.
    names = [name for name in unknown if not name.startswith("-") and "/" not in name]
    if names:
        raise failure("mpi-unknown-benchmark", output, said=names[0])
    too_few = _TOO_FEW.search(text)
    if too_few:
        raise failure("mpi-wrong-ranks", output, said=too_few[0].strip("# !"))
    factor = MEGABYTE if float(".".join(title[1].split(".")[:2])) >= _DECIMAL_SINCE else MEBIBYTE
    starts = [match.start() for match in _BLOCK.finditer(text)]
    blocks = [_read_block(output, text[start:end], factor) for start, end in itertools.pairwise([*starts, len(text)])]
    if not blocks:
        raise launchers.why_none(output, text.partition("List of Benchmarks")[2])
    return ImbReport(title[1], tuple(blocks), tuple(name for name in unknown if name.startswith("-")))


def _read_block(output: Output, text: str, factor: float) -> Block:
    name, processes, groups, mode, head = (
        pattern.search(text) for pattern in (_BLOCK, _PROCESSES, _GROUPS, _MODE, _HEAD)
    )
    rows: dict[int, dict[str, float]] = {}
    columns = head[1].split() if head else []
    sized = bool(columns) and columns[0] == "#bytes"
    for match in _ROW.finditer(text, head.end()) if head else ():
        words = match[1].split()
        if len(words) != len(columns) or (sized and not words[0].isdecimal()):
            raise failure("unreadable", output)
        size = int(words[0]) if sized else 0
        if size in rows:
            raise failure("unreadable", output)
        rows[size] = _values(output, columns, words, factor)
    if list(rows) != sorted(rows):
        raise failure("unreadable", output)
    many = int(groups[1]) if groups else 1
    count = many * int(groups[2]) if groups else int(processes[1]) if processes else 0
    title = name[1].removeprefix("Multi-") if name else ""
    return Block(title, count, many, mode[1] if mode else "", rows)


def _values(output: Output, columns: Sequence[str], words: Sequence[str], factor: float) -> dict[str, float]:
    values = {}
    for column, word in zip(columns, words, strict=True):
        unit = 1e-6 if column.endswith("[usec]") else factor if column == "Mbytes/sec" else 1.0
        value = float(word) * unit
        if not math.isfinite(value):
            raise failure("unreadable", output)
        values[column] = value
    return values


def require_whole(block: Block, output: Output, maximum: int) -> None:
    """Raise the failure of a table that ends before the largest size (B) that was asked for."""
    last = max(block.rows, default=0)
    if not block.rows or (maximum and last * 2 <= maximum):
        raise failure("mpi-partial", output, last=last, wanted=maximum)
