"""A job's state and times are those that it has reached, whichever of a scheduler's commands tells of it."""

import json
import re

import pytest

from apps.bench import schedulers
from apps.bench.schedulers import slurm
from tests.bench.schedulers.test_readers import only_job, read, text_of


def accounted(job):
    """Return a job of ``squeue --json`` as the accounts (sacct, plugins dbv0.0.38 and later) have it."""
    return {
        "job_id": job["job_id"],
        "name": job["name"],
        "partition": job["partition"],
        "nodes": job["nodes"] or "None assigned",
        "required": {"CPUs": job["cpus"]},
        "state": {"current": [job["job_state"]], "reason": job["state_reason"]},
        "exit_code": {"status": ["FAILED"], "return_code": {"set": True, "number": job["exit_code"] >> 8}},
        "time": {
            "submission": job["submit_time"],
            "start": job["start_time"],
            "end": job["end_time"],
            "limit": {"set": True, "infinite": False, "number": job["time_limit"]},
        },
    }


def test_the_accounts_of_slurm_say_the_same_in_json():
    text = text_of("slurm/squeue_json.txt")
    document = json.loads(text[text.index("{") : text.rindex("}") + 1])
    plain = schedulers.read(json.dumps(document))["jobs"]
    document["jobs"] = list(map(accounted, document["jobs"]))
    assert schedulers.read(json.dumps(document), ["sacct", "--json"])["jobs"] == plain
    document["jobs"][1]["exit_code"] = {"status": "SIGNALED", "return_code": 0, "signal": {"signal_id": 11}}
    job = schedulers.read(json.dumps(document), ["sacct", "--json"])["jobs"][1]
    assert (job["state"], job["exit_code"], job["signal"]) == ("failed", 0, 11)


@pytest.mark.parametrize("name", ["slurm/squeue_json.txt", "slurm/scontrol_ok.txt"])
def test_a_job_that_runs_has_no_end_yet(name):
    """What Slurm tells of it is when its time will be up."""
    text = text_of(name)
    assert read(name)["jobs"][0]["ended_at"]
    job = schedulers.read(text.replace('"COMPLETED"', '"RUNNING"').replace("=COMPLETED", "=RUNNING"))["jobs"][0]
    assert (job["state"], job["ended_at"], job["run_time"]) == ("running", "", None)
    assert job["started_at"]


def test_grid_engine_tells_what_a_job_has_used_only_while_it_runs():
    text = text_of("sge/qstat_j_unsatisfiable.txt")
    assert only_job("sge/qstat_j_unsatisfiable.txt")["state"] == "pending"
    usage = "usage    1:                 cpu=00:10:01, mem=1.2 GBs, io=0.00, vmem=1.2G, maxvmem=1.3G\n"
    (job,) = schedulers.read(re.sub(r"scheduling info:.*\n?", usage, text))["jobs"]
    assert job["state"] == "running"


@pytest.mark.parametrize(
    ("number", "state"),
    [(4, "failed"), (6, "failed"), (7, "failed"), (8, "failed"), (11, "failed"), (9, "cancelled"), (15, "cancelled")],
)
def test_a_run_that_a_fault_of_its_own_ended_failed_and_was_not_cancelled(number, state):
    text = re.sub(r"failed +37 .*", "failed       100 : assumedly after job", text_of("sge/qacct_10.txt"))
    (job,) = schedulers.read(re.sub(r"exit_status  .*", f"exit_status  {128 + number}", text))["jobs"]
    assert (job["state"], job["signal"]) == (state, number)


STARTED = {"r": "running", "t": "running", "hr": "running", "Rr": "running", "s": "held", "S": "held", "T": "held"}
STARTED |= {"dr": "running", "Er": "failed", "hs": "held", "tS": "held"}
WAITING = {"qw": "pending", "hqw": "held", "Eqw": "failed", "hRwq": "held"}


