"""The table of sacct tells what scontrol does, whatever its form and columns; what nobody knows is not told as 0."""

import itertools

import pytest

from apps.bench import recognition, schedulers
from apps.bench.schedulers import accounts, slurm
from apps.bench.toolkit import ToolFailure

ALL = {
    "JobID": "100", "JobIDRaw": "100", "JobName": "run", "Partition": "main", "Account": "acc", "AllocCPUS": "4",
    "State": "COMPLETED", "ExitCode": "0:0", "Submit": "2026-11-21T08:00:00", "Start": "2026-11-21T08:00:10",
    "End": "2026-11-21T09:00:10", "Elapsed": "01:00:00", "Timelimit": "02:00:00", "NodeList": "n[1-2]",
    "MaxRSS": "", "ReqCPUS": "4", "Reason": "None",
}  # fmt: skip
COMPLETED = {
    "job_id": "100", "state": "completed", "name": "run", "queue": "main", "queue_time": 10.0, "run_time": 3600.0,
    "time_limit": 7200.0, "exit_code": 0, "signal": None, "nodes": ["n1", "n2"], "processors": 4, "reason": "",
    "submitted_at": "2026-11-21T08:00:00", "ended_at": "2026-11-21T09:00:10",
}  # fmt: skip
NEVER = {"Start": "Unknown", "End": "Unknown", "Elapsed": "00:00:00", "NodeList": "None assigned", "AllocCPUS": "0"}
UNKNOWN = {"queue_time": None, "run_time": None, "nodes": [], "started_at": "", "ended_at": "", "processors": 4}
# What a row has instead, and what is told of it instead.
ROWS = {
    "cancelled": ({"State": "CANCELLED by 1000", "ExitCode": "0:15"}, {"state": "cancelled", "signal": 15}),
    "cancelled before": ({"State": "CANCELLED by 0", **NEVER}, {"state": "cancelled", **UNKNOWN}),
    "node": ({"State": "NODE_FAIL", "ExitCode": "1:0"}, {"state": "node-failed", "exit_code": 1}),
    "pending": ({"State": "PENDING", **NEVER}, {"state": "pending", **UNKNOWN}),
    "running": ({"State": "RUNNING", "End": "Unknown"}, {"state": "running", "run_time": None, "ended_at": ""}),
    "unlimited": ({"Timelimit": "UNLIMITED"}, {"time_limit": None}),
    "of partition": ({"Timelimit": "Partition_Limit"}, {"time_limit": None}),
    "days": ({"Timelimit": "2-00:00:00"}, {"time_limit": 172800.0}),
    "array": ({"JobID": "100_7", "JobIDRaw": "107"}, {"job_id": "100_7"}),
    "rest": (
        {"JobID": "100_[8-9%2]", "State": "PENDING", **NEVER},
        {"job_id": "100_[8-9%2]", "state": "pending", **UNKNOWN},
    ),
    "memory": ({"State": "OUT_OF_MEMORY", "ExitCode": "0:125"}, {"state": "failed", "signal": 125}),
    "done": ({}, {}),
}
STEPS = [{**ALL, "JobID": f"100.{name}", "JobName": name, "Elapsed": "00:00:01"} for name in ("batch", "extern", "0")]


def barred(rows, columns, end=""):
    return "".join(
        f"{'|'.join(cells)}{end}\n" for cells in [columns, *([row[name] for name in columns] for row in rows)]
    )


def ruled(rows, columns, width=0):
    """Return a plain table, of columns as wide as what is in them, or of one width: then longer words are cut."""
    widths = {name: width or max(len(name), *(len(row[name]) for row in rows)) for name in columns}

    def cell(text, name):
        return text.rjust(widths[name]) if len(text) <= widths[name] else f"{text[: widths[name] - 1]}+"

    lines = [columns, ["-" * widths[name] for name in columns], *([row[name] for name in columns] for row in rows)]
    return "".join(f"{' '.join(map(cell, line, columns))} \n" for line in lines)


FORMS = {"-P": barred, "-p": lambda rows, columns: barred(rows, columns, "|"), "": ruled}


