"""A lab's state as an inventory file that the service imports."""

from typing import Any

import yaml

from lab.state import State

# Virtual Ethernet has no rate of its own; without a figure, no path through it has a bottleneck.
ACCESS_BPS = 10_000_000_000


def text_of(state: State) -> str:
    """Return the file."""
    return yaml.safe_dump(_document(state), sort_keys=False, allow_unicode=True, width=118)


def _document(state: State) -> dict[str, Any]:
    notes = f"Emulated: the lab {state['lab']} of network namespaces on one machine."
    switches = {switch["name"] for switch in state["switches"]}
    return {
        "version": 1,
        "sites": [{"name": site} for site in state["sites"]],
        "testbeds": [
            {"name": testbed_of(site), "site": site, "notes": notes}
            for site in state["sites"]
            if any(node["site"] == site for node in state["nodes"])
        ],
        "nodes": [
            {
                "name": node["name"],
                "testbed": testbed_of(node["site"]),
                "addresses": [
                    {"address": address, "interface": node["data_interface"]} for address in node["data_addresses"]
                ],
            }
            for node in state["nodes"]
        ],
        "switches": [{"name": switch["name"], "site": switch["site"]} for switch in state["switches"]],
        "links": [_link(link, switches) for link in state["links"]],
        "clusters": [{"name": name, "nodes": nodes} for name, nodes in state["clusters"].items()],
        "file_systems": [_file_system(item) for item in state["file_systems"]],
    }


def testbed_of(site: str) -> str:
    """Return the name of the testbed of a site's nodes."""
    return f"{site} nodes"


def _link(link: dict[str, Any], switches: set[str]) -> dict[str, Any]:
    ends = {
        end: {"switch" if name in switches else "node": name} for end, name in zip("ab", link["between"], strict=True)
    }
    figures = {
        "capacity": str(int(link["capacity_bps"] or ACCESS_BPS)),
        "rtt": str(link["rtt_s"]),
        "mtu": link["mtu"],
    }
    return {"name": link["name"], **ends, **figures}


def _file_system(item: dict[str, Any]) -> dict[str, Any]:
    block = {"block_size": str(item["block_size_bytes"])} if item["block_size_bytes"] else {}
    return {
        "name": item["name"],
        "kind": item["kind"],
        "server_cluster": item["server_cluster"],
        "mount_path": item["path"],
        **block,
        "disks": item["disks"],
        "mounted_by": [item["client_cluster"]],
    }
