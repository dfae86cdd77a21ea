"""The table of ``sacct``: jobs by the names of its columns, between bars (-p, -P) or above a rule, without steps."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from apps.bench.outputs.failures import failure
from apps.bench.schedulers import jobs

# A job, one of an array or of a heterogeneous job, or what is left of an array; a step has a point and its name more.
JOB = re.compile(r"\d{1,12}(?:_\d{1,12}|_\[[\d,%-]{1,60}\]|\+\d{1,6})?", re.A)
# What stands where there is nothing, or nobody knows.
_NOTHING = frozenset(("", "unknown", "none", "none assigned", "partition_limit", "invalid", "n/a"))
# The words of ``scontrol show job``, and the columns that tell the same: the first with something in it counts.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "JobId": ("jobid", "jobidraw"),
    "JobName": ("jobname",),
    "Partition": ("partition",),
    "JobState": ("state",),
    "Reason": ("reason",),
    "SubmitTime": ("submit",),
    "StartTime": ("start",),
    "EndTime": ("end",),
    # Raw limits are in minutes, as scontrol may print them; raw times of running are in seconds.
    "TimeLimit": ("timelimit", "timelimitraw"),
    "RunTime": ("elapsed", "elapsedraw"),
    "ExitCode": ("exitcode",),
    "NodeList": ("nodelist",),
    "NumCPUs": ("alloccpus", "ncpus", "reqcpus"),
}
# sacct knows some 120.
_MOST_COLUMNS = 200
_RULE = re.compile(r"-+(?: +-+)* *")
# A column without bars that is too narrow ends so.
_CUT = "+"


def read_table(text: str, states: Collection[str]) -> list[dict[str, str]] | None:
    """Return the jobs as scontrol's fields; None where it is no such table. `states` are Slurm's words for them."""
    rows = _rows(text)
    return None if rows is None else [fields for row in rows if (fields := _fields(row, states))]


def is_table(text: str) -> bool:
    """Return whether a text is such a table, whatever its rows hold."""
    return _rows(text) is not None


def _fields(row: Mapping[str, str], states: Collection[str]) -> dict[str, str]:
    """Return what a row tells of a job, {} of a step."""
    fields = {}
    for word, names in _COLUMNS.items():
        # A job that got no processors has 0 of them: what it asked for is told beside.
        empty = _NOTHING | ({"0"} if word == "NumCPUs" else frozenset())
        name = next((name for name in names if row.get(name, "").lower() not in empty), "")
        if name:
            fields[word] = row[name]
        if name == "elapsedraw" and (seconds := jobs.whole(row[name])) is not None:
            fields[word] = f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if state := fields.get("JobState", "").removesuffix(_CUT):
        whole = [word for word in states if word.startswith(state)] if fields["JobState"].endswith(_CUT) else []
        fields["JobState"] = whole[0] if len(whole) == 1 else state
    is_job = JOB.fullmatch(fields.get("JobId", ""))
    return {word: value for word, value in fields.items() if not value.endswith(_CUT)} if is_job else {}


def _rows(text: str) -> Iterator[dict[str, str]] | None:
    """Return the cells of each line by the names of their columns, in small letters; None without such columns."""
    lines = [line for line in text.splitlines() if line.strip()]
    place = next((at for at, line in enumerate(lines) if _is_head(_cells(line.lower()))), None)
    if place is None:
        return None
    head, rest = lines[place].lower(), lines[place + 1 :]
    if "|" in head:
        return _between_bars(_cells(head), rest)
    if not rest or not _RULE.fullmatch(rest[0]):
        return None
    # Below the names a rule tells where columns begin and end.
    spans = {head[slice(*match.span())].strip(): slice(*match.span()) for match in re.finditer(r"-+", rest[0])}
    if len(spans) > _MOST_COLUMNS:
        return None
    return ({name: line[span].strip() for name, span in spans.items()} for line in rest[1:])


def _between_bars(names: Sequence[str], lines: Sequence[str]) -> Iterator[dict[str, str]]:
    for line in lines:
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) != len(names):
            # A name with a bar in it has moved what follows.
            raise failure("queue-unreadable")
        yield dict(zip(names, cells, strict=True))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in (line.split("|") if "|" in line else line.split())]


def _is_head(names: Collection[str]) -> bool:
    is_named = "state" in names and any(name in names for name in _COLUMNS["JobId"])
    return is_named and len(names) <= _MOST_COLUMNS
