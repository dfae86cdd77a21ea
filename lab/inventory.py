"""A lab as data: its state file, with the facts that an inventory needs."""

import time
from ipaddress import IPv4Address, IPv4Network

from lab.spec import Lab
from lab.state import Place, State


def management_address(subnet: IPv4Network, number: int) -> IPv4Address:
    """Return the management address of the node of this number; the bridge has the first."""
    return subnet[2 + number]


def describe(lab: Lab, place: Place, management: IPv4Network, pids: dict[str, int]) -> State:
    """Return a lab's state: rates in bit/s, times in seconds, sizes in bytes.

    A link of the kind "emulated" joins two switches and has a process; one of the kind "access" joins a node to its
    switch, adds no delay, and its capacity is not limited (None).
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
            }
            for number, node in enumerate(lab.nodes)
        ],
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
