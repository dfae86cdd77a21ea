"""Slurm as a launcher: its options, the time in the queue kept apart, and jobs that never start."""

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, Output, ParameterError, ToolFailure
from tests.bench.tools.mpi_nodes import answered, command, node, plan

TOOL = tools.get("mpi-pingpong")
PARAMS = {"benchmark": "NPmpich2", "launcher": "slurm", "slurm_mpi": "pmi2", "max_size": 4}
ROWS = b"".join(
    b"%3d:  %7d bytes  %5d times --> %9.2f Mbps in %10.2f usec\n" % (index, size, 1000, size * 8 / 2**20 / 1e-6, 1.0)
    for index, size in enumerate((1, 2, 3, 4))
)
STARTED = (
    b"srun: job 22 queued and waiting for resources\nsrun: job 22 has been allocated resources\n"
    b"srun: jobid 22: nodes(2):`n[1-2]', cpu counts: 2(x2)\n"
    b"srun: launching StepId=22.0 on host n1, 1 tasks: 0\nsrun: launching StepId=22.0 on host n2, 1 tasks: 1\n"
    b"cpu-bind=MASK - n1, task  0  0 [26524]: mask 0x1 set\ncpu-bind=MASK - n2, task  1  0 [26525]: mask 0x1 set\n"
)
DONE = b"22|COMPLETED|None|2026-11-21T19:38:46|2026-11-21T19:38:58|2026-11-21T19:39:14|n[1-2]\n"
LIMITED = b"8|CANCELLED|PartitionTimeLimit|2026-11-21T19:18:51|N/A|2026-11-21T19:18:54|\n"


def stages(**params):
    return {stage.name: stage.commands[0] for stage in plan("mpi-pingpong", [node("a")], **PARAMS, **params).stages}


def read(stdout=ROWS, stderr=STARTED, account=DONE, watch=b"", clients=2, placement="other-node", **changes):
    jobs = stages(clients=clients, placement=placement)
    outputs = [
        answered(
            jobs["forecast"], b"", b"srun: Job 21 to start at 2026-11-21T19:38:58 using 2 processors\n", "forecast"
        ),
        answered(jobs["watch"], watch, stage="watch"),
        answered(jobs["measure"], stdout, stderr, **changes),
        answered(jobs["account"], account, stage="account"),
    ]
    return TOOL.parse(outputs, TOOL.clean({**PARAMS, "clients": clients, "placement": placement}))


def fail(**changes):
    with pytest.raises(ToolFailure) as caught:
        read(**changes)
    return caught.value


def test_a_job_is_forecast_watched_run_and_accounted_for():
    jobs = stages(clients=2, placement="other-node", partition="bench", queue_limit="5 min", job_time="90 s")
    assert list(jobs) == ["forecast", "watch", "measure", "account"]
    argv = " ".join(jobs["measure"].argv)
    assert argv.startswith("srun --job-name=fathom-")
    for word in (
        "--immediate=300",
        "--nodes=2",
        "--ntasks=2",
        "--ntasks-per-node=1",
        "--time=2",
        "--partition=bench",
    ):
        assert word in argv
    assert "--distribution=cyclic:block --cpu-bind=verbose,cores --mpi=pmi2 {program:NPmpich2}" in argv
    assert jobs["measure"].time_limit_s > 300
    assert jobs["forecast"].background
    assert jobs["forecast"].ready_pattern
    assert jobs["watch"].optional
    assert not jobs["watch"].measures
    name = jobs["measure"].argv[1].removeprefix("--job-name=")
    assert f"--name={name}" in jobs["account"].argv


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"placement": "free", "clients": 1}, "--distribution=block:* --cpu-bind=verbose "),
        ({"placement": "same-socket", "clients": 1}, "--distribution=block:block --cpu-bind=verbose,cores "),
        ({"placement": "other-socket", "clients": 1}, "--distribution=block:cyclic --cpu-bind=verbose,cores "),
    ],
)
def test_sockets_are_asked_for_in_slurms_words(params, words):
    assert words in " ".join(stages(**params)["measure"].argv)


def test_unbalanced_ranks_are_packed():
    mounted = NodeRef("a", "10.0.0.1", "/gpfs")
    placed = {"node_placement": "UNBAL", "core_placement": "DIST"}
    argv = command("btio", [mounted], launcher="slurm", clients=2, **placed).argv
    assert "--distribution=block:cyclic,Pack" in argv
    assert "--chdir=/gpfs" in argv


def test_the_time_in_the_queue_is_kept_apart_from_that_of_the_run():
    reading = read()
    assert reading.value("queue_time") == 12.0
    assert reading.observed["job"] == {
        "id": "22",
        "state": "completed",
        "reason": "",
        "run_time": 16.0,
        "nodes": ["n1", "n2"],
    }


def test_nodes_that_slurm_chose_are_compared_by_who_shares_one():
    reading = read()
    assert reading.flags == ()
    assert [place["host"] for place in reading.observed["map"]] == ["n1", "n2"]
    together = STARTED.replace(b"on host n2, 1 tasks: 1", b"on host n1, 1 tasks: 1").replace(
        b"- n2, task  1", b"- n1, task  1"
    )
    assert [flag.name for flag in read(stderr=together).flags] == ["placement-differs"]


