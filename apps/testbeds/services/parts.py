"""What an item holds besides its columns: a node's addresses, a cluster's nodes, a file system's mounts."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import TeamOwned
from apps.testbeds.models import Cluster, FileSystem, Mount, Node, NodeAddress
from apps.testbeds.services.confirmations import Confirmation, keep_confirmations


@dataclass(frozen=True)
class Address:
    """A data-plane address of a node and, if known, the interface that has it.

    `confirmation` is a manager's word for it, if it is entered with one: no part of what it is.
    """

    address: str
    interface: str = ""
    confirmation: Confirmation | None = field(default=None, compare=False)


@dataclass(frozen=True)
class MountPoint:
    """A cluster that mounts a file system; `path` only if it differs from the file system's own."""

    cluster: Cluster
    path: str = ""


# Columns of an address that nobody enters: to look each person up would cost a query an address.
_SET_HERE = ["node", "position", "confirmed_at", "confirmed_by"]


def address_rows(node: Node, addresses: Sequence[Address]) -> list[NodeAddress]:
    """Return the rows of a node's addresses, the usual one first; ValidationError names the wrong ones."""
    pairs = [(item.address, item.interface) for item in addresses]
    now = timezone.now()
    rows = [
        NodeAddress(
            node=node,
            address=item.address,
            interface=item.interface,
            position=position,
            confirmed_at=now if item.confirmation else None,
            confirmed_by=item.confirmation.by if item.confirmation else None,
        )
        for position, item in enumerate(addresses)
    ]
    wrong = [text for row in rows for text in _refusals(row, row.address, exclude=_SET_HERE)]
    wrong += [
        _("%(address)s stands here twice: leave one out.") % {"address": address}
        for address in _repeated([address for address, _interface in pairs])
    ]
    if wrong:
        raise ValidationError({"addresses": wrong})
    return rows


def set_addresses(node: Node, addresses: Sequence[Address]) -> None:
    """Give a node these addresses; ValidationError as of `address_rows`."""
    rows, pairs = address_rows(node, addresses), [(item.address, item.interface) for item in addresses]
    if list(node.addresses.values_list("address", "interface")) != pairs:
        keep_confirmations(rows)
        node.addresses.all().delete()
        NodeAddress.objects.bulk_create(rows)


def node_rows(cluster: Cluster, nodes: Sequence[Node]) -> list[Any]:
    """Return the rows that join nodes to a cluster; ValidationError names those of another team."""
    strangers = [node for node in nodes if node.team_id != cluster.team_id]
    if strangers:
        raise ValidationError({"nodes": [other_team(node) for node in strangers]})
    # A cluster that is not stored yet cannot be asked for its nodes.
    return [Cluster.nodes.through(cluster=cluster, node=node) for node in dict.fromkeys(nodes)]


def set_nodes(cluster: Cluster, nodes: Sequence[Node]) -> None:
    """Make these the nodes of a cluster; ValidationError as of `node_rows`."""
    node_rows(cluster, nodes)
    cluster.nodes.set(nodes)


def mount_rows(file_system: FileSystem, mounts: Sequence[MountPoint]) -> list[Mount]:
    """Return the rows of the clusters that mount a file system; ValidationError names the wrong ones."""
    rows = [Mount(file_system=file_system, cluster=item.cluster, path=item.path) for item in mounts]
    wrong = [other_team(item.cluster) for item in mounts if item.cluster.team_id != file_system.team_id]
    wrong += [text for row in rows for text in _refusals(row, row.cluster.name, exclude=["file_system", "cluster"])]
    wrong += [
        _("%(cluster)s stands here twice: leave one out.") % {"cluster": name}
        for name in _repeated([item.cluster.name for item in mounts])
    ]
    if wrong:
        raise ValidationError({"mounts": wrong})
    return rows


def set_mounts(file_system: FileSystem, mounts: Sequence[MountPoint]) -> None:
    """Make these the clusters that mount a file system; ValidationError as of `mount_rows`."""
    rows = mount_rows(file_system, mounts)
    if set(file_system.mounts.values_list("cluster", "path")) != {(row.cluster_id, row.path) for row in rows}:
        file_system.mounts.all().delete()
        Mount.objects.bulk_create(rows)


def other_team(item: TeamOwned) -> str:
    """Return why an item of another team is refused."""
    words = {"kind": item._meta.verbose_name, "name": item}
    return _("The %(kind)s “%(name)s” belongs to another team: choose one of the same team.") % words


SETTERS: dict[type[TeamOwned], dict[str, Callable[[Any, Any], None]]] = {
    Node: {"addresses": set_addresses},
    Cluster: {"nodes": set_nodes},
    FileSystem: {"mounts": set_mounts},
}
# What the same parts are of an item that is to be stored together with others.
ROWS: dict[type[TeamOwned], dict[str, Callable[[Any, Any], list[Any]]]] = {
    Node: {"addresses": address_rows},
    Cluster: {"nodes": node_rows},
    FileSystem: {"mounts": mount_rows},
}
# What rows take over from those that they replace, all of them together.
KEEPERS: dict[str, Callable[[Any], None]] = {"addresses": keep_confirmations}
# Where they stand, and which column is the item's.
TABLES: dict[str, tuple[Any, str]] = {
    "addresses": (NodeAddress, "node"),
    "nodes": (Cluster.nodes.through, "cluster"),
    "mounts": (Mount, "file_system"),
}


def parts_of(item: TeamOwned) -> dict[str, Any]:
    """Return what a copy of an item takes over besides its columns; addresses stay with the machine they name."""
    if isinstance(item, Cluster):
        return {"nodes": list(item.nodes.all())}
    if isinstance(item, FileSystem):
        return {"mounts": [MountPoint(row.cluster, row.path) for row in item.mounts.select_related("cluster")]}
    return {}


def _refusals(row: NodeAddress | Mount, label: str, exclude: list[str]) -> list[str]:
    try:
        row.clean_fields(exclude=exclude)
    except ValidationError as error:
        return [text if f"“{label}”" in text else f"{label}: {text}" for text in error.messages]
    return []


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)
