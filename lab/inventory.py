"""A lab as data: its state file, with the facts that an inventory needs."""

import shutil
import time
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from lab.file_systems.assembly import describe as words_for
from lab.file_systems.spec import BLOCK_BYTES, Disk, FileSystem, Nfs
from lab.rooms import Room
from lab.services import Service
from lab.spec import Lab, Node
from lab.state import REMOTE, Place, State


def management_address(subnet: IPv4Network, number: int) -> IPv4Address:
    """Return the management address of the node of this number; the bridge has the first."""
    return subnet[2 + number]


def describe(
    lab: Lab,
    place: Place,
    management: IPv4Network,
    pids: Mapping[str, int | None],
    rooms: Mapping[str, Room],
    services: Sequence[Service],
) -> State:
    """Return a lab's state: rates in bit/s, times in seconds, sizes in bytes.

    A link of the kind "emulated" joins two switches and has a process (None: the kernel's netem); one of the kind
    "access" joins a node to its switch, adds no delay, and its capacity is not limited (None). A node's `prefix`
    stands before a command to run it there; its `programs` {name: path}, `settings` and `user` are what its agent may
    do.
    """
    return {
        "lab": lab.name,
        "description": lab.description,
        "file": str(lab.path.resolve()),
        "digest": lab.digest,
        "built_at": time.time(),
        "management": {
            "bridge": place.interface_prefix + "br",
            "address": str(management[1]),
            "subnet": str(management),
        },
        "inventory": str(place.inventory_file.resolve()),
        "sites": sorted({switch.site for switch in lab.switches}),
        "switches": [
            {
                "name": switch.name,
                "site": switch.site,
                "netns": place.namespace_of(switch.name),
                "address": str(switch.gateway),
                "subnet": str(switch.subnet),
                "mtu": switch.mtu,
            }
            for switch in lab.switches
        ],
        "nodes": [
            {
                "name": node.name,
                "site": node.switch.site,
                "switch": node.switch.name,
                "netns": place.namespace_of(node.name),
                "data_addresses": [str(node.address)],
                "data_interface": "data0",
                "management_address": str(management_address(management, number)),
                "management_interface": "mgmt0",
                "mtu": node.switch.mtu,
                "prefix": list(rooms[node.name].prefix),
                "programs": allowed_programs(node, place),
                "remote_shells": [REMOTE] if REMOTE in node.allowance.programs else [],
                "settings": list(node.allowance.settings),
                "user": node.allowance.user,
                "paths": [str(item.path) for item in lab.file_systems if node in item.clients],
            }
            for number, node in enumerate(lab.nodes)
        ],
        "clusters": {name: [node.name for node in nodes] for name, nodes in clusters_of(lab).items()},
        "file_systems": [_file_system(item, lab) for item in lab.file_systems],
        "slurm": _slurm(lab),
        "services": [service.as_state() for service in services],
        "links": [
            {
                "name": f"{node.name} to {node.switch.name}",
                "kind": "access",
                "between": [node.name, node.switch.name],
                "capacity_bps": None,
                "rtt_s": 0.0,
                "mtu": node.switch.mtu,
            }
            for node in lab.nodes
        ]
        + [
            {
                "name": link.name,
                "kind": "emulated",
                "between": [end.name for end in link.ends],
                "capacity_bps": link.capacity_bps,
                "rtt_s": link.rtt_s,
                "mtu": link.mtu,
                "queue_bytes": link.queue_bytes,
                "loss": link.loss,
                "pid": pids[link.name],
                "log": str(place.folder.resolve() / f"link-{number}.log"),
            }
            for number, link in enumerate(lab.links)
        ],
    }


def allowed_programs(node: Node, place: Place) -> dict[str, str]:
    """Return the further programs that the node's agent may run and that are there: {name: path}."""
    paths = {name: str(path) if path else shutil.which(name) for name, path in node.allowance.programs.items()}
    if REMOTE in paths:
        paths[REMOTE] = str(place.doors / REMOTE)
    return {name: path for name, path in paths.items() if path}


def clusters_of(lab: Lab) -> dict[str, tuple[Node, ...]]:
    """Return the clusters of the file, and one for each group of nodes that serves or mounts something."""
    clusters = dict(lab.clusters)
    for item in lab.file_systems:
        for suffix, nodes in (("servers", item.servers), ("clients", item.clients)):
            if not any(_are_same(nodes, others) for others in clusters.values()):
                clusters[nodes[0].name if len(nodes) == 1 else f"{item.name} {suffix}"] = nodes
    return clusters


def _cluster_name(nodes: Sequence[Node], lab: Lab) -> str:
    return next(name for name, others in clusters_of(lab).items() if _are_same(nodes, others))


def _are_same(nodes: Sequence[Node], others: Sequence[Node]) -> bool:
    return {node.name for node in nodes} == {node.name for node in others}


def _file_system(item: FileSystem, lab: Lab) -> dict[str, Any]:
    is_disk, is_nfs = isinstance(item, Disk), isinstance(item, Nfs)
    kind = "xfs" if isinstance(item, Disk) and item.format == "xfs" else "ext"
    return {
        "name": item.name,
        "kind": kind if is_disk else "nfs" if is_nfs else "glusterfs",
        "path": str(item.path),
        "servers": [node.name for node in item.servers],
        "clients": [node.name for node in item.clients],
        "server_cluster": _cluster_name(item.servers, lab),
        "client_cluster": _cluster_name(item.clients, lab),
        "block_size_bytes": BLOCK_BYTES if is_disk else None,
        "disks": words_for(item),
    }


def _slurm(lab: Lab) -> dict[str, Any] | None:
    if lab.slurm is None:
        return None
    nodes = [node.name for node in lab.slurm.nodes]
    return {"login": lab.slurm.login.name, "nodes": nodes, "cpus": lab.slurm.cpus, "partition": lab.slurm.partition}
