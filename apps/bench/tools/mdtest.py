"""mdtest: how many files and directories the ranks of a parallel program make, look at and remove in a second."""

import math
import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import reconstruction, texts
from apps.bench.outputs.failures import failure
from apps.bench.text import Message, _
from apps.bench.toolkit import (
    Metric,
    NodeRef,
    Output,
    Parameter,
    Params,
    Plan,
    Reading,
    SampleValue,
    Tool,
    TrialEstimate,
    Value,
)
from apps.bench.tools._ior import launch
from apps.bench.tools._mpi import options, run
from apps.bench.tools._mpi.recovery import ranks_of, words_of
from apps.bench.tools._storage import places

# The program's words for each of our metrics.
OPERATIONS = {
    "Directory creation": "directory_create",
    "Directory stat": "directory_stat",
    "Directory rename": "directory_rename",
    "Directory removal": "directory_remove",
    "File creation": "file_create",
    "File stat": "file_stat",
    "File read": "file_read",
    "File removal": "file_remove",
    "Tree creation": "tree_create",
    "Tree removal": "tree_remove",
}
# What a run of files alone, and of directories alone, must have given.
OF_FILES = ("file_create", "file_stat", "file_remove")
OF_DIRECTORIES = ("directory_create", "directory_stat", "directory_remove")
BOTH, FILES, DIRECTORIES = "both", "files", "directories"
# Operations a second of one rank, for guessing how long a measurement will take.
GUESSED_RATE = 500.0

_VERSION = re.compile(
    r"^mdtest-(\d[\w.+-]{0,40}) was launched with (\d{1,9}) total task\(s\) on (\d{1,9}) node", re.M
)
_SUMMARY = re.compile(r"^SUMMARY(?: rate(?: \(in ops/sec\))?)?: \(of (\d{1,6}) iterations\)", re.M)
# Of fewer than were started, with -l and -s.
_TASKS = re.compile(r"^(\d{1,9}) tasks?, \d{1,15} files", re.M | re.A)
_RATE = re.compile(
    r"^   ([A-Z][a-z]+ [a-z]+) *:? +(\d{1,15}\.\d+) +(\d{1,15}\.\d+) +(\d{1,15}\.\d+) +(\d{1,15}\.\d+) *$",
    re.M | re.A,
)
_COMMAND = re.compile(r"^Command line used: (.*)$", re.M)