def test_without_an_account_the_watch_tells_the_times():
    reading = read(account=b"", watch=b"Fri Nov 21 19:39:00 2026\n" + DONE.replace(b"COMPLETED", b"RUNNING"))
    assert reading.value("queue_time") == 12.0
    assert reading.observed["job"]["run_time"] is None


def test_a_job_of_another_number_is_not_taken_for_ours():
    assert read(account=DONE.replace(b"22|", b"23|")).value("queue_time") is None


def test_a_forecast_that_fails_ends_the_run_with_slurms_words():
    jobs = stages()
    text = b"allocation failure: Requested node configuration is not available\n"
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse([answered(jobs["forecast"], b"", text, "forecast", exit_code=1)], TOOL.clean(PARAMS))
    assert caught.value.code == "queue-impossible"
    assert not caught.value.retryable
    assert "node configuration" in str(caught.value.message)


BUSY = (
    b"srun: job 8 queued and waiting for resources\n"
    b"srun: error: Unable to allocate resources: Requested nodes are busy\n"
)


def test_a_reason_that_no_time_removes_is_told_from_a_full_queue():
    impossible = fail(stdout=b"", stderr=BUSY, account=LIMITED)
    assert impossible.code == "queue-impossible"
    assert "PartitionTimeLimit (job 8)" in str(impossible.message)
    waiting = fail(stdout=b"", stderr=BUSY, account=LIMITED.replace(b"PartitionTimeLimit", b"Resources"))
    assert (waiting.code, waiting.retryable) == ("queue-limit", True)
    assert "Resources (job 8)" in str(waiting.message)
    assert "600 s" in str(waiting.message)


def test_the_reason_seen_while_it_waited_outlasts_its_withdrawal():
    watch = LIMITED.replace(b"CANCELLED", b"PENDING")
    gone = LIMITED.replace(b"PartitionTimeLimit", b"None")
    assert fail(stdout=b"", stderr=BUSY, watch=watch, account=gone).code == "queue-impossible"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            b"slurmstepd-n1: error: *** STEP 22.0 ON n1 CANCELLED AT 2026-11-21T19:19:09 DUE TO TIME LIMIT ***",
            "job-timed-out",
        ),
        (b"slurmstepd-n1: error: *** STEP 22.0 ON n1 CANCELLED AT 2026-11-21T19:19:09 ***", "job-cancelled"),
        (b"srun: error: Node failure on n2", "job-node-failed"),
        (b"srun: error: Unable to allocate resources: Invalid account", "not-granted"),
    ],
)
def test_a_job_that_slurm_ended_is_no_result(text, code):
    assert fail(stdout=ROWS, stderr=STARTED + text + b"\n").code == code


def test_a_job_that_never_ran_is_no_result():
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse([Output("node", "account", "a", ("squeue",), b"", b"", 0)], TOOL.clean(PARAMS))
    assert caught.value.code == "no-result"


SHARED = {
    "job_time": "90 min",
    "bundle": "sweep",
    "bundle_ranks": 16,
    "bundle_idle": 60,
    "queue_limit": 300,
    "partition": "bench",
}


def test_trials_of_one_name_share_an_allocation_that_has_room_for_all():
    first, second = (stages(**SHARED, clients=2, placement=place)["measure"].argv for place in ("free", "other-node"))
    room = " ".join(first[: first.index("--")])
    assert room.startswith("fathom-slurm --name fathom-")
    assert "--idle 60 --wait 300 --sbatch {program:sbatch}" in room
    assert room.endswith("--nodes=2 --ntasks=16 --time=90 --partition=bench")
    assert first[: first.index("--")] == second[: second.index("--")]
    assert first[first.index("--") + 1] == "{program:srun}"
    assert not any(word.startswith(("--immediate", "--time")) for word in first[first.index("--") :])
    assert not any(word.startswith("--time") for word in stages(bundle="sweep")["measure"].argv)
    other = stages(**{**SHARED, "bundle": "another"}, clients=2)["measure"].argv
    assert other[2] != first[2]


def test_a_trial_in_a_shared_allocation_waited_for_itself_only():
    shared = b"fathom-slurm: job 22 shared, waited 0.0 s\n" + STARTED.split(b"\n", 2)[2]
    reading = read(stderr=shared, account=DONE.replace(b"COMPLETED", b"RUNNING"))
    assert reading.value("queue_time") == 0.0
    assert reading.observed["job"]["run_time"] is None
    assert reading.observed["job"]["nodes"] == ["n1", "n2"]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (b"Unable to allocate resources: job 30 is PENDING (PartitionTimeLimit)", "queue-impossible"),
        (b"Unable to allocate resources: job 30 is PENDING (Resources)", "queue-limit"),
        (b"sbatch: error: invalid partition specified: nope", "queue-refused"),
    ],
)
def test_an_allocation_that_cannot_be_had_is_told(said, code):
    assert fail(stdout=b"", stderr=b"fathom-slurm: error: " + said + b"\n").code == code


def test_the_name_of_an_allocation_is_a_plain_one():
    with pytest.raises(ParameterError) as caught:
        TOOL.clean({**PARAMS, "bundle": "a b"})
    assert set(caught.value.errors) == {"bundle"}
