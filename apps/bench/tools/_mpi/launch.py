"""One parallel program as it is to be started, and what a launcher has to be able to do."""

import abc
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from apps.bench import strict_json
from apps.bench.toolkit import Command, NodeRef, Output, Params, Stage
from apps.bench.tools._mpi.maps import ASKED, Got
from apps.bench.tools._mpi.options import TRANSPORTS
from apps.bench.tools._mpi.placement import RankSlot
from apps.bench.tools._mpi.topology import topology_of

ROLE = "node"


@dataclass(frozen=True, kw_only=True)
class Launch:
    """`argv` run once for each of the `slots`, whose node indices count in `nodes`.

    The launcher itself runs on the first node. `params` are the tool's, of which the launcher takes those of
    `options`; `directory` is where the ranks are to work ("" leaves it to the launcher); `files` are put beside the
    launcher, and those named in `collect` given back.
    """

    nodes: tuple[NodeRef, ...]
    slots: tuple[RankSlot, ...]
    argv: tuple[str, ...]
    params: Params
    time_limit_s: float
    directory: str = ""
    files: tuple[tuple[str, str], ...] = ()
    collect: tuple[str, ...] = ()
    stage: str = "measure"
    together: bool = field(default=False)

    @property
    def is_bound(self) -> bool:
        """Return whether each rank is to be bound to a core."""
        return all(slot.core for slot in self.slots)

    @property
    def used(self) -> list[int]:
        """Return the indices of the nodes that ranks run on, in the order of their first ranks."""
        return list(dict.fromkeys(slot.node for slot in self.slots))

    @property
    def counts(self) -> dict[int, int]:
        """Return how many ranks run on each of the nodes used."""
        return {index: sum(slot.node == index for slot in self.slots) for index in self.used}

    @property
    def is_cyclic(self) -> bool:
        """Return whether consecutive ranks run on different nodes."""
        return len(self.used) > 1 and self.slots[0].node != self.slots[1].node

    def cpus_of(self, index: int) -> list[str]:
        """Return the first hardware thread of each rank's core on a node, in the order of its ranks."""
        return [str(slot.core.cpus[0]) for slot in self.slots if slot.node == index and slot.core]

    def asked(self) -> str:
        """Return the map of ranks that is asked for, as the file that travels with the job and comes back."""
        nodes = [
            {
                "name": node.name,
                "hosts": hosts_of(node),
                "cores": {core.label: list(core.cpus) for core in topology.cores} if topology else {},
            }
            for node, topology in ((node, topology_of(node)) for node in self.nodes)
        ]
        ranks = [{"node": slot.node, "core": slot.core.label if slot.core else ""} for slot in self.slots]
        return strict_json.dumps({"nodes": nodes, "ranks": ranks})


class Launcher(abc.ABC):
    """One way to start the ranks of a parallel program."""

    name: ClassVar[str]
    label: ClassVar[str]
    program: ClassVar[str]
    # Others that its stages start.
    programs: ClassVar[tuple[str, ...]] = ()

    @abc.abstractmethod
    def command(self, launch: Launch) -> Command:
        """Return the command that starts the ranks."""

    def before(self, launch: Launch) -> tuple[Stage, ...]:
        """Return the stages that have to come first."""
        return ()

    def after(self, launch: Launch) -> tuple[Stage, ...]:
        """Return the stages that have to follow."""
        return ()

    @abc.abstractmethod
    def read_map(self, outputs: Sequence[Output], output: Output) -> Got:
        """Return where the ranks of an output really ran, as far as the outputs tell."""


def make_command(
    launch: Launch,
    argv: Sequence[str],
    files: Sequence[tuple[str, str]] = (),
) -> Command:
    """Return a launcher's command on the first node, with the map that was asked for beside it."""
    return Command(
        role=ROLE,
        node_index=0,
        argv=tuple(argv),
        time_limit_s=launch.time_limit_s,
        files=((ASKED, launch.asked()), *files, *launch.files),
        collect=(ASKED, *launch.collect),
        environment=_variables(launch),
    )


def _variables(launch: Launch) -> tuple[tuple[str, str], ...]:
    """Return what makes the libraries use the transport that is asked for, TCP over the data plane where it is known.

    UCX takes the interfaces of all nodes in one list and leaves out those that a node has not.
    """
    variables = TRANSPORTS[launch.params["transport"]]
    names = {_data_plane_of(launch.nodes[index])[0] for index in {0, *launch.used}}
    if not variables or launch.used == [0] or "" in names:
        return variables
    return (*variables, ("UCX_NET_DEVICES", ",".join(sorted(names))))


def hosts_of(node: NodeRef) -> list[str]:
    """Return the names by which launchers may call a node: its host name, whole and short, its name, its address."""
    name_in_facts = node.facts.get("hostname") if isinstance(node.facts, Mapping) else None
    hostname = name_in_facts if isinstance(name_in_facts, str) else ""
    return [name for name in dict.fromkeys((hostname, hostname.partition(".")[0], node.name, node.address)) if name]


def networks_of(nodes: Sequence[NodeRef]) -> list[str]:
    """Return the networks of the nodes' data-plane addresses, none if the facts do not tell all of them."""
    networks = [_network_of(node) for node in nodes]
    return sorted({network for network in networks if network}) if all(networks) else []


def interface_of(nodes: Sequence[NodeRef]) -> str:
    """Return the interface of the nodes' data-plane addresses, "" if they call it differently or do not tell."""
    names = {_data_plane_of(node)[0] for node in nodes}
    return names.pop() if len(names) == 1 else ""


def _network_of(node: NodeRef) -> str:
    return _data_plane_of(node)[1]


def _data_plane_of(node: NodeRef) -> tuple[str, str]:
    """Return the interface and the network of a node's address, "" for both if its facts do not tell."""
    interfaces = node.facts.get("interfaces") if isinstance(node.facts, Mapping) else None
    for interface in interfaces if isinstance(interfaces, list) else []:
        addresses = interface.get("addresses") if isinstance(interface, Mapping) else None
        for address in addresses if isinstance(addresses, list) else []:
            try:
                interface_address = ipaddress.ip_interface(address)
            except ValueError:
                continue
            if str(interface_address.ip) == node.address and interface_address.version == 4:
                name = interface.get("name")
                return name if isinstance(name, str) else "", str(interface_address.network)
    return "", ""


def runs_as_root(node: NodeRef) -> bool:
    """Return whether the node's agent runs its jobs as root."""
    agent = node.facts.get("agent") if isinstance(node.facts, Mapping) else None
    return isinstance(agent, Mapping) and agent.get("job_user") == "root"
