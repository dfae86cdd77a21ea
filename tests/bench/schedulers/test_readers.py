"""What Slurm and Grid Engine printed is read to states, times and reasons, or to the scheduler's own words."""

import datetime
import json
import pathlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.bench import schedulers
from apps.bench.toolkit import ToolFailure

DATA = pathlib.Path(__file__).parents[2] / "data"
RECORDINGS = sorted(path for name in ("slurm", "sge") for path in (DATA / name).iterdir())


def text_of(name):
    return (DATA / name).read_text(encoding="utf-8", errors="replace")


def read(name):
    return schedulers.read(text_of(name))


def only_job(name):
    (job,) = read(name)["jobs"]
    return job


def fail(name):
    with pytest.raises(ToolFailure) as caught:
        read(name)
    return caught.value


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_recording_is_known_for_its_schedulers(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    assert schedulers.recognises(text)
    try:
        found = schedulers.read(text)
    except ToolFailure as failure:
        assert path.name.startswith(
            ("err_", "scontrol_json", "scontrol_nojob", "qacct_12", "qacct_full", "qstat_j_p")
        )
        assert str(failure.message).isprintable()
    else:
        assert found["scheduler"] == path.parent.name
        json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    "text", ["", "hello", '{"start": {}}', "PING 10.9.0.2 (10.9.0.2) 56(84) bytes of data.", "1\n", "a:b:c"]
)
def test_other_texts_are_not_a_schedulers(text):
    assert not schedulers.recognises(text)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "scontrol_ok.txt",
            {"state": "completed", "exit_code": 0, "signal": None, "run_time": 1.0, "time_limit": 120},
        ),
        ("scontrol_fail.txt", {"state": "failed", "exit_code": 3, "reason": "NonZeroExitCode", "nodes": ["n1"]}),
        ("scontrol_cancelled.txt", {"state": "cancelled", "exit_code": 0, "signal": 15, "queue_time": 0.0}),
    ],
)
def test_slurm_tells_how_a_job_ended(name, expected):
    job = only_job(f"slurm/{name}")
    assert {key: job[key] for key in expected} == expected


def test_slurm_keeps_the_time_in_the_queue_apart_from_that_of_the_run():
    jobs = {job["job_id"]: job for job in read("slurm/jobcomp.log")["jobs"]}
    assert list(jobs) == ["2", "1", "4", "5", "6", "7", "9"]
    assert (jobs["5"]["queue_time"], jobs["5"]["run_time"]) == (4.0, 0.0)
    assert (jobs["6"]["queue_time"], jobs["6"]["run_time"]) == (3.0, 1.0)
    assert jobs["6"]["nodes"] == ["n1", "n2"]
    assert jobs["7"]["state"] == "cancelled"
    assert jobs["7"]["started_at"] == ""
    assert jobs["7"]["queue_time"] is None


@pytest.mark.parametrize(("start", "end"), [("01:59:00", "03:01:00"), ("02:59:30", "02:01:30")])
def test_a_job_ran_as_long_as_its_scheduler_counted_whatever_was_done_to_the_clock(start, end):
    """Summer time begins in the first, ends in the second, two minutes of the job's own."""
    day = "2026-11-21T"
    pairs = (("RunTime=00:00:01", "RunTime=00:02:00"), (f"StartTime={day}08:35:37", f"StartTime={day}{start}"))
    text = text_of("slurm/scontrol_ok.txt").replace("EndTime=2026-11-21T08:35:38", f"EndTime={day}{end}")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    (job,) = schedulers.read(text)["jobs"]
    assert job["run_time"] == 120
    text = text_of("sge/qacct_7.txt").replace("ru_wallclock 2s", "ru_wallclock 120s")
    text = text.replace("Nov 21 08:39:57", f"Nov 21 {start}").replace("Nov 21 08:39:59", f"Nov 21 {end}")
    (job,) = schedulers.read(text)["jobs"]
    assert job["run_time"] == 120


def test_slurm_tells_in_json_what_waits_and_why():
    jobs = read("slurm/squeue_json.txt")["jobs"]
    assert [job["state"] for job in jobs] == ["completed", "failed", "pending", "pending"]
    assert jobs[1]["exit_code"] == 3
    assert jobs[2]["started_at"] == ""
    assert (jobs[3]["reason"], jobs[3]["is_impossible"]) == ("Priority", False)


