"""Allocations that measurements share (Slurm): what the tool asks for passes the agent's policy, and nothing else."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.agent.test_policy_tools import all_rules
from tests.bench.tools import mpi_nodes
from workers.agent import slurm
from workers.agent.placeholders import Placeholders
from workers.agent.policy import Guard, Reach, network, others
from workers.agent.policy.rules import FLAG, RefusedOption, Rules, read_words
from workers.agent.refusals import CannotStart

PROGRAMS = ("sbatch", "squeue", "scancel", "srun")
SHARED = {
    "benchmark": "NPmpich2", "launcher": "slurm", "bundle": "sweep", "bundle_ranks": 4, "job_time": "5 min",
    "partition": "bench",
}  # fmt: skip
TABLES = (network.TABLE, others.TABLE, others.FAMILIES)
OPTIONS = [
    (rules, option)
    for table in TABLES
    for program in table.values()
    for rules in all_rules(program)
    for option, kind in rules.options.items()
    if kind != FLAG
]


@pytest.fixture
def placeholders(tmp_path: Path) -> Placeholders:
    """Return those of a job on a node with stand-ins for Slurm's programs: sbatch and srun tell their words."""
    for name in PROGRAMS:
        path = tmp_path / name
        path.write_text(f'#!/bin/sh\necho "$@" > "{tmp_path}/{name}.told"\n')
        path.chmod(0o755)
    queue = tmp_path / "queue"
    queue.touch()
    (tmp_path / "squeue").write_text(f'#!/bin/sh\ncat "{queue}"\n')
    with (tmp_path / "sbatch").open("a") as text:
        text.write(f'cat > /dev/null\necho "7|RUNNING|None" > "{queue}"\necho 7\n')
    return Placeholders(tmp_path / "work", lambda name: str(tmp_path / name))


def guard_of(placeholders: Placeholders, owner: str = "") -> Guard:
    """Return the policy of a node for a job of somebody's."""
    return Guard(
        work=placeholders.fill("{work}"),
        paths=[],
        options={},
        reach=Reach(),
        fill=placeholders.fill,
        find_program=lambda name: placeholders.fill(f"{{program:{name}}}"),
        files={},
        owner=owner,
    )


def check(placeholders: Placeholders, argv: Sequence[str]) -> None:
    """Raise CannotStart unless the node's policy allows a command."""
    guard_of(placeholders).check(argv)


def shared() -> list[str]:
    """Return the command of a trial in a shared allocation, as the tool plans it."""
    plan = mpi_nodes.plan("mpi-pingpong", [mpi_nodes.node("a")], **SHARED)
    return next([*stage.commands[0].argv] for stage in plan.stages if stage.name == "measure")


def test_a_trial_in_a_shared_allocation_is_allowed_and_hands_in_its_room(
    placeholders: Placeholders, tmp_path: Path
) -> None:
    argv = shared()
    check(placeholders, argv)
    filled = [placeholders.fill(word) for word in argv[1:]]
    subprocess.run([sys.executable, slurm.__file__, *filled], timeout=60, check=True)
    room = [word for word in filled[: filled.index("--")] if "=" in word]
    assert len(room) == 4
    words = (tmp_path / "sbatch.told").read_text().split()
    assert words[:3] == ["--parsable", f"--job-name={filled[1]}", "--output=/dev/null"]
    assert words[3:] == room
    assert (tmp_path / "srun.told").read_text().startswith("--jobid=7 --verbose ")


@pytest.mark.parametrize("option", ["--sbatch", "--squeue", "--scancel"])
@pytest.mark.parametrize("program", [*PROGRAMS, "sh", "ping"])
def test_each_of_its_programs_stands_in_its_one_place(option: str, program: str, placeholders: Placeholders) -> None:
    argv = shared()
    argv[argv.index(option) + 1] = f"{{program:{program}}}"
    if option == f"--{program}":
        check(placeholders, argv)
        return
    with pytest.raises(CannotStart, match=f"fathom-slurm {option}"):
        check(placeholders, argv)


@pytest.mark.parametrize("argv", [["mpirun", "--mca", "plm_rsh_agent"], ["mpiexec.hydra", "-launcher-exec"]])
def test_no_other_program_starts_any_of_them(argv: list[str], placeholders: Placeholders) -> None:
    for program in ("sbatch", "srun"):
        with pytest.raises(CannotStart, match=program):
            check(placeholders, [*argv, f"{{program:{program}}}", "-n", "1", "{program:IMB-MPI1}"])


@pytest.mark.parametrize("value", ["--wrap=id", "-x", "--"])
def test_no_value_of_any_program_looks_like_an_option(value: str) -> None:
    """A program may take it for one, and what follows for another than the agent looked at."""
    for rules, option in OPTIONS:
        plain = Rules(options=rules.options, clusters=rules.clusters)
        for words in ([*option.split(" "), value], [f"{option}={value}"]):
            with pytest.raises(RefusedOption):
                list(read_words(plain, words))


def test_words_that_the_guard_and_the_program_would_part_differently_are_refused_by_both(
    placeholders: Placeholders, tmp_path: Path
) -> None:
    argv = shared()
    smuggled = [argv[0], "--partition", "--name=x", "--time", "--wrap=id", *argv[1:]]
    with pytest.raises(CannotStart, match="--partition"):
        check(placeholders, smuggled)
    for own in (smuggled[1:], ["--wrap=id", *argv[1:]], ["--part=x", *argv[1:]]):
        filled = [placeholders.fill(word) for word in own]
        done = subprocess.run([sys.executable, slurm.__file__, *filled], timeout=60, check=False)
        assert done.returncode == 2
        assert not (tmp_path / "sbatch.told").exists()


def test_what_is_run_in_it_is_named_by_its_path(placeholders: Placeholders, tmp_path: Path) -> None:
    """Nothing is looked up in the folder where the job works, whatever lies there."""
    argv = [placeholders.fill(word) for word in shared()[1:]]
    argv[argv.index("--") + 1] = "srun"
    done = subprocess.run([sys.executable, slurm.__file__, *argv], timeout=60, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert not (tmp_path / "srun.told").exists()
