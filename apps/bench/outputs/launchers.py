"""What launchers of parallel programs say where ranks do not start, or end early."""

import re

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output, ToolFailure

# What the launchers, the shells and the loader say when ranks do not start: (pattern, reason).
_PROBLEMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), reason)
    for pattern, reason in (
        (r"^Invalid option \[.*$", "bad-parameter"),
        (r"^There are not enough slots available[^\n]*(?:\n[^\n]+)?", "mpi-slots"),
        (r"^.*has detected an attempt to run as root.*$", "mpi-root"),
        (
            r"^mpi\S* was unable to (?:launch|find) the specified (?:application|executable)[^-]*",
            "mpi-missing-program",
        ),
        (r"^.*(?:execvp error on file|HYDU_create_process .*execvp) .*$", "mpi-missing-program"),
        (r"^.*error while loading shared libraries.*$", "mpi-missing-program"),
        (r"^.*(?:execve\(\): \S+: No such file|couldn't chdir).*$", "mpi-missing-program"),
        (r"^ORTE was unable to reliably start one or more daemons.*$", "mpi-unreachable"),
        (
            r"^.*(?:Host key verification failed|Permission denied \(publickey|Cannot open network namespace).*$",
            "mpi-unreachable",
        ),
        (
            r"^.*(?:Could not resolve hostname|unable to (?:change to|connect).*proxy|ssh: connect to host).*$",
            "mpi-unreachable",
        ),
        (r"^A request was made to bind.*$|^.*(?:rankfile|was mapped to|unrecognized binding).*$", "mpi-binding"),
        (r"^The rankfile that was used claimed.*$", "mpi-binding"),
        (
            r"^.*(?:requires exactly two processes|requires at least \d+ process|invalid for \d+ process).*$",
            "mpi-wrong-ranks",
        ),
        (r"^Usage: .*$", "no-result"),
        (r"^.*No space left on device.*$", "disk-full"),
        (r"^.*(?:MPI_ABORT was invoked|BAD TERMINATION|exited on signal|Primary job  terminated).*$", "mpi-aborted"),
        (
            r"^.*(?:mpi\S* detected that one or more processes exited|srun: error: .*(?:Exited|Killed|Aborted)).*$",
            "mpi-aborted",
        ),
    )
)


_OF_LAUNCHERS = {"mpi-slots", "mpi-root", "mpi-missing-program", "mpi-unreachable", "mpi-binding"}


def launch_problem(output: Output, text: str) -> ToolFailure | None:
    """Return why a launcher started no ranks, whatever they were to run; None if it does not say so."""
    for pattern, reason in _PROBLEMS:
        match = pattern.search(text) if reason in _OF_LAUNCHERS else None
        if match:
            return failure(reason, output, said=" ".join(match[0].split())[:200])
    return None


def why_none(output: Output, text: str) -> ToolFailure:
    """Return why a parallel program printed no result, by the words of its launcher."""
    for pattern, reason in _PROBLEMS:
        match = pattern.search(text)
        if match:
            return failure(reason, output, said=" ".join(match[0].split())[:200])
    return texts.bad_option(output, text) or texts.system_error(output, text, "") or texts.no_result(output, text)
