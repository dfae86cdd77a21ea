"""The program `fathom-slurm`: it shares an allocation, waits for it, and gives up with Slurm's reason."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from apps.agents.program import build
from workers.agent import slurm

SOURCE = Path(slurm.__file__)
# squeue answers with what stands in a file, which sbatch and scancel write; srun tells what it was given.
COMMANDS = {
    "squeue": '#!/bin/sh\ncat "{root}/queue"\n',
    "sbatch": '#!/bin/sh\necho "$@" > "{root}/submitted"\ncat > "{root}/script"\n'
    'echo "7|{state}|{reason}" > "{root}/queue"\necho 7\n',
    "scancel": '#!/bin/sh\necho "$@" > "{root}/cancelled"\n: > "{root}/queue"\n',
    "srun": '#!/bin/sh\necho "step $*"\n',
}


@pytest.fixture
def cluster(tmp_path: Path):
    """Return a function that lays out Slurm's commands; a job handed in is at once in the state given."""

    def lay_out(state="RUNNING", reason="None", queue=""):
        (tmp_path / "queue").write_text(queue)
        for name, text in COMMANDS.items():
            path = tmp_path / name
            path.write_text(text.format(root=tmp_path, state=state, reason=reason))
            path.chmod(0o755)
        return tmp_path

    return lay_out


def words(root: Path, wait: float = 5) -> list[str]:
    own = ["--name", "fathom-x", "--idle", "60", "--wait", str(wait)]
    own += [word for name in ("sbatch", "squeue", "scancel") for word in (f"--{name}", str(root / name))]
    return [*own, "--nodes=2", "--ntasks=4", "--time=5", "--", str(root / "srun"), "--ntasks=2", "hostname"]


def run(root: Path, wait: float = 5) -> subprocess.CompletedProcess:
    argv = [sys.executable, str(SOURCE), *words(root, wait)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


def test_the_first_takes_an_allocation_and_becomes_srun_in_it(cluster):
    root = cluster()
    done = run(root)
    assert done.stdout == "step --jobid=7 --ntasks=2 hostname\n"
    assert done.stderr == "fathom-slurm: job 7 taken, waited 0.0 s\n"
    submitted = (root / "submitted").read_text()
    assert submitted == "--parsable --job-name=fathom-x --output=/dev/null --nodes=2 --ntasks=4 --time=5\n"
    script = (root / "script").read_text()
    assert script.startswith("#!/bin/sh\n")
    assert '"$quiet" -lt 60' in script
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0


def test_the_next_ones_share_it(cluster):
    root = cluster(queue="5|RUNNING|None\n")
    done = run(root)
    assert done.stdout.startswith("step --jobid=5 ")
    assert "job 5 shared" in done.stderr
    assert not (root / "submitted").exists()


@pytest.mark.parametrize(("reason", "wait"), [("Resources", 0.5), ("PartitionTimeLimit", 3600)])
def test_one_that_does_not_start_in_time_or_never_can_is_withdrawn_with_its_reason(cluster, reason, wait):
    root = cluster(state="PENDING", reason=reason)
    done = run(root, wait)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"Unable to allocate resources: job 7 is PENDING ({reason})" in done.stderr
    assert (root / "cancelled").read_text() == "7\n"


def test_one_that_others_wait_for_is_left_to_them(cluster):
    root = cluster(queue="5|PENDING|Resources\n")
    assert run(root, wait=0.5).returncode == 1
    assert not (root / "cancelled").exists()


def test_a_stop_withdraws_what_has_not_started(cluster):
    root = cluster(state="PENDING", reason="Resources")
    process = subprocess.Popen([sys.executable, str(SOURCE), *words(root, 60)], stderr=subprocess.PIPE)
    for _moment in range(600):
        if (root / "submitted").exists() and (root / "queue").read_text():
            break
        time.sleep(0.05)
    # It has to see the answer of sbatch before it knows what to withdraw.
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    process.stderr.close()
    assert (root / "cancelled").read_text() == "7\n"


def test_what_sbatch_says_is_told(cluster):
    root = cluster()
    (root / "sbatch").write_text("#!/bin/sh\necho 'sbatch: error: invalid partition specified: nope' >&2\nexit 1\n")
    done = run(root)
    assert done.returncode == 1
    assert done.stderr == "fathom-slurm: error: sbatch: error: invalid partition specified: nope\n"


def test_an_allocation_that_is_gone_is_told(cluster):
    root = cluster()
    (root / "sbatch").write_text("#!/bin/sh\ncat > /dev/null\necho 7\n")
    done = run(root)
    assert done.returncode == 1
    assert "has ended before it was used" in done.stderr


def test_the_agents_program_is_this_one_under_its_name(cluster, tmp_path):
    root = cluster()
    (tmp_path / "agent.pyz").write_bytes(build(SOURCE.parent).data)
    link = tmp_path / slurm.NAME
    link.symlink_to("agent.pyz")
    argv = [sys.executable, str(link), *words(root)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "step --jobid=7 --ntasks=2 hostname\n"
