"""Reading what an OSU micro-benchmark prints: a head of lines that begin with #, and a row for each message size."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.outputs import launchers, texts
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output

TITLE = re.compile(r"^# OSU (?:MPI )?(\S[^\n]{0,100}?) Test v(\d{1,3}(?:\.\d{1,4}){0,3})", re.M)
_COLUMNS = re.compile(r"^# ((?:Size|Avg Lat|Avg Latency\(us\))[^\n]*)$", re.M)
PAIRS = re.compile(r"^# \[ pairs: (\d{1,6}) \] \[ window size: (\d{1,9}) \]", re.M)
_NUMBER = r"-?\d{1,15}(?:\.\d{1,9})?"
_ROW = re.compile(rf"^({_NUMBER})((?:[ \t]+(?:{_NUMBER}|Pass|Fail))*)[ \t]*$", re.M)

# The first word or two of a column, and the factor that takes it to base units.
_UNITS = (
    (re.compile(r"(?:Avg )?Lat(?:ency)?(?:\(us\))?|(?:Avg|Min|Max) Latency\(us\)|P\d{1,2} Tail Lat"), 1e-6),
    # MB is 10^6 bytes here.
    (re.compile(r"Bandwidth \(MB/s\)|MB/s"), 1e6),
)


@dataclass(frozen=True)
class OsuTable:
    """A benchmark's title and version, its columns, and {size (B): {column: value in base units}}; size 0: none."""

    title: str
    version: str
    columns: tuple[str, ...]
    rows: dict[int, dict[str, float]]
    damaged: tuple[int, ...]
    pairs: int | None = None
    window: int | None = None

    def column(self, *beginnings: str) -> dict[int, float]:
        """Return {size: value} of the first column whose name begins so, {} if there is none."""
        for beginning in beginnings:
            for name in self.columns:
                if name.startswith(beginning):
                    return {size: row[name] for size, row in self.rows.items() if name in row}
        return {}


def read_table(output: Output) -> OsuTable:
    """Return the table of an output; ToolFailure if it has none, or one that is damaged."""
    text = texts.read_text(output)
    titles = list(TITLE.finditer(text))
    if len(titles) > 1:
        raise failure("several-results", output, n=len(titles))
    head = _COLUMNS.search(text, titles[0].end()) if titles else None
    if not titles or not head:
        raise launchers.why_none(output, text)
    names = re.split(r"[ \t]{2,}", head[1].strip())
    has_sizes = names[0] == "Size"
    columns = names[1:] if has_sizes else names
    rows: dict[int, dict[str, float]] = {}
    damaged: list[int] = []
    for match in _ROW.finditer(text, head.end()):
        words = [match[1], *match[2].split()]
        size = int(words.pop(0)) if has_sizes and words[0].isdecimal() else 0
        if size in rows or len(words) != len(columns) or (has_sizes and not size and "." in match[1]):
            raise failure("unreadable", output)
        if words[-1] == "Fail":
            damaged.append(size)
        rows[size] = _values(output, columns, words)
    if list(rows) != sorted(rows):
        raise failure("unreadable", output)
    setup = PAIRS.search(text)
    return OsuTable(
        title=titles[0][1],
        version=titles[0][2],
        columns=tuple(columns),
        rows=rows,
        damaged=tuple(damaged),
        pairs=int(setup[1]) if setup else None,
        window=int(setup[2]) if setup else None,
    )


def _values(output: Output, columns: Sequence[str], words: Sequence[str]) -> dict[str, float]:
    values = {}
    for name, word in zip(columns, words, strict=True):
        if name == "Validation":
            if word not in ("Pass", "Fail"):
                raise failure("unreadable", output)
            continue
        if word in ("Pass", "Fail"):
            raise failure("unreadable", output)
        factor = next((factor for pattern, factor in _UNITS if pattern.match(name)), 1.0)
        value = float(word) * factor
        if not math.isfinite(value) or value < 0:
            raise failure("unreadable", output)
        values[name] = value
    return values


def require_whole(table: OsuTable, output: Output, maximum: int) -> None:
    """Raise the failure of a table that ends before the largest size (B) that was asked for."""
    if not table.rows:
        raise failure("mpi-partial", output, last=0, wanted=maximum)
    last = max(table.rows)
    # The sizes double: a table that holds the largest power of two is whole.
    if last and last * 2 <= maximum:
        raise failure("mpi-partial", output, last=last, wanted=maximum)
    if table.damaged:
        raise failure("mpi-corrupt", output, size=table.damaged[0])
