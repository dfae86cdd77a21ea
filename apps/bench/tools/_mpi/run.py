"""From a tool's parameters and nodes to the stages of a parallel run, and back from the outputs to what happened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Flag, NodeRef, Output, Params, Plan, Stage
from apps.bench.tools._mpi import launchers, slurm
from apps.bench.tools._mpi.launch import ROLE, Launch
from apps.bench.tools._mpi.maps import compare, read_asked
from apps.bench.tools._mpi.options import SLURM
from apps.bench.tools._mpi.placement import FREE, OTHER_NODE, RankSlot, place_group, place_pairs, place_ranks

Json = dict[str, Any]

# Logging in to other nodes and starting the ranks; large jobs take longer than small ones.
START_S = 30.0
START_PER_RANK_S = 0.2


@dataclass(frozen=True)
class Started:
    """What is known of how ranks were started: the maps asked for and got, time in the queue, and doubts."""

    requested: Json
    observed: Json
    flags: tuple[Flag, ...]
    samples: dict[str, float | None]


def nodes_of(params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> tuple[NodeRef, ...]:
    """Return the nodes that ranks may run on; with Slurm, the log-in node and nameless ones that it will choose."""
    candidates = tuple(nodes[ROLE])
    if params["launcher"] == SLURM:
        count = params["clients"] or len(candidates)
        return tuple(replace(candidates[0], name=f"#{index}", facts={}) for index in range(count))
    return candidates[: params["clients"]] if params["clients"] else candidates


def slots_of_pairs(params: Params, pairs: int, nodes: Sequence[NodeRef]) -> tuple[RankSlot, ...]:
    """Return the places of pairs, senders first; Slurm binds by its own order of sockets."""
    if params["launcher"] == SLURM:
        placement = OTHER_NODE if params["placement"] == OTHER_NODE else FREE
        involved = nodes if params["placement"] in (OTHER_NODE, FREE) else nodes[:1]
        return place_pairs(placement, 0, pairs, involved)
    return place_pairs(params["placement"], params["distance"], pairs, nodes)


def slots_of_group(params: Params, ranks: int, nodes: Sequence[NodeRef]) -> tuple[RankSlot, ...]:
    """Return the places of the ranks of a collective."""
    if params["launcher"] == SLURM:
        one = params["placement"] not in (OTHER_NODE, FREE)
        return place_group(
            OTHER_NODE if params["placement"] == OTHER_NODE else FREE, ranks, nodes[:1] if one else nodes
        )
    return place_group(params["placement"], ranks, nodes)


def slots_of_ranks(params: Params, ranks: int, nodes: Sequence[NodeRef]) -> tuple[RankSlot, ...]:
    """Return the places of ranks by node placement (BAL, UNBAL) and core placement (DIST, ACC)."""
    core_placement = FREE if params["launcher"] == SLURM else params["core_placement"]
    return place_ranks(ranks, params["node_placement"], core_placement, nodes)


def make_plan(launch: Launch, *, before: Sequence[Stage] = (), after: Sequence[Stage] = ()) -> Plan:
    """Return the plan of one launch, with the tool's own stages around it."""
    launcher = launchers.get(launch.params["launcher"])
    measure = Stage(launch.stage, (launcher.command(launch),), launch.together)
    return Plan((*before, *launcher.before(launch), measure, *launcher.after(launch), *after))


def start_time_s(ranks: int) -> float:
    """Return how long starting so many ranks may take."""
    return START_S + START_PER_RANK_S * ranks


def measured(outputs: Sequence[Output], params: Params, stage: str = "measure") -> Output:
    """Return the launcher's output; a ToolFailure says that ranks were never started, and why."""
    launches = [output for output in outputs if output.stage == stage]
    output = launches[-1] if launches else None
    if params["launcher"] == SLURM:
        problem = slurm.why_none(outputs, output)
        if problem:
            raise problem
    if output is None:
        raise failure("not-run", None, role=ROLE)
    return output


def started(outputs: Sequence[Output], output: Output, params: Params) -> Started:
    """Return the maps, flags and the time in the queue of an output."""
    launcher = launchers.get(params["launcher"])
    by_scheduler = params["launcher"] == SLURM
    requested, observed, flags = compare(
        read_asked(output), launcher.read_map(outputs, output), any_hosts=by_scheduler
    )
    queued = slurm.read_queue(outputs, output) if by_scheduler else None
    samples: dict[str, float | None] = {}
    if queued:
        samples["queue_time"] = queued.queue_time
        observed["job"] = {
            "id": queued.job_id,
            "state": queued.state,
            "reason": queued.reason,
            "run_time": queued.run_time,
            "nodes": list(queued.nodes),
        }
    return Started(requested, observed, flags, samples)
