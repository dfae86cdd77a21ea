"""Describe the demo's ground over REST: what is there already is used again."""

from typing import Any

from launch.demo.ground import Ground
from launch.demo.rest import Rest

Json = dict[str, Any]


def describe(api: Rest, ground: Ground) -> dict[str, int]:
    """Make what is not there yet (all that a lab's inventory file holds); return {node name: id} of its nodes."""
    if ground.inventory:
        # What is there already is described as it was.
        api.post("inventory/", {"inventory": ground.inventory}, find=lambda: None)
        known = {row["name"]: row["id"] for row in api.every("nodes/")}
        return {place.name: known[place.name] for place in ground.places}
    nodes = {}
    for place in ground.places:
        site = _ensure(api, "sites", {"name": place.site})
        notes = "Addresses of one machine."
        testbed = _ensure(api, "testbeds", {"name": f"{place.site} nodes", "site": site, "notes": notes})
        addresses = [{"address": place.address, "interface": place.interface}]
        nodes[place.name] = _ensure(api, "nodes", {"name": place.name, "testbed": testbed, "addresses": addresses})
    return nodes


def _ensure(api: Rest, kind: str, body: Json) -> int:
    def find() -> Json | None:
        return next((row for row in api.every(f"{kind}/") if row["name"] == body["name"]), None)

    return (find() or api.post(f"{kind}/", body, find=find))["id"]