@pytest.mark.parametrize(("letters", "state"), [*STARTED.items(), *WAITING.items()])
def test_the_letters_of_qstat_tell_whether_a_job_has_started(letters, state):
    """The one time of the table is that of the start for what a host has, though it is held or suspended."""
    row = f"     7 0.55500 probe.sh   benchu       {letters:5} 11/21/2026 08:39:58 all.q@node1.example     1 "
    head = "job-ID  prior   name       user         state submit/start at     queue          slots ja-task-ID"
    (job,) = schedulers.read(f"{head}\n{'-' * 80}\n{row}\n", ["qstat"])["jobs"]
    times = ("", "2026-11-21T08:39:58")
    assert job["state"] == state
    assert (job["submitted_at"], job["started_at"]) == (times if letters in STARTED else times[::-1])


# As Slurm's list of reasons has them (job_reason_codes), one in a line.
PASSING = """
Priority
Resources
Licenses
BeginTime
Dependency
QOSMaxJobsPerUserLimit
QOSMaxCpuPerUserLimit
QOSMaxNodePerUserLimit
QOSMaxMemoryPerUser
QOSMaxCpuPerAccountLimit
QOSMaxCpuMinutesPerUser
QOSGrpCpuLimit
QOSGrpCpuRunMinutesLimit
QOSUsageThreshold
AssocMaxJobsLimit
AssocGrpNodeLimit
AssocGrpCPUMinutesLimit
ReqNodeNotAvail
ReqNodeNotAvail, May be reserved for other job
ReqNodeNotAvail, UnavailableNodes:
"""
LASTING = """
PartitionNodeLimit
PartitionTimeLimit
BadConstraints
InvalidQOS
InvalidAccount
AccountNotAllowed
DeadLine
QOSMaxCpuPerJobLimit
QOSMaxWallDurationPerJobLimit
QOSMaxCpuPerNode
QOSMinCpuNotSatisfied
QOSMinGRES
AssocMaxWallDurationPerJobLimit
AssocMaxGRESPerJob
AssocMaxBBMinutesPerJob
AssocMaxCpuMinutesPerJobLimit
MaxMemPerLimit
ReqNodeNotAvail, UnavailableNodes:cn[01-04]
ReqNodeNotAvail,UnavailableNodes:cn01
"""


@pytest.mark.parametrize("reason", [*PASSING.split("\n")[1:-1], *LASTING.split("\n")[1:-1]])
def test_a_job_is_impossible_only_where_no_time_removes_its_reason(reason):
    assert slurm.is_impossible("pending", reason) == (reason in LASTING.split("\n"))
    assert not slurm.is_impossible("running", reason)


def test_the_accounts_tell_the_same_in_json_as_in_a_table():
    """It got more processors than it asked for, and was suspended for six of its ten minutes."""
    text = text_of("slurm/squeue_json.txt")
    first = json.loads(text[text.index("{") : text.rindex("}") + 1])["jobs"][0]
    raw = accounted({**first, "job_state": "COMPLETED", "state_reason": "None", "exit_code": 0})
    raw["time"] |= {"submission": 1763714146, "start": 1763714206, "end": 1763714806, "elapsed": 240}
    raw["required"] = {"CPUs": 2}
    raw["tres"] = {"allocated": [{"type": "node", "count": 2}, {"type": "cpu", "count": 96}]}
    (job,) = schedulers.read(json.dumps({"jobs": [raw]}), ["sacct", "--json"])["jobs"]
    times = "2025-11-21T08:35:46|2025-11-21T08:36:46|2025-11-21T08:46:46"
    table = f"JobID|State|Submit|Start|End|Elapsed|AllocCPUS|ReqCPUS\n12|COMPLETED|{times}|00:04:00|96|2\n"
    (row,) = schedulers.read(table)["jobs"]
    assert (job["processors"], job["run_time"]) == (row["processors"], row["run_time"]) == (96, 240.0)
