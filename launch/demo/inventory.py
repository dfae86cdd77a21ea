"""Describe the demo's ground over REST: what is there already is used again."""

from typing import Any

from launch.demo.ground import Ground
from launch.demo.rest import Rest

Json = dict[str, Any]


def describe(api: Rest, ground: Ground) -> dict[str, int]:
    """Make sites, testbeds, switches, nodes and links that are not there yet; return {node name: id}."""
    sites = {name: _ensure(api, "sites", {"name": name}) for name in {place.site: None for place in ground.places}}
    switches = {name: _ensure(api, "switches", {"name": name, "site": sites[site]}) for name, site in ground.switches}
    nodes = {}
    for place in ground.places:
        testbed = _ensure(
            api,
            "testbeds",
            {
                "name": f"{place.site} nodes",
                "site": sites[place.site],
                "notes": "Network namespaces of one machine." if ground.is_lab else "Addresses of one machine.",
            },
        )
        addresses = [{"address": place.address, "interface": place.interface}]
        nodes[place.name] = _ensure(api, "nodes", {"name": place.name, "testbed": testbed, "addresses": addresses})
    for link in ground.links:
        ends = {}
        for end, name in zip("ab", link["between"], strict=True):
            kind, known = ("node", nodes) if name in nodes else ("switch", switches)
            ends[f"{end}_{kind}"] = known[name]
        figures = {key: link[key] for key in ("capacity_bps", "rtt_s", "mtu")}
        _ensure(api, "links", {"name": link["name"], **ends, **figures})
    return nodes


def _ensure(api: Rest, kind: str, body: Json) -> int:
    for row in api.every(f"{kind}/"):
        if row["name"] == body["name"]:
            return row["id"]
    return api.post(f"{kind}/", body)["id"]
