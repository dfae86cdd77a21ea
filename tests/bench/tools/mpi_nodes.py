"""Nodes with sockets and cores for tests of placement, and outputs that such runs give."""

import dataclasses

from apps.bench import tools
from apps.bench.toolkit import NodeRef, Output


def topology(sockets=2, cores=4, threads=1, distances=None):
    """Return the facts of a machine; hardware threads of a core are numbered as Linux does, after all first ones."""
    rows = [
        [thread * sockets * cores + socket * cores + core, socket, core, socket]
        for thread in range(threads)
        for socket in range(sockets)
        for core in range(cores)
    ]
    ring = [[10 if one == other else 20 for other in range(sockets)] for one in range(sockets)]
    return {"cpus": rows, "numa_distances": {str(index): row for index, row in enumerate(distances or ring)}}


def node(name, address="", **facts):
    """Return a node whose agent has told its host name, which is the node's own, and whatever is given."""
    return NodeRef(name, address or f"10.0.0.{ord(name[-1]) - 96}", facts={"hostname": name, **facts})


def pair_of_nodes(**shape):
    return [node("a", topology=topology(**shape)), node("b", topology=topology(**shape))]


def plan(slug, nodes, **params):
    tool = tools.get(slug)
    return tool.plan(tool.clean(params), {"node": list(nodes)})


def command(slug, nodes, stage="measure", **params):
    """Return the only command of a stage."""
    (found,) = [item for item in plan(slug, nodes, **params).stages if item.name == stage]
    (only,) = found.commands
    return only


def answered(cmd, stdout, stderr=b"", stage="measure", **changes):
    """Return what a command gives back that printed so, with the map it was started with beside it."""
    files = {name: text.encode() for name, text in cmd.files if name in cmd.collect}
    output = Output("node", stage, "a", cmd.argv, stdout, stderr, 0, collected=files)
    return dataclasses.replace(output, **changes)