def test_json_of_later_versions_says_the_same():
    """Since plugin v0.0.39 numbers say whether they are set, states are lists, and the exit status has parts."""
    text = text_of("slurm/squeue_json.txt")
    document = json.loads(text[text.index("{") : text.rindex("}") + 1])
    plain = schedulers.read(json.dumps(document))["jobs"]
    for job in document["jobs"]:
        for name in ("submit_time", "start_time", "end_time", "time_limit", "cpus"):
            job[name] = {"set": True, "infinite": False, "number": job[name]}
        status = job["exit_code"]
        job["exit_code"] = {
            "status": ["SUCCESS"],
            "return_code": {"set": True, "infinite": False, "number": status >> 8},
            "signal": {"id": {"set": False, "infinite": False, "number": 0}, "name": ""},
        }
        job["job_state"] = [job["job_state"]]
    assert schedulers.read(json.dumps(document))["jobs"] == plain
    document["jobs"][0]["time_limit"] = {"set": True, "infinite": True, "number": 0}
    assert schedulers.read(json.dumps(document))["jobs"][0]["time_limit"] is None


def test_univas_times_are_read():
    text = re.sub(r"Sat Nov 21 (\S+) 2026", r"11/21/2026 \1.123", text_of("sge/qacct_7.txt"))
    assert schedulers.read(text)["jobs"] == read("sge/qacct_7.txt")["jobs"]


def test_a_reason_that_no_time_removes_makes_a_job_impossible():
    text = text_of("slurm/scontrol_ok.txt").replace("COMPLETED Reason=None", "PENDING Reason=PartitionTimeLimit")
    (job,) = schedulers.read(text)["jobs"]
    assert job["state"] == "pending"
    assert job["is_impossible"]
    assert job["started_at"] == ""
    assert job["queue_time"] is None


def test_a_record_of_several_lines_is_one_job():
    text = re.sub(r" (Priority|Account|QOS)=", r"\n   \1=", text_of("slurm/scontrol_ok.txt"))
    (job,) = schedulers.read(text)["jobs"]
    assert job["job_id"] == "1"
    assert (job["state"], job["processors"]) == ("completed", 2)


@pytest.mark.parametrize(
    ("name", "kind", "job_id"),
    [
        ("slurm/sbatch_parsable.txt", "submitted", "1"),
        ("slurm/err_time.txt", "submitted", "8"),
        ("slurm/scancel.txt", "cancelled", "9"),
        ("slurm/srun.txt", "launched", "5"),
        ("sge/qsub.txt", "submitted", "8"),
        ("sge/qsub_terse.txt", "submitted", "7"),
    ],
)
def test_it_tells_the_number_of_a_job_just_handed_in(name, kind, job_id):
    assert read(name)["kind"] == kind
    assert only_job(name)["job_id"] == job_id


def test_srun_says_whether_it_waited():
    assert only_job("slurm/srun.txt")["details"] == {"waited": "yes"}


def test_the_version_of_slurm_is_read():
    assert read("slurm/version.txt")["version"] == "22.05.8"


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("slurm/err_badpart.txt", "queue-refused", "Invalid partition name"),
        ("slurm/err_toomany_cpu.txt", "not-granted", "Requested partition configuration"),
        ("slurm/scontrol_nojob.txt", "job-missing", "Invalid job id"),
        ("slurm/scontrol_json.txt", "queue-refused", "--json"),
        ("sge/err_badpe.txt", "queue-refused", 'environment "nope" does not exist'),
        ("sge/err_badq.txt", "queue-refused", "nope.q"),
        ("sge/err_nojob.txt", "job-missing", "9999"),
        ("sge/qacct_12.txt", "job-missing", "12"),
    ],
)
def test_a_refusal_is_told_in_the_schedulers_words(name, code, words):
    failure = fail(name)
    assert failure.code == code
    assert words in str(failure.message)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qacct_7.txt", {"state": "completed", "queue_time": 15.0, "run_time": 2.0, "processors": 2, "exit_code": 0}),
        ("qacct_9.txt", {"state": "failed", "queue_time": 15.0, "run_time": 0.0, "exit_code": 3}),
        ("qacct_10.txt", {"state": "timed-out", "queue_time": 14.0, "run_time": 6.0, "time_limit": 5.0, "signal": 9}),
    ],
)
def test_grid_engine_accounts_for_a_job(name, expected):
    job = only_job(f"sge/{name}")
    assert {key: job[key] for key in expected} == expected


