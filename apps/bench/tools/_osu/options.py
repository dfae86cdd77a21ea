"""The options of the OSU micro-benchmarks, the commands they make, and how long these take."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench.outputs import reconstruction, texts
from apps.bench.text import Message, _
from apps.bench.toolkit import NodeRef, Output, Parameter, Params, Plan, Tool, TrialEstimate, Value
from apps.bench.tools._mpi import options, recovery, run
from apps.bench.tools._mpi.launch import Launch
from apps.bench.tools._mpi.placement import DISTANCE, FREE, OTHER_NODE, PLACEMENT

PAIRWISE = {"osu_latency", "osu_bw", "osu_bibw"}
MULTIPLE = {"osu_mbw_mr", "osu_multi_lat"}
SIZELESS = {"osu_barrier"}
# What the programs take without -m: 4 MiB between two ranks, 1 MiB for collectives.
LARGEST, LARGEST_COLLECTIVE = 4 * 1024**2, 1024**2
# Many collectives need a buffer of size x ranks on each rank; above this the program stops without -M.
_MEMORY = 512 * 1024**2

MESSAGE_SIZE = Parameter(
    "message_size",
    "size",
    _("Message size"),
    help=_("The size whose figure is the result; the table of all sizes is kept beside it. 0 takes the largest."),
    default=0,
    zero=_("the largest"),
    unit="B",
    minimum=0,
    maximum=2**30,
)
MIN_SIZE = Parameter("min_size", "size", _("Smallest message"), default=1, unit="B", minimum=1, maximum=2**30)
MAX_SIZE = Parameter("max_size", "size", _("Largest message"), default=2**20, unit="B", minimum=1, maximum=2**30)
ITERATIONS = Parameter(
    "iterations",
    "integer",
    _("Iterations"),
    help=_("Messages of each size; 0 leaves it to the benchmark, which sends fewer of large ones."),
    default=0,
    zero=_("left to the program"),
    unit="count",
    minimum=0,
    maximum=100_000_000,
)
WARMUP = Parameter(
    "warmup",
    "integer",
    _("Warm-up"),
    help=_("Messages of each size that do not count; 0 leaves it to the benchmark."),
    default=0,
    zero=_("left to the program"),
    unit="count",
    minimum=0,
    maximum=1_000_000,
    advanced=True,
)
VALIDATE = Parameter(
    "validate",
    "boolean",
    _("Check the data"),
    help=_("Compare what arrives with what was sent (version 7 and later); slower."),
    default=False,
    advanced=True,
)
SHARED = (MESSAGE_SIZE, MIN_SIZE, MAX_SIZE, ITERATIONS, WARMUP, VALIDATE, PLACEMENT, DISTANCE)


def is_power_of_two(number: int) -> bool:
    """Return whether a number is a power of two."""
    return number > 0 and number & (number - 1) == 0


def check(params: Params, *, sizeless: bool = False) -> dict[str, Message]:
    """Refuse sizes that the table will not hold."""
    errors = options.check(params)
    if params["min_size"] > params["max_size"]:
        errors["min_size"] = Message(_("The smallest message is larger than the largest."))
    elif not sizeless and params["message_size"] and not _is_in_table(params):
        text = _("The table holds %(least)s B and its doubles up to %(most)s B: choose one of these.")
        errors["message_size"] = Message(text, {"least": params["min_size"], "most": params["max_size"]})
    return errors


def _is_in_table(params: Params) -> bool:
    size, minimum = params["message_size"], params["min_size"]
    return minimum <= size <= params["max_size"] and size % minimum == 0 and is_power_of_two(size // minimum)


def make_plan(params: Params, nodes: Mapping[str, Sequence[NodeRef]], words: Sequence[str], ranks: int) -> Plan:
    """Return the plan of a benchmark with its own `words`; `ranks` run on their own or in pairs."""
    benchmark = params["benchmark"]
    usable = run.nodes_of(params, nodes)
    if benchmark in PAIRWISE | MULTIPLE:
        slots = run.slots_of_pairs(params, ranks // 2, usable)
    else:
        slots = run.slots_of_group(params, ranks, usable)
    argv = [f"{{program:{benchmark}}}"]
    if benchmark not in SIZELESS:
        argv += ["-m", f"{params['min_size']}:{params['max_size']}"]
        if benchmark not in PAIRWISE | MULTIPLE:
            argv += ["-M", str(max(_MEMORY, 2 * ranks * params["max_size"]))]
    for name, option in (("iterations", "-i"), ("warmup", "-x")):
        argv += [option, str(params[name])] if params[name] else []
    argv += ["-c"] if params["validate"] else []
    launch = Launch(
        nodes=usable,
        slots=slots,
        argv=(*argv, *words),
        params=params,
        time_limit_s=_time_limit_s(params, ranks),
    )
    return run.make_plan(launch)


def _time_limit_s(params: Params, ranks: int) -> float:
    """Return far more than a benchmark takes on a slow path: it is to end a hanging one, not a slow one."""
    return run.start_time_s(ranks) + 20 * duration_s(params) + 120


def duration_s(params: Params) -> float:
    """Return a guess of the time that the benchmark takes: a tenth of a second a size, more for large ones."""
    steps = max(1, (max(params["max_size"], 1) // max(params["min_size"], 1)).bit_length())
    return 1.0 + 0.15 * steps + params["max_size"] * 1e-6


def make_estimate(params: Params, ranks: int) -> TrialEstimate:
    """Return the time, and how many pairs may send across a link at once."""
    across = params["placement"] in (FREE, OTHER_NODE)
    return TrialEstimate(duration_s(params) + 1.0, streams=max(1, ranks // 2) if across else 0)


# A row of the table begins with the size of its messages.
_SIZES = re.compile(r"^([1-9]\d{0,11})(?= +\d+\.\d)", re.M | re.A)


def recover(tool: Tool, output: Output, program: str, fixed: Mapping[str, Any]) -> dict[str, Value]:
    """Return the parameters that an output found in an archive was made with."""
    collective = program not in PAIRWISE | MULTIPLE
    valued = {
        **dict.fromkeys(("-m", "--message-size"), "sizes"),
        **dict.fromkeys(("-i", "--iterations"), "iterations"),
        **dict.fromkeys(("-x", "--warmup"), "warmup"),
        **dict.fromkeys(("-W", "--window-size"), "window"),
    }
    flags = dict.fromkeys(("-c", "--validation"), "validate")
    options_found = reconstruction.read_options(recovery.words_of(output.argv, program), valued, flags)
    minimum, _colon, maximum = options_found.pop("sizes", "").rpartition(":")
    is_known = reconstruction.is_known(output.argv)
    # Without its command line a table that ends early is as good as one that was to.
    sizes = [int(size) for size in _SIZES.findall(texts.read_text(output))]
    usual = LARGEST_COLLECTIVE if collective else LARGEST
    raw: dict[str, Any] = {
        "benchmark": program or None,
        "min_size": minimum or (1 if is_known else min(sizes, default=None)),
        "max_size": maximum or (usual if is_known else max(sizes, default=None)),
        "ranks": recovery.ranks_of(output.argv),
        "launcher": recovery.launcher_of(output.argv, texts.read_text(output)),
        "placement": FREE if is_known else None,
        **options_found,
        **fixed,
    }
    return reconstruction.keep_valid(tool, raw)
