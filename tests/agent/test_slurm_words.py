"""Slurm's programs are told checked words only, so that no team reaches into an allocation of another's.

All who measure on a cluster by one agent, or by several of one user, are the same user to Slurm.
"""

import string
from pathlib import Path

import pytest

from tests.agent.test_policy_slurm import check, guard_of, placeholders, shared
from workers.agent.config import Config
from workers.agent.jobs import guard_of as guard_of_job
from workers.agent.placeholders import Placeholders
from workers.agent.policy import others
from workers.agent.policy.rules import FLAG
from workers.agent.refusals import CannotStart

__all__ = ["placeholders"]

NAME = "fathom-0123456789ab"
PROGRAMS = {name: others.TABLE[name] for name in ("srun", "squeue", "sbatch", "scancel", "fathom-slurm")}
SAMPLES = {"allocation": NAME, "word": "bench", "number": "2"}
PLAIN = {*string.ascii_letters, *string.digits, *"._+-"}
WRONG_TEXT = (
    "0 UNLIMITED infinite 1-00:00:00 1:00 99999999 1e9 +1 2-9 nan a,b all,all %i|%Z|%o %all long map_cpu:0 openmpi "
    "arbitrary plane=4 {program:srun} PENDING fathom-x fathom-0123456789AB fathom-0123456789ab,fathom-ba9876543210"
)
# Of srun(1), sbatch(1), squeue(1) and scancel(1): what names an allocation, asks for more, or tells of others' jobs.
FOREIGN_TEXT = (
    "--jobid --overlap --overcommit --reservation --account --qos --uid --gid --user --users --jobs --steps --job "
    "--nodelist --exclude --relative --licenses --clusters --dependency --nice --priority --no-allocate --external "
    "--external-launcher --het-group --exclusive --mem --gres --hold --begin --deadline --wckey --threads --wrap "
    "--all --json --yaml --Format --long --me --accounts --partitions --state --signal --name --job-name --states "
    "--format -j -J -w -x -A -p -q -u -Z -t -N -n -O -o -M -R -s -r -i"
)
VARIABLES_TEXT = "JOB_ID JOBID JOB_NAME OVERLAP TIMELIMIT NNODES NTASKS PARTITION ACCOUNT QOS CONF NODELIST"
WRONG, FOREIGN, VARIABLES = WRONG_TEXT.split(), FOREIGN_TEXT.split(), VARIABLES_TEXT.split()
VALUED = [
    (program, option, kind)
    for program, rules in PROGRAMS.items()
    for option, kind in rules.options.items()
    if kind not in (FLAG, "file", "named-program")
]


def command_of(program: str, option: str, value: str) -> list[str]:
    """Return a command of a program with all that it needs; "" stands for no value, or no option."""
    rules = PROGRAMS[program]
    needed = {name: rules.choices.get(name, (NAME,))[0] for name in rules.needs} | ({option: value} if option else {})
    words = [f"{name}={text}" if text else name for name, text in needed.items()]
    behind = {"srun": ["{program:IMB-MPI1}"], "fathom-slurm": ["--", "{program:srun}", "{program:IMB-MPI1}"]}
    return [program, *words, *behind.get(program, [])]


def is_allowed(node: Placeholders, argv: list[str]) -> bool:
    try:
        check(node, argv)
    except CannotStart:
        return False
    return True


@pytest.mark.parametrize(("program", "option", "kind"), VALUED)
def test_every_value_is_one_of_a_few(program: str, option: str, kind: str, placeholders: Placeholders) -> None:
    rules = PROGRAMS[program]
    assert kind != "text" or option in rules.choices, "a text needs its choices"
    assert kind != "number" or option in rules.most, "a number needs its largest"
    good = [*rules.choices.get(option, [SAMPLES.get(kind, "")])]
    good += [str(rules.most[option])] if kind == "number" else []
    assert all(is_allowed(placeholders, command_of(program, option, value)) for value in good)
    plain = {value for value in WRONG if value[0].isalnum() and PLAIN.issuperset(value)} if kind == "word" else set()
    above = [str(rules.most[option] + 1), f"{rules.most[option]}.5", "2k"] if kind == "number" else []
    above += ["0.4"] if kind == "number" and isinstance(rules.most[option], int) else []
    wrong = [value for value in (*WRONG, *above) if value not in (*good, *plain)]
    assert len(wrong) > 4
    assert not [value for value in wrong if is_allowed(placeholders, command_of(program, option, value))]


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_command_reaches_into_an_allocation_of_others(program: str, placeholders: Placeholders) -> None:
    assert is_allowed(placeholders, command_of(program, "", ""))
    ways = [(option, value) for option in FOREIGN for value in ("", "7", "x")]
    attached = [way for way in ways if is_allowed(placeholders, command_of(program, *way))]
    apart = [way for way in ways if way[1] and is_allowed(placeholders, [program, *way])]
    assert not attached + apart
    # Without a name the jobs of all are listed.
    assert not is_allowed(placeholders, ["squeue", "--noheader", "--states=all"])


def test_no_two_teams_or_services_share_an_allocation(placeholders: Placeholders) -> None:
    watch = ["squeue", "--iterate=5", "--noheader", f"--name={NAME}"]
    for argv in (shared(), command_of("srun", "--job-name", NAME), watch):
        names = set()
        for owner in ("https://a 1", "https://a 2", "https://b 1"):
            guard = guard_of(placeholders, owner)
            guard.check(argv)
            (name,) = {word for word, before in zip(guard.completed(argv), argv, strict=True) if word != before}
            assert guard_of(placeholders, owner).completed(argv) == guard.completed(argv)
            names.add(name)
        assert len(names) == 3, argv


def test_whose_a_job_is_comes_from_the_service(placeholders: Placeholders, tmp_path: Path) -> None:
    argv = ["squeue", f"--name={NAME}"]
    jobs = [("https://a", "1"), ("https://a", "2"), ("https://b", "1"), ("https://a", "")]
    names = {
        guard_of_job({"team": team}, Config(server, "t", "n"), tmp_path, placeholders).completed(argv)[1]
        for server, team in jobs
    }
    assert len(names) == len(jobs)


@pytest.mark.parametrize("prefix", ["SLURM", "SBATCH", "SQUEUE", "SRUN", "SALLOC"])
def test_no_variable_names_an_allocation(prefix: str, placeholders: Placeholders) -> None:
    for name in VARIABLES:
        with pytest.raises(CannotStart):
            guard_of(placeholders).check(["srun", "{program:IMB-MPI1}"], [(f"{prefix}_{name}", "7")])
