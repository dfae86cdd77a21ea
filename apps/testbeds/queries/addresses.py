"""Which addresses count as their nodes': the one place that says whom agents may be told to call."""

import ipaddress
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.utils.module_loading import import_string

from apps.testbeds.models import Node, NodeAddress


@dataclass(frozen=True)
class Standing:
    """An address of a node, and whether the node's own agent reports it among those of its interfaces."""

    row: NodeAddress
    is_reported: bool

    @property
    def counts(self) -> bool:
        """Say whether agents may be told to call it: the node's agent reports it, or a manager confirmed it.

        Every operator enters addresses, and by them alone nodes would send to whoever has one of them.
        """
        return self.is_reported or self.row.is_confirmed


def standings(rows: Iterable[NodeAddress]) -> list[Standing]:
    """Return how addresses stand, in one query more.

    The inventory knows nothing of agents: NODE_REPORTS (nodes) names a function that does, and returns {node:
    addresses of its interfaces, each as Python writes it}.
    """
    listed = list(rows)
    reports = import_string(settings.NODE_REPORTS)(nodes={row.node_id for row in listed}) if listed else {}
    return [Standing(row, _is_reported(row, reports)) for row in listed]


def counting(*, teams: Collection[int], addresses: Collection[str]) -> set[str]:
    """Return those of the addresses that count as one of a node of these teams."""
    rows = NodeAddress.objects.filter(node__team__in=teams, address__in=addresses) if addresses else ()
    # What was confirmed needs no word of an agent.
    confirmed = {row.address for row in rows if row.is_confirmed}
    others = standings(row for row in rows if row.address not in confirmed)
    return confirmed | {standing.row.address for standing in others if standing.counts}


def standings_of(nodes: Iterable[Node]) -> dict[int, list[Standing]]:
    """Return {node: how its addresses stand, the usual one first}; they are read if they are not yet."""
    listed = list(nodes)
    by_node: dict[int, list[Standing]] = {node.pk: [] for node in listed}
    for standing in standings(row for node in listed for row in node.addresses.all()):
        by_node[standing.row.node_id].append(standing)
    return by_node


def _is_reported(row: NodeAddress, reports: Mapping[int, Collection[str]]) -> bool:
    try:
        return str(ipaddress.ip_address(row.address)) in reports.get(row.node_id, ())
    except ValueError:
        # A name is none of an interface.
        return False
