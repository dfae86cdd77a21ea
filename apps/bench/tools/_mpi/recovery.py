"""From a launcher's recorded command line to the program that it started and the number of ranks."""

import re
from collections.abc import Collection, Sequence

from apps.bench.tools._mpi import options


def program_of(argv: Sequence[str], programs: Collection[str]) -> str:
    """Return the first of `programs` that a command line names, by whatever path; "" if none."""
    names = (word.rpartition("/")[2] for word in argv)
    return next((name for name in names if name in programs), "")


def launcher_of(argv: Sequence[str], text: str) -> str | None:
    """Return the launcher of a command line and of what it printed, None where neither tells."""
    names = {word.rpartition("/")[2] for word in argv}
    if "srun" in names:
        return options.SLURM
    if "[0] MPI startup():" in text:
        return options.INTELMPI
    if {"mpiexec.hydra", "mpirun.mpich"} & names:
        return options.MPICH
    return options.OPENMPI if {"mpirun", "mpiexec", "orterun"} & names else None


def words_of(argv: Sequence[str], program: str) -> list[str]:
    """Return the program's own words of a launcher's command line, the program first."""
    ends = [index for index, word in enumerate(argv) if word.rpartition("/")[2] == program]
    return list(argv[ends[0] :]) if ends else [program]


def ranks_of(argv: Sequence[str]) -> int | None:
    """Return how many ranks a launcher's command line asks for, None if it does not say."""
    for index, word in enumerate(argv):
        name, _equals, value = word.partition("=")
        if name in ("-np", "-n", "--ntasks"):
            text = value or (argv[index + 1] if index + 1 < len(argv) else "")
            return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else None
    return None
