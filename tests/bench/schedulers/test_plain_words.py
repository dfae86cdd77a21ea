"""Schedulers' plain words without the command: what was refused, what is away, and what was only warned of."""

import pytest

from apps.bench import recognition

REFUSALS = [
    ("error: commlib error: got select error (Connection refused)", "no-scheduler"),
    ('error: unable to send message to qmaster using port 6444 on host "m": got send error', "no-scheduler"),
    (
        'Unable to run job: unable to send message to qmaster using port 6444 on host "m": got send error.',
        "no-scheduler",
    ),
    ("critical error: Please set the environment variable SGE_ROOT.", "no-scheduler"),
    ('denied: host "node9" is no submit host', "queue-refused"),
    ("error: no suitable queues", "queue-refused"),
    ("qsub: Unknown option -foo", "queue-refused"),
    ('error: ERROR! invalid option argument "-zz"', "queue-refused"),
    ('denied: job "99" does not exist', "job-missing"),
]
WARNING = "sbatch: Warning: can't run 1 processes on 2 nodes, setting nnodes to 1"


def only(text):
    (finding,) = recognition.read_file(text.encode())
    return finding


@pytest.mark.parametrize(("text", "code"), REFUSALS)
def test_grid_engine_says_why_it_refused(text, code):
    finding = only(f"{text}\n")
    assert finding.form == "scheduler"
    assert finding.failure.code == code


@pytest.mark.parametrize("text", [f"{WARNING}\nSubmitted batch job 12\n", f"Submitted batch job 12\n{WARNING}\n"])
def test_a_warning_of_fewer_nodes_is_no_refusal(text):
    finding = only(text)
    assert finding.failure is None
    assert [job["job_id"] for job in finding.data["jobs"]] == ["12"]
    assert finding.data["warnings"] == [WARNING.partition("Warning: ")[2]]


def test_what_sruns_program_printed_behind_a_warning_is_no_damage():
    finding = only(f"{WARNING.replace('sbatch', 'srun')}\nhello\n")
    assert finding.failure is None
    assert finding.data["kind"] == "launched"


def test_a_deletion_is_told():
    finding = only("root has registered the job 12 for deletion\n")
    assert [(job["job_id"], job["state"]) for job in finding.data["jobs"]] == [("12", "cancelled")]


@pytest.mark.parametrize(
    "text", ['{"a": {"b": 1, "c": [' + ", ".join('{"d": 1}' for _ in range(60)) + "]}}", "a:" * 60]
)
def test_many_colons_are_no_accounting_file(text):
    assert only(text).failure.code == "unrecognised"