def test_the_accounting_file_says_the_same_as_qacct():
    jobs = {job["job_id"]: job for job in read("sge/accounting.raw")["jobs"]}
    assert set(jobs) == {"7", "8", "9", "10"}
    for number in ("7", "9", "10"):
        told = only_job(f"sge/qacct_{number}.txt")
        for key in ("state", "name", "queue_time", "run_time", "processors", "exit_code", "signal", "nodes"):
            assert jobs[number][key] == told[key]


@pytest.mark.parametrize("name", ["qstat.txt", "qstat_f.txt", "qstat_xml.txt"])
def test_grid_engine_lists_what_waits(name):
    waiting = [job for job in read(f"sge/{name}")["jobs"] if job["state"] == "pending"]
    assert [(job["job_id"], job["processors"]) for job in waiting] == [("10", 1), ("11", 1), ("12", 99)]
    assert waiting[0]["submitted_at"] == "2026-11-21T08:39:58"


def test_grid_engine_lists_what_runs_and_where():
    job = read("sge/qstat.txt")["jobs"][0]
    assert (job["state"], job["queue"], job["nodes"]) == ("running", "bench.q", ["vm"])
    assert job["started_at"] == "2026-11-21T08:39:57"


def test_grid_engine_says_that_a_job_can_never_start():
    job = only_job("sge/qstat_j_unsatisfiable.txt")
    assert job["is_impossible"]
    assert job["reason"] == 'cannot run in PE "mpi" because it only offers 0 slots'


def test_a_job_waited_for_tells_its_exit_status():
    assert only_job("sge/qsub_sync_fail.txt")["exit_code"] == 3


def test_hosts_are_read_with_their_processors():
    (host,) = read("sge/qhost.txt")["hosts"]
    assert (host["name"], host["processors"], host["sockets"]) == ("vm", 2, 1)


@pytest.mark.parametrize(
    ("listed", "hosts"),
    [
        ("n[1-2]", ("n1", "n2")),
        ("n[08-10],login", ("n08", "n09", "n10", "login")),
        ("a1,b[3,5-6]x", ("a1", "b3x", "b5x", "b6x")),
        ("(null)", ()),
        ("", ()),
        ("n[1-99999999]", ()),
    ],
)
def test_lists_of_hosts_are_written_out(listed, hosts):
    assert schedulers.jobs.expand_hosts(listed) == hosts


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_damage_never_gives_anything_but_a_tool_failure(data):
    text = data.draw(st.sampled_from(RECORDINGS)).read_text(encoding="utf-8", errors="replace")
    for _round in range(data.draw(st.integers(1, 4))):
        place, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 30))
        odd = data.draw(st.sampled_from(["", "9" * 5000, "\x00", "null", "-1", "NaN", "{", "=", ":", "99/99/0000"]))
        text = text[:place] + odd + text[place + length :]
    try:
        found = schedulers.read(text)
    except ToolFailure as failure:
        assert str(failure.message).isprintable()
    else:
        json.dumps(found, allow_nan=False)


@given(st.datetimes(min_value=datetime.datetime(1970, 1, 1), max_value=datetime.datetime(9999, 12, 31)))
def test_times_are_those_of_the_calendar(when):
    when = when.replace(microsecond=0)
    moment = schedulers.jobs.read_iso(when.isoformat())
    assert moment.seconds == when.replace(tzinfo=datetime.UTC).timestamp()
    assert schedulers.jobs.say_time(moment) == when.isoformat()


@pytest.mark.parametrize("text", ["2026-02-29T00:00:00", "2026-13-01T00:00:00", "0000-01-01T00:00:00", "Unknown", ""])
def test_what_is_no_date_is_no_time(text):
    assert schedulers.jobs.read_iso(text) is None