class Mdtest(Tool):
    """mdtest under an MPI launcher."""

    slug = "mdtest"
    name = "mdtest"
    summary = _("Metadata operations a second: creating, looking at and removing files and directories.")
    programs = ("mdtest", *launch.PROGRAMS)
    group = "storage"
    file_system = "required"
    opening = re.compile(r"^-- started at [\d/]+ [\d:]+ --$", re.M | re.A)
    signatures = (
        re.compile(r"^mdtest-\d[\w.+-]* was launched with", re.M | re.A),
        re.compile(r"^-- started at [\d/]+ [\d:]+ --$", re.M | re.A),
        re.compile(r"^Synopsis \S*mdtest$|\(mdtest\.c:\d+\)$", re.M | re.A),
    )
    roles = options.ROLES
    parameters = (
        Parameter(
            "items", "integer", _("Items"), help=_("Files and directories of each rank (-n)."),
            default=1000, unit="count", minimum=1, maximum=10_000_000,
        ),
        Parameter(
            "kind", "choice", _("Kind"), default=BOTH,
            choices=((BOTH, _("files and directories")), (FILES, _("files")), (DIRECTORIES, _("directories"))),
        ),
        Parameter(
            "own_directory", "boolean", _("One directory a rank"), help=_("Instead of one for all (-u)."),
            default=False,
        ),
        Parameter(
            "shift", "boolean", _("Look at the neighbour's items"),
            help=_("Each rank looks at what the next one made, which its cache does not hold (-N)."), default=True,
        ),
        Parameter(
            "write_size", "size", _("Bytes in each file"), help=_("Written at its creation (-w)."),
            default=0, unit="B", minimum=0, maximum=1024**3,
        ),
        Parameter(
            "read_size", "size", _("Bytes read of each file"), help=_("0 opens and closes the files (-e)."),
            default=0, unit="B", minimum=0, maximum=1024**3,
        ),
        Parameter(
            "iterations", "integer", _("Iterations"), help=_("Passes in one start (-i); repetitions are better."),
            default=1, unit="count", minimum=1, maximum=1000, advanced=True,
        ),
        *launch.PARAMETERS,
    )  # fmt: skip
    metrics = (
        Metric("file_create", _("Files created"), "op/s", True, primary=True, axis="operations"),
        Metric("file_stat", _("Files looked at"), "op/s", True, axis="operations"),
        Metric("file_read", _("Files read"), "op/s", True, axis="operations"),
        Metric("file_remove", _("Files removed"), "op/s", True, axis="operations"),
        Metric("directory_create", _("Directories created"), "op/s", True, axis="operations"),
        Metric("directory_stat", _("Directories looked at"), "op/s", True, axis="operations"),
        Metric("directory_rename", _("Directories renamed"), "op/s", True, axis="operations"),
        Metric("directory_remove", _("Directories removed"), "op/s", True, axis="operations"),
        Metric("tree_create", _("Trees created"), "op/s", True, axis="operations"),
        Metric("tree_remove", _("Trees removed"), "op/s", True, axis="operations"),
        Metric("queue_time", _("Time in the queue"), "s", False, axis="time", has_zero=True),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse to read more than is written."""
        errors = launch.check(params)
        if params["read_size"] > params["write_size"]:
            errors["read_size"] = Message(_("Give at most the bytes that are written to each file."))
        return errors

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Refuse more nodes than were chosen."""
        return options.check_cast(params, counts)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return one start of all ranks, between the check of the mounts and the clean-up."""
        argv = ["-n", str(params["items"]), "-i", str(params["iterations"])]
        argv += {FILES: ["-F"], DIRECTORIES: ["-D"]}.get(params["kind"], [])
        argv += ["-u"] if params["own_directory"] else []
        argv += ["-N", "1"] if params["shift"] else []
        argv += ["-w", str(params["write_size"])] if params["write_size"] else []
        argv += ["-e", str(params["read_size"])] if params["read_size"] else []
        return launch.make_plan(params, nodes, "mdtest", argv, "-d")

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return a guess of the time; the traffic to the file system's servers is on no path between the roles."""
        phases = 8 if params["kind"] == BOTH else 4
        seconds = params["items"] * phases * params["iterations"] / GUESSED_RATE
        return TrialEstimate(min(seconds, params["time_limit"]) + 3.0)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the mean rates over the iterations, as the program computes them; or ToolFailure."""
        where = places.read_places(outputs, params)
        output, text = launch.read_output(outputs, params)
        head, summaries = _VERSION.search(text), list(_SUMMARY.finditer(text))
        if not summaries:
            raise launch.why_none(output, text)
        # One for each number of tasks that -f, -l and -s ask for.
        if len(summaries) > 1:
            raise failure("several-results", output, n=len(summaries))
        summary = summaries[0]
        if not re.search(r"^-- finished at ", text, re.M):
            raise failure("unreadable", output)
        rows = [row for row in _RATE.finditer(text, summary.end()) if row[1] in OPERATIONS]
        samples: dict[str, float] = {}
        spread: dict[str, float] = {}
        for row in rows:
            maximum, minimum, mean, deviation = (float(row[column]) for column in (2, 3, 4, 5))
            if not math.isfinite(maximum + deviation) or not minimum <= mean <= maximum:
                raise failure("contradictory", output, first=row[3], second=row[4])
            # Older programs print 0 for what was not done.
            if mean:
                samples.setdefault(OPERATIONS[row[1]], mean)
                spread.setdefault(OPERATIONS[row[1]], deviation)
        missing = [name for name in _metrics_of_kind(params) if name not in samples]
        if missing and where:
            raise failure("tests-missing", output, missing=", ".join(missing))
        if not samples:
            raise failure("unreadable", output) if not rows else failure("nothing-moved", output, said=rows[0][1])
        begun, tasks = run.started(outputs, output, params), _tasks_of(text)
        queue = {name: value for name, value in begun.samples.items() if value is not None}
        return Reading(
            samples=tuple(SampleValue(metric, value) for metric, value in (samples | queue).items()),
            requested=dict(params) | begun.requested,
            granted={"tasks": tasks, "nodes": int(head[3])} if head else {},
            observed={"iterations": int(summary[1]), "standard_deviation": spread}
            | begun.observed
            | places.observed_of(where),
            flags=(
                *places.flags_of(where, outputs),
                *begun.flags,
                *launch.flags_of(params, tasks),
            ),
            tool_version=head[1] if head else "",
        )

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the parameters that the command line tells."""
        text = texts.read_text(output)
        line = _COMMAND.search(text)
        own = words_of(output.argv, "mdtest") if output.argv else []
        own = own if len(own) > 1 else [word.strip("'") for word in line[1].split()] if line else []
        valued = {"-n": "items", "-i": "iterations", "-w": "write_size", "-e": "read_size", "-N": "stride"}
        parameters: dict[str, Value] = (
            dict(reconstruction.read_options(own, valued, {"-u": "own_directory"})) if own else {}
        )
        if own:
            parameters["shift"] = "stride" in parameters
            if "-W" in own:
                # It ends after a time then: the number that it was to make is no one's.
                parameters.pop("items", None)
            parameters["kind"] = FILES if "-F" in own else DIRECTORIES if "-D" in own else BOTH
        ranks = _tasks_of(text) or ranks_of(output.argv)
        parameters |= {"ranks": ranks} if ranks else {}
        return reconstruction.keep_valid(self, parameters)


def _tasks_of(text: str) -> int | None:
    """Return how many tasks a summary is of, where it does not say those that were started; None if untold."""
    tasks, head = _TASKS.search(text), _VERSION.search(text)
    return int(tasks[1]) if tasks else int(head[2]) if head else None


def _metrics_of_kind(params: Params) -> tuple[str, ...]:
    if params["kind"] == FILES:
        return OF_FILES
    return OF_DIRECTORIES if params["kind"] == DIRECTORIES else (*OF_FILES, *OF_DIRECTORIES)
