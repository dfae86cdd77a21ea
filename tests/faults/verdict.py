"""What is wrong after the faults: the service's own word held against that of the tools, and what is left over."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.faults.records import Records, Row
from tests.faults.tally import Execution, token_of

LOST, DOUBLED, LEAKED, STUCK, UNTRUE = KINDS = ("lost", "doubled", "leaked", "stuck", "untrue")
LEFTOVER_FLAG, IMPOSSIBLE_FLAG = "leftover-possible", "times-impossible"
OPEN_JOBS = ("queued", "delivered", "running", "ready")
# So far may two clocks be apart that were compared over a slow line (s).
CLOCKS_S = 5.0
# Faults that say that no program was ever started.
_NEVER_BEGUN = ("not-started", "not-allowed", "not-found", "option-not-allowed", "path-not-allowed")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def judge(records: Records, executions: Mapping[str, Execution], progress: Mapping[str, int]) -> list[Finding]:
    """Return all that is wrong with a campaign that has ended; `progress` is what the service counts."""
    checks = (_lost(records), _doubled(records, executions), _untrue(records, executions, progress))
    return [finding for check in checks for finding in check]


def leaks(records: Records) -> Iterator[Finding]:
    """Yield what the database still holds for a campaign that has ended."""
    for row in records.reservations:
        yield Finding(LEAKED, f"{row['resource']} is held by run {row['run_id']}, fenced until {row['fenced_until']}")
    for row in records.jobs:
        if row["state"] in OPEN_JOBS:
            yield Finding(LEAKED, f"job {row['id']} on {row['node']} is {row['state']}")
        if row["is_leftover"]:
            yield Finding(LEAKED, f"job {row['id']} on {row['node']} counts as a possible leftover")
    for row in records.sessions:
        yield Finding(LEAKED, f"a session of {row['application_name']} is {row['state']}: {row['query']}")
    for row in records.set_aside:
        yield Finding(LEAKED, f"{row['work']} {row['row_id']} is set aside: {row['reason']}")


def _lost(records: Records) -> Iterator[Finding]:
    if records.campaign["state"] != "finished":
        yield Finding(STUCK, f"the campaign is {records.campaign['state']}")
    for row in records.trials:
        if row["state"] != "succeeded":
            yield Finding(
                LOST, f"trial {row['id']} is {row['state']} after {row['attempts']} attempts: {row['reason']}"
            )
        elif row["results"] == 0:
            yield Finding(LOST, f"trial {row['id']} succeeded without a result")
    for row in records.runs:
        if row["state"] in ("starting", "running") or not row["has_ended"]:
            yield Finding(LOST, f"run {row['id']} has no outcome: {row['state']}")
        if row["state"] == "failed" and not row["reason"]:
            yield Finding(LOST, f"run {row['id']} failed without a reason")


def _doubled(records: Records, executions: Mapping[str, Execution]) -> Iterator[Finding]:
    for row in records.trials:
        if row["results"] > 1:
            yield Finding(DOUBLED, f"trial {row['id']} has {row['results']} results")
    successes = Counter(row["trial"] for row in records.runs if row["state"] == "succeeded")
    for trial, count in successes.items():
        if count > 1:
            yield Finding(DOUBLED, f"trial {trial} succeeded {count} times")
    for execution in executions.values():
        if len(execution.begins) > 1:
            yield Finding(DOUBLED, f"job {execution.job} was carried out {len(execution.begins)} times")
    yield from _disturbed(records, executions)


def _disturbed(records: Records, executions: Mapping[str, Execution]) -> Iterator[Finding]:
    """Yield the results measured on a node on which a tool of another run was at work, and that do not say so."""
    run_of = {row["id"]: row["run"] for row in records.jobs}
    runs = {row["id"]: row for row in records.runs}
    by_node: dict[str, list[tuple[tuple[float, float], int]]] = defaultdict(list)
    for execution in executions.values():
        if execution.job in run_of:
            by_node[execution.node].append((execution.span, run_of[execution.job]))
    for node, spans in by_node.items():
        for (one, first), (other, second) in itertools.combinations(sorted(spans), 2):
            if first == second or other[0] >= one[1]:
                continue
            for run in (runs[number] for number in (first, second) if number in runs):
                if run["state"] == "succeeded" and LEFTOVER_FLAG not in _flags(run):
                    text = f"run {run['id']} counts although runs {first} and {second} were on {node} at once"
                    yield Finding(DOUBLED, f"{text} for {min(one[1], other[1]) - other[0]:.1f} s")


def _flags(run: Row) -> set[str]:
    return {flag["name"] for flag in run["flags"]}


def _untrue(records: Records, executions: Mapping[str, Execution], progress: Mapping[str, int]) -> Iterator[Finding]:
    states = Counter(row["state"] for row in records.trials)
    counted = {"measured": states["succeeded"], "failed": states["failed"], "total": len(records.trials)}
    for name, number in counted.items():
        if progress[name] != number:
            yield Finding(UNTRUE, f"the service counts {progress[name]} trials as {name}, and there are {number}")
    for job in executions.keys() - {row["id"] for row in records.jobs}:
        yield Finding(UNTRUE, f"a tool ran for job {job}, which the service does not know")
    jobs_of: dict[int, list[Row]] = defaultdict(list)
    timeless = _timeless(records)
    for row in records.jobs:
        jobs_of[row["run"]].append(row)
        yield from _untrue_of_job(row, executions.get(row["id"]))
        if row["run"] not in timeless:
            yield from _untrue_times(row)
    for run in records.runs:
        if run["state"] == "succeeded":
            yield from _untrue_of_success(run, jobs_of[run["id"]], executions)


def _timeless(records: Records) -> set[int]:
    """Return the runs of whose times the service says that they tell nothing.

    Its clock was set meanwhile, or a moment before, as the agents did not know yet.
    """
    spans = {row["run"] for row in records.jobs if row["spans_step"]}
    return spans and spans | {run["id"] for run in records.runs if IMPOSSIBLE_FLAG in _flags(run)}


def _untrue_of_job(row: Row, execution: Execution | None) -> Iterator[Finding]:
    has_begun, has_ended = bool(execution and execution.begins), bool(execution and execution.ends)
    if row["fault"] in _NEVER_BEGUN and has_begun:
        yield Finding(UNTRUE, f"job {row['id']} is said to have {row['fault']}, and its tool ran")
    if row["state"] == "ended" and row["exit_code"] == 0 and not row["background"] and not has_ended:
        yield Finding(UNTRUE, f"job {row['id']} is said to have ended well, and its tool did not")


def _untrue_times(row: Row) -> Iterator[Finding]:
    """Yield what the times of a job tell that cannot be, by the clock of the service."""
    started, ended = row["started_at"], row["ended_at"]
    if started is not None and ended is not None and ended < started:
        yield Finding(UNTRUE, f"job {row['id']} is said to have ended {started - ended:.1f} s before it started")
    for name, at in (("started", started), ("ended", ended)):
        if at is not None and not row["created_at"] - CLOCKS_S <= at <= row["updated_at"] + CLOCKS_S:
            off = at - row["created_at"]
            yield Finding(UNTRUE, f"job {row['id']} is said to have {name} {off:.1f} s after it was made")


def _untrue_of_success(run: Row, jobs: list[Row], executions: Mapping[str, Execution]) -> Iterator[Finding]:
    measured = [row for row in jobs if not row["background"]]
    tokens = [token_of(row["id"]) for row in measured]
    if run["token"] not in tokens:
        yield Finding(UNTRUE, f"the figure of run {run['id']} is {run['token']}, and its jobs printed {tokens}")
    for row in measured:
        execution = executions.get(row["id"])
        if execution is None or not execution.ends:
            yield Finding(LOST, f"run {run['id']} counts, and the tool of its job {row['id']} never came to its end")
