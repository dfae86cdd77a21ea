"""The judge of the faults finds each thing that it is there to find, and nothing where all is well."""

import copy
from collections.abc import Callable

import pytest

from tests.faults import verdict
from tests.faults.records import Records, finishes
from tests.faults.recovery import Period, recovery_of
from tests.faults.tally import Execution, read, token_of
from tests.faults.verdict import DOUBLED, LEAKED, LOST, STUCK, UNTRUE

JOBS = ("aaaaaaaa-0000-0000-0000-000000000001", "bbbbbbbb-0000-0000-0000-000000000002")
PROGRESS = {"measured": 2, "failed": 0, "total": 2}
ACCOUNT = (f"begin {JOBS[0]} alone one 10.0", f"end {JOBS[0]} alone one 11.0")
ACCOUNT += (f"begin {JOBS[1]} alone one 12.0", f"end {JOBS[1]} alone one 13.0")


def sound() -> Records:
    """Return two measurements, one after the other, with which nothing is wrong."""
    trial = {"attempts": 1, "reason": None, "roles": {"node": [1]}, "state": "succeeded", "results": 1}
    run = {"attempt": 1, "reason": None, "state": "succeeded", "has_ended": True, "flags": []}
    job = {"state": "ended", "fault": "", "exit_code": 0, "signal": None, "background": False, "node": "one"}
    job |= {"created_at": 1.0, "started_at": 2.0, "ended_at": 3.0, "updated_at": 4.0}
    return Records(
        campaign={"state": "finished"},
        trials=[{**trial, "id": number, "finished_at": 10.0 + number} for number in (1, 2)],
        runs=[{**run, "id": number, "trial": number, "token": token_of(JOBS[number - 1])} for number in (1, 2)],
        jobs=[
            {**job, "id": JOBS[number - 1], "run": number, "is_leftover": False, "spans_step": False}
            for number in (1, 2)
        ],
        reservations=[],
        sessions=[],
        set_aside=[],
    )


def judged(records: Records, executions: dict[str, Execution] | None = None) -> set[str]:
    """Return the kinds of what is wrong."""
    executions = read(ACCOUNT) if executions is None else executions
    wrong = [*verdict.judge(records, executions, PROGRESS), *verdict.leaks(records)]
    return {finding.kind for finding in wrong}


def test_nothing_is_wrong_where_all_is_well() -> None:
    assert judged(sound()) == set()


@pytest.mark.parametrize(
    ("kind", "harm"),
    [
        (STUCK, lambda all_: all_.campaign.update(state="running")),
        (LOST, lambda all_: all_.trials[0].update(results=0)),
        (LOST, lambda all_: all_.runs[0].update(has_ended=False)),
        (LOST, lambda all_: all_.runs.append({**all_.runs[0], "id": 3, "state": "failed"})),
        (DOUBLED, lambda all_: all_.trials[0].update(results=2)),
        (DOUBLED, lambda all_: all_.runs.append({**all_.runs[0], "id": 3})),
        (LEAKED, lambda all_: all_.reservations.append({"resource": "node:1", "run_id": 1, "fenced_until": None})),
        (UNTRUE, lambda all_: all_.jobs[0].update(ended_at=1.5)),
        (UNTRUE, lambda all_: all_.jobs[0].update(started_at=-3600.0)),
        (UNTRUE, lambda all_: all_.jobs[0].update(ended_at=3600.0)),
        (LEAKED, lambda all_: all_.jobs.append({**all_.jobs[0], "id": "c", "state": "running"})),
        (LEAKED, lambda all_: all_.jobs[0].update(is_leftover=True)),
        (LEAKED, lambda all_: all_.sessions.append({"application_name": "x", "state": "idle", "query": ""})),
        (LEAKED, lambda all_: all_.set_aside.append({"work": "x", "row_id": 1, "reason": ""})),
        (UNTRUE, lambda all_: all_.runs[0].update(token=1.0)),
        (UNTRUE, lambda all_: all_.jobs[0].update(fault="not-started")),
    ],
)
def test_what_the_database_tells_is_seen(kind: str, harm: Callable[[Records], object]) -> None:
    records = copy.deepcopy(sound())
    harm(records)
    assert kind in judged(records)


def test_a_trial_that_failed_is_lost_and_miscounted() -> None:
    records = sound()
    records.trials[0]["state"] = "failed"
    assert judged(records) == {LOST, UNTRUE}


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (DOUBLED, (*ACCOUNT, f"begin {JOBS[0]} alone one 11.5")),
        (DOUBLED, (*ACCOUNT[:2], f"begin {JOBS[1]} alone one 10.5", f"end {JOBS[1]} alone one 13.0")),
        (UNTRUE, (ACCOUNT[0], *ACCOUNT[2:])),
        (LOST, (ACCOUNT[0], *ACCOUNT[2:])),
        (UNTRUE, (*ACCOUNT, "begin nobody-knows alone one 20.0")),
    ],
)
def test_what_the_tools_tell_is_seen(kind: str, lines: tuple[str, ...]) -> None:
    assert kind in judged(sound(), read(lines))


def test_a_figure_that_says_what_was_beside_it_is_no_finding() -> None:
    records = sound()
    for run in records.runs:
        run["flags"] = [{"name": verdict.LEFTOVER_FLAG}]
    assert judged(records, read((*ACCOUNT[:2], *(line.replace("12.0", "10.5") for line in ACCOUNT[2:])))) == set()


def test_times_of_a_run_that_says_that_the_clock_was_set_tell_nothing() -> None:
    records = sound()
    records.jobs[0].update(ended_at=-7200.0, spans_step=True)
    records.jobs[1].update(ended_at=-7200.0)
    assert judged(records) == {UNTRUE}
    # Of the second its agent did not know yet.
    records.runs[1]["flags"] = [{"name": verdict.IMPOSSIBLE_FLAG}]
    assert judged(records) == set()
    records.jobs[0].update(ended_at=3.0, spans_step=False)
    assert judged(records) == {UNTRUE}


def test_a_trial_ends_on_all_its_nodes() -> None:
    records = sound()
    records.trials[0].update(finished_at=20.0, roles={"client": [1], "server": [2]})
    records.trials.append({**records.trials[1], "finished_at": None})
    assert finishes(records) == [(12.0, frozenset({1})), (20.0, frozenset({1, 2}))]


@pytest.mark.parametrize(
    ("others", "ends", "seconds"),
    [
        ([], [90.0, 107.0, 112.0], 7.0),
        ([Period(95, 105)], [103.0, 112.0], 7.0),
        ([Period(104, 130), Period(95, 105)], [103.0, 131.0], 1.0),
        ([Period(101, 130)], [103.0], 3.0),
        ([], [90.0], 0.0),
    ],
)
def test_recovery_counts_from_where_nothing_is_broken_any_more(
    others: list[Period], ends: list[float], seconds: float
) -> None:
    assert recovery_of(Period(80, 100), others, ends) == seconds
