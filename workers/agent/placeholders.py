"""What of a job is known on its node only: the paths of its work folder and of programs, put in for placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

PROGRAM = re.compile(r"\{program:([A-Za-z0-9._+-]{1,100})\}")
# Variables that measurement programs are set up with; nothing that tells the loader or an interpreter what to load.
VARIABLE = re.compile(
    r"(?:OMP|OMPI|OMPI_MCA|PRTE_MCA|PMIX_MCA|MPICH|MPIR_CVAR|HYDRA|I_MPI|UCX|FI|GLOBUS|SLURM|SBATCH|FATHOM)_\w{1,100}"
    r"|RSH|TZ",
    re.ASCII,
)
# Of those, the ones that name a program or what is loaded into one: they may hold an allowed program only.
LOADING = re.compile(
    r"agent|component|conf|debugger|exec|file|library|location|module|path|plugin|preload|rsh|wrapper", re.IGNORECASE
)
LONGEST_VALUE = 4096


class BadVariable(ValueError):
    """A variable that a job may not have in its environment."""


class Placeholders:
    """Puts in the work folder for `{work}` and, for `{program:NAME}`, what `find` returns for NAME, or raises."""

    def __init__(self, work: Path, find: Callable[[str], str]) -> None:
        self._work = str(work)
        self._find = find

    def fill(self, text: str) -> str:
        """Return a word of a command line, or the text of a file, as the node's programs need it."""
        return PROGRAM.sub(lambda match: self._find(match.group(1)), text).replace("{work}", self._work)

    def fill_variable(self, name: str, value: str) -> str:
        """Return a variable's value as the node's programs need it; BadVariable if it may not be set, or not so."""
        if not VARIABLE.fullmatch(name):
            raise BadVariable(f"the variable {name!r} is not one that a job may have")
        if LOADING.search(name) and not PROGRAM.fullmatch(value):
            raise BadVariable(f"the variable {name} may only hold an allowed program")
        if "\0" in value or len(value) > LONGEST_VALUE:
            raise BadVariable(f"the variable {name} holds what no variable can")
        return self.fill(value)
