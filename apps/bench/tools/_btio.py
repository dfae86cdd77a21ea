"""NPB BT-IO: its classes, the numbers of ranks it takes, the names of its programs, and reading its report."""

import math
import re
from dataclasses import dataclass

from apps.bench.npb import CLASSES, WRITE_EVERY, ProblemClass
from apps.bench.outputs import launchers, texts
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output, ToolFailure

FULL, SIMPLE, EPIO, FORTRAN, NONE = "full", "simple", "epio", "fortran", "none"
_SUFFIXES = {FULL: ".mpi_io_full", SIMPLE: ".mpi_io_simple", EPIO: ".ep_io", FORTRAN: ".fortran_io", NONE: ""}
FILES = {FULL: "btio.full.out", SIMPLE: "btio.simple.out", FORTRAN: "btio.fortran.out", EPIO: "btio.epio.out"}
INPUT = "inputbt.data"
# From this version on one program serves any number of ranks.
OLD, NEW = "3.3", "3.4"

# That of any of the suite: what another of them printed is no part of a report of BT either.
OPENING = re.compile(r"^ ?NAS Parallel Benchmarks", re.M)
TITLE = re.compile(r"^ ?NAS Parallel Benchmarks (?:\(NPB)?(\d{1,2}\.\d{1,2})[^\n]*?-- ?BT Benchmark", re.M)
HEADLINE = re.compile(r"^ ?BTIO -- (FULL MPI-IO|SIMPLE MPI-IO|EPIO|FORTRAN IO) write interval: +(\d{1,6})", re.M)
HEADS = {"FULL MPI-IO": FULL, "SIMPLE MPI-IO": SIMPLE, "EPIO": EPIO, "FORTRAN IO": FORTRAN}
_FIELD = re.compile(
    r"^ ++([A-Z](?: {0,9}[A-Za-z/]){1,40}+) *+(?:\(([A-Za-z/]{1,12})\) *+)?[=:] ++(\S[^\n]{0,200}?) *$", re.M
)
_ACTIVE = re.compile(r"^ Number of active processes: +(\d{1,7})$", re.M)
_COLLECTIVE = re.compile(r"^ collbuf_(nodes|size) +(\d{1,12})$", re.M)
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
# NPB 3.4 refuses such counts before its title; of its parallel solvers with squares BT is the one read here.
WRONG_COUNT = re.compile(
    r"^ ?\*{3} ERROR determining processor topology for +\d+ processes\s*\n"
    r" +Expecting a square number of processes[^\n]*$",
    re.M,
)
_PROBLEMS = (
    (re.compile(r"^.*No space left on device.*$", re.M), "disk-full"),
    (
        re.compile(r"^ ?(?:Problem size too big for compiled array sizes|Cell size too small).*$", re.M),
        "mpi-wrong-ranks",
    ),
    (
        re.compile(r"^.*Must be a square number of processes.*$|^.*number of processes.*not a square.*$", re.M),
        "mpi-wrong-ranks",
    ),
    (WRONG_COUNT, "mpi-wrong-ranks"),
    (re.compile(r"^.*[Nn]umber of processors must be a square.*$", re.M), "mpi-wrong-ranks"),
    (re.compile(r"^Fortran runtime error: .*$", re.M), "io-error"),
    (re.compile(r"^ ?Error opening file.*$", re.M), "io-error"),
)


def program_of(problem: str, subtype: str, ranks: int, naming: str) -> str:
    """Return the program's file name, such as bt.A.16.mpi_io_full (3.3) or bt.A.x.mpi_io_full (3.4)."""
    return f"bt.{problem}.{ranks if naming == OLD else 'x'}{_SUFFIXES[subtype]}"


