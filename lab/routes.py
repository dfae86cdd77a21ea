"""The way from every switch to every other subnet: the fewest links, chosen once and set as static routes."""

from collections import deque
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from lab.spec import Lab, Link, Switch


@dataclass(frozen=True)
class Route:
    """A route of a switch: a subnet is reached through a neighbour's address."""

    to: IPv4Network
    via: IPv4Address


def addresses_of(link: Link) -> tuple[IPv4Address, IPv4Address]:
    """Return the addresses of a link's two ends, in the order of its ends."""
    return link.subnet[1], link.subnet[2]


def routes_from(switch: Switch, lab: Lab) -> list[Route]:
    """Return a switch's routes to every subnet within reach that is not its own; breadth first, so fewest links."""
    first_hops: dict[str, IPv4Address] = {}
    reached = {switch.name}
    waiting = deque([switch])
    while waiting:
        here = waiting.popleft()
        for link in lab.links:
            for there, address in _other_end(link, here):
                if there.name not in reached:
                    reached.add(there.name)
                    first_hops[there.name] = first_hops.get(here.name, address)
                    waiting.append(there)
    own = {link.subnet for link in lab.links if switch in link.ends}
    routes = [Route(other.subnet, first_hops[other.name]) for other in lab.switches if other.name in first_hops]
    for link in lab.links:
        near = [end.name for end in link.ends if end.name in first_hops]
        if link.subnet not in own and near:
            routes.append(Route(link.subnet, first_hops[near[0]]))
    return routes


def _other_end(link: Link, switch: Switch) -> list[tuple[Switch, IPv4Address]]:
    a, b = link.ends
    address_of_a, address_of_b = addresses_of(link)
    return [(b, address_of_b)] if switch == a else [(a, address_of_a)] if switch == b else []
