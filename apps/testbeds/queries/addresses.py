"""Which addresses count as their nodes': the one place that says whom agents may be told to call."""

import ipaddress
from collections.abc import Collection, Iterable

from django.conf import settings
from django.utils.module_loading import import_string

from apps.testbeds.models import NodeAddress


def attach_reports(rows: Iterable[NodeAddress]) -> list[NodeAddress]:
    """Return addresses, each with whether its node's own agent reports it (`is_reported`), in one query more.

    The inventory knows nothing of agents: NODE_REPORTS (nodes) names a function that does, and returns {node:
    addresses of its interfaces, each as Python writes it}.
    """
    listed = list(rows)
    reports = import_string(settings.NODE_REPORTS)(nodes={row.node_id for row in listed}) if listed else {}
    for row in listed:
        row.is_reported = _plain(row.address) in reports.get(row.node_id, ())
    return listed


def counting(*, teams: Collection[int], addresses: Collection[str]) -> set[str]:
    """Return those of the addresses that count as one of a node of these teams (`NodeAddress.counts`)."""
    rows = NodeAddress.objects.filter(node__team__in=teams, address__in=addresses) if addresses else ()
    # What is confirmed needs no agent's word: many nodes' polls ask this, of many nodes.
    attach_reports(row for row in rows if row.confirmed_at is None)
    return {row.address for row in rows if row.counts}


def _plain(address: str) -> str:
    """Return an address as Python writes it, "" for a name: none of an interface is one."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return ""