def all_programs(naming: str) -> list[str]:
    """Return the names of all programs; those of 3.3 for up to 1024 ranks."""
    return [
        program_of(problem, subtype, root * root, naming)
        for problem, about in CLASSES.items()
        for subtype in _SUFFIXES
        for root in (range(1, min(32, about.edge // 3) + 1) if naming == OLD else [1])
    ]


def subtype_of(program: str) -> str:
    """Return the kind of I/O that a program's name tells of."""
    return next((kind for kind, suffix in _SUFFIXES.items() if suffix and program.endswith(suffix)), NONE)


def naming_of(program: str, version: str) -> str | None:
    """Return the naming that a program's file name or else its version tells of, None if neither does."""
    if program:
        return NEW if ".x" in program else OLD
    return {"3.3": OLD, "3.4": NEW}.get(version)


def told(text: str) -> dict[str, str | int]:
    """Return what a report says of its own parameters: problem, ranks, and the collective buffer's."""
    fields = {name.strip(): value for name, _unit, value in _FIELD.findall(text)}
    parameters: dict[str, str | int] = {f"collective_{name}": int(value) for name, value in _COLLECTIVE.findall(text)}
    if fields.get("Class"):
        parameters["problem"] = fields["Class"]
    processes = fields.get("Total processes", "")
    active = _ACTIVE.search(text)
    if re.fullmatch(r"\d{1,7}", processes) or active:
        parameters["ranks"] = int(active[1] if active else processes)
    return parameters


def input_of(problem: str, nodes: int, size: int) -> str:
    """Return inputbt.data with the class's own values, and the nodes and buffer (B) of collective writes."""
    about = CLASSES[problem]
    edges = " ".join([str(about.edge)] * 3)
    return f"{about.iterations}\n{about.step}d0\n{edges}\n{WRITE_EVERY} 0\n{nodes} {size}\n"


@dataclass(frozen=True)
class BtioReport:
    """What BT printed at its end; times in s, `rate` in B/s, `data` in bytes; None where there was no I/O."""

    version: str
    problem: str
    subtype: str
    processes: int
    active: int
    iterations: int
    time: float
    mops: float
    io_time: float | None
    io_share: float | None
    rate: float | None
    data: int | None
    collective: dict[str, int]


def read_report(output: Output) -> BtioReport:
    """Return the report of a run whose data were verified; ToolFailure for anything else."""
    text = texts.read_text(output)
    fields = {name.strip(): value for name, _unit, value in _FIELD.findall(text)}
    if len(TITLE.findall(text)) > 1:
        raise failure("several-results", output, n=len(TITLE.findall(text)))
    verdict = fields.get("Verification", "")
    if verdict != "SUCCESSFUL":
        raise _why_not(output, text, verdict)
    problem = fields.get("Class", "")
    if problem not in CLASSES:
        raise failure("unreadable", output)
    about = CLASSES[problem]
    head, active = HEADLINE.search(text), _ACTIVE.search(text)
    numbers = {name: float(value) for name, value in fields.items() if _NUMBER.fullmatch(value)}
    try:
        time, processes = numbers["Time in seconds"], int(numbers["Total processes"])
        mops, iterations = numbers["Mop/s total"], int(numbers["Iterations"])
    except KeyError as error:
        raise failure("unreadable", output) from error
    if iterations != about.iterations:
        raise failure(
            "contradictory", output, first=f"{iterations} iterations", second=f"{problem}: {about.iterations}"
        )
    io = _read_io(output, numbers, about) if head else (None, None, None, None)
    return BtioReport(
        version=_printable(fields.get("Version", "")),
        problem=problem,
        subtype=HEADS[head[1]] if head else NONE,
        processes=processes,
        active=int(active[1]) if active else processes,
        iterations=iterations,
        time=time,
        mops=mops,
        io_time=io[0],
        io_share=io[1],
        rate=io[2],
        data=io[3],
        collective={name: int(value) for name, value in _COLLECTIVE.findall(text)},
    )


def _read_io(
    output: Output, numbers: dict[str, float], about: ProblemClass
) -> tuple[float, float, float | None, int]:
    """Return time (s), share (%), rate (B/s) and data (B) of the I/O.

    The printed time has two digits behind the point, which for small classes is nothing: the data over the rate
    give the same figure with more. MB are 10^6 bytes.
    """
    try:
        printed, share = numbers["I/O timing in seconds"], numbers["I/O timing percentage"]
        megabytes, rate = numbers["Total data written"], 1e6 * numbers["I/O data rate"]
    except KeyError as error:
        raise failure("unreadable", output) from error
    if abs(megabytes * 1e6 - about.data) > 10_000:
        raise failure("contradictory", output, first=f"{megabytes:g} MB", second=f"{about.data} B")
    exact = about.data / rate if rate else math.inf
    if abs(exact - printed) > 0.01 + 0.01 * printed:
        raise failure("contradictory", output, first=f"{rate:g} B/s", second=f"{printed:g} s")
    return exact, share, rate, about.data


def _why_not(output: Output, text: str, verdict: str) -> ToolFailure:
    for pattern, reason in _PROBLEMS:
        match = pattern.search(text)
        if match:
            return failure(reason, output, said=" ".join(match[0].split())[:200])
    if verdict:
        return failure("verification", output, said=f"Verification = {verdict[:40]}")
    if TITLE.search(text) and " Time step" in text and "MPI_ABORT" not in text:
        return failure("no-result", output, said=text.strip().splitlines()[-1][:200])
    return launchers.why_none(output, text)


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())[:40]