def jobs_of(text, argv=("sacct",)):
    assert schedulers.recognises(text)
    answer = schedulers.read(text, list(argv))
    assert (answer["scheduler"], answer["kind"]) == ("slurm", "jobs")
    return answer["jobs"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", ROWS)
def test_every_form_tells_every_state_and_what_is_missing(form, case):
    changed, expected = ROWS[case]
    row = {**ALL, **changed}
    for argv in (("sacct",), ()):
        (job,) = jobs_of(FORMS[form]([row, *STEPS], list(ALL)), argv)
        expected_job = {**COMPLETED, **expected}
        assert {name: job[name] for name in expected_job} == expected_job


@pytest.mark.parametrize("form", FORMS)
def test_each_column_left_out_leaves_the_others(form):
    whole = jobs_of(FORMS[form]([ALL], list(ALL)))[0]
    for missing in itertools.chain(ALL, ({"Start", "End", "Elapsed"},)):
        columns = [name for name in ALL if name not in ({missing} if isinstance(missing, str) else missing)]
        if "State" not in columns:
            assert not schedulers.recognises(FORMS[form]([ALL], columns))
            continue
        (job,) = jobs_of(FORMS[form]([ALL], columns))
        for name, value in job.items():
            assert value in (whole[name], None, "", []), name


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 7", "PENDING", "RUNNING"])
@pytest.mark.parametrize(
    ("column", "printed", "seconds"),
    [("Elapsed", "00:00:05", 5), ("ElapsedRaw", "5", 5), ("Elapsed", "00:00:00", None)],
)
def test_a_job_that_ended_ran_as_long_as_is_printed_whichever_columns_are_there(
    form, state, column, printed, seconds
):
    rows = [{"JobID": "9", "State": state, column: printed}]
    for missing in ({}, {"Start": ALL["Start"]}, {"End": ALL["End"]}):
        (job,) = jobs_of(FORMS[form]([{**row, **missing} for row in rows], [*rows[0], *missing]))
        assert job["run_time"] == (None if state in ("PENDING", "RUNNING") else seconds)


def test_raw_columns_have_units_of_their_own():
    row = {"JobIDRaw": "9", "State": "COMPLETED", "TimelimitRaw": "90", "ElapsedRaw": "3725",
           "Start": ALL["Start"], "End": "2026-11-21T09:02:15"}  # fmt: skip
    (job,) = jobs_of(barred([row], list(row)))
    assert (job["job_id"], job["time_limit"], job["run_time"]) == ("9", 5400.0, 3725.0)


@pytest.mark.parametrize("state", slurm.STATES)
def test_a_state_that_a_narrow_column_cuts_is_told_as_far_as_it_is_one(state):
    row = {"JobID": "5", "JobName": "a-long-name-of-a-job", "State": f"{state} by 1000", "ExitCode": "0:0"}
    (job,) = jobs_of(ruled([row], list(row), width=10))
    assert job["name"] == ""
    alike = {slurm.STATES[word] for word in slurm.STATES if word.startswith(state[:9])}
    assert job["state"] in ({slurm.STATES[state]} if len(alike) == 1 else {*alike, "unknown"})


def test_a_name_with_a_bar_moves_no_cells():
    with pytest.raises(ToolFailure):
        schedulers.read(barred([{**ALL, "JobName": "a|b"}], list(ALL)), ["sacct"])


def test_a_file_of_accounts_is_recognised():
    (finding,) = recognition.read_file(barred([ALL, *STEPS], list(ALL)).encode())
    assert (finding.failure, finding.form) == (None, "scheduler")
    assert finding.data["jobs"][0]["state"] == "completed"


@pytest.mark.parametrize("form", FORMS)
def test_whatever_its_rows_hold_a_table_is_recognised_and_stops_nothing_beside_it(form):
    text = FORMS[form]([{**ALL, "JobName": "a|b" if form else "a b"}, ALL], list(ALL)) + "foo\n|\n"
    assert schedulers.recognises(text)
    (finding,) = recognition.read_file(text.encode())
    assert finding.form == "scheduler" and bool(finding.failure) is bool(form)


def test_a_table_has_no_more_columns_than_sacct_knows():
    most = accounts._MOST_COLUMNS
    for number in (most, most + 1):
        names = " ".join(f"c{each}" for each in range(number - 2))
        assert accounts.is_table(f"JobID State {names}\n---") is (number == most)
        assert accounts.is_table(f"JobID|State|{names.replace(' ', '|')}\n") is (number == most)
    columns = "".join(f"{chr(0x4E00 + each)}x" for each in range(2 * most))
    assert not accounts.is_table(f"JobID State {columns}\n{'- ' * 2 * most}\n")
