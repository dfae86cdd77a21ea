"""The plan of a parallel program that writes files, and why it gave no result."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import launchers, texts
from apps.bench.outputs.failures import failure
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, NodeRef, Output, Params, Plan, ToolFailure
from apps.bench.tools._mpi import options, placement, run
from apps.bench.tools._mpi.launch import ROLE, Launch
from apps.bench.tools._storage import errors, places

PARAMETERS = (
    options.RANKS,
    *options.SHARED_PARAMETERS,
    placement.NODE_PLACEMENT,
    placement.CORE_PLACEMENT,
    places.FOLDER,
    places.PAGE_POOL,
    places.TIME_LIMIT,
)
# Programs beside the benchmark's own; which launcher is needed depends on the parameters.
PROGRAMS = (places.CHECK_PROGRAM, places.CLEAN_PROGRAM)

_OPTION = re.compile(r"^Error invalid argument: (-{1,2}[\w.-]{1,60})", re.M | re.A)
_WRONG = re.compile(
    r"^ERROR: (.{0,400}?(?:must be|multiple of|not supported|invalid|cannot be|unrecognized).{0,400}?), \(", re.M
)
_TROUBLE = re.compile(r"^(?:ERROR|WARNING): (?!The file|Read bytes|Backend|assume).*(?:\n nfs error.*)?", re.M)
_DAMAGE = re.compile(r"^.*(?:[Ii]ncorrect data|errors? found|data check error).*$", re.M)


def check(params: Params) -> dict[str, Message]:
    """Return what is wrong with the parameters that both have."""
    return options.check(params) | places.check_folder(params)


def make_plan(
    params: Params, nodes: Mapping[str, Sequence[NodeRef]], name: str, argv: Sequence[str], option: str
) -> Plan:
    """Return the check of the mounts, the launch, and the clean-up; `option` is that of the path to write to."""
    players = run.nodes_of(params, nodes)
    path = places.path_of(players[0], params, f"{name}-0")
    launch = Launch(
        nodes=players,
        slots=run.slots_of_ranks(params, params["ranks"], players),
        argv=(f"{{program:{name}}}", *argv, option, path),
        params=params,
        time_limit_s=params["time_limit"] + run.start_time_s(params["ranks"]),
    )
    # With Slurm only the node that hands the job in has an agent of ours.
    mounted_on = players[:1] if params["launcher"] == options.SLURM else players
    # A file for each process has its rank behind the name.
    own = [path, *(f"{path}.{rank:08d}" for rank in range(params["ranks"]) if params.get("file_per_process"))]
    return run.make_plan(
        launch,
        before=[places.check_stage(mounted_on, params, ROLE)],
        after=[places.clean_stage([own], ROLE)],
    )


def read_output(outputs: Sequence[Output], params: Params) -> tuple[Output, str]:
    """Return the launcher's output and its text; ToolFailure if it tells of anything that went wrong."""
    output = run.measured(outputs, params)
    text = texts.read_text(output)
    if refused := _OPTION.search(text):
        raise failure("unknown-option", output, option=refused[1])
    if wrong := _WRONG.search(text):
        raise failure("bad-parameter", output, said=wrong[1][:200])
    if damage := _DAMAGE.search(text):
        raise failure("damaged-data", output, said=damage[0].strip()[:200])
    for trouble in _TROUBLE.finditer(text):
        problem = errors.explain(output, trouble[0], direct=bool(params.get("direct")))
        if problem:
            raise problem
        if trouble[0].startswith("ERROR"):
            raise failure("no-result", output, said=trouble[0][:200].strip())
    return output, text


def why_none(output: Output, text: str) -> ToolFailure:
    """Return why an output holds no result."""
    if output.timed_out:
        return failure("timed-out", output)
    problem = launchers.why_none(output, text)
    if problem.code == "no-result" and output.signal is not None:
        return failure("signalled", output, signal=output.signal)
    return problem


def flags_of(params: Params, tasks: int | None) -> tuple[Flag, ...]:
    """Return a doubt if other ranks took part than were asked for."""
    if tasks is None or tasks == params["ranks"]:
        return ()
    text = _("%(tasks)s ranks took part, and %(asked)s were asked for.")
    return (Flag("ranks-differ", "invalid", Message(text, {"tasks": tasks, "asked": params["ranks"]})),)
