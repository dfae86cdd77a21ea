"""Whose word an address of a node has: a manager's, who entered or confirmed it, its own agent's, or nobody's yet."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.bench.network.addresses import plain
from apps.core import audit
from apps.core.versions import hold
from apps.testbeds.models import Node, NodeAddress


@dataclass(frozen=True)
class Confirmation:
    """A manager's word; `by` nobody on the server's command line, whose users may do everything."""

    by: User | None = None


def confirmation_of(user: User, team: Team) -> Confirmation | None:
    """Return the word that a person's entries have: a manager's of the team, else none."""
    return Confirmation(user) if rights.can(user, team, Role.MANAGER) else None


def confirmed(values: Mapping[str, Any], confirmation: Confirmation | None) -> dict[str, Any]:
    """Return an item's values with the addresses among them as entered by whose word this is."""
    if "addresses" not in values:
        return dict(values)
    return {**values, "addresses": [replace(item, confirmation=confirmation) for item in values["addresses"]]}


def keep_confirmations(rows: Sequence[NodeAddress]) -> None:
    """Let rows that are to take the place of their nodes' former ones stand as these did, where the address is there.

    So nobody confirms an address by entering again what somebody else entered, nor takes a confirmation away. New
    ones that their nodes' agents report are marked so. The inventory knows nothing of agents: NODE_REPORTS (nodes)
    names a function that does, and returns {node: addresses of its interfaces, each as Python writes it}.
    """
    former = NodeAddress.objects.filter(node__in={row.node_id for row in rows})
    stood = {(row.node_id, row.address): row for row in former}
    for row in rows:
        if before := stood.get((row.node_id, row.address)):
            row.confirmed_at, row.confirmed_by_id = before.confirmed_at, before.confirmed_by_id
            row.reported_at = before.reported_at
    _mark_reported(rows, import_string(settings.NODE_REPORTS)(nodes={row.node_id for row in rows}) if rows else {})


def note_reports(*, node: int, addresses: Collection[str]) -> None:
    """Note which addresses of a node its own agent reports, each as Python writes it."""
    rows = list(NodeAddress.objects.filter(node=node, reported_at=None))
    NodeAddress.objects.bulk_update(_mark_reported(rows, {node: addresses}), ["reported_at"])


def _mark_reported(rows: Sequence[NodeAddress], reports: Mapping[int, Collection[str]]) -> list[NodeAddress]:
    """Set the time of those of the rows that {node: addresses of its interfaces} has; return these."""
    rows = [row for row in rows if row.reported_at is None and plain(row.address) in reports.get(row.node_id, ())]
    for row in rows:
        row.reported_at = timezone.now()
    return rows


@transaction.atomic
def confirm_address(*, node: Node, address: str, user: User, now: datetime) -> None:
    """Let an address of a node count by the word of a manager of its team; one that is confirmed stays as it is.

    ValidationError if the node has no such address (any more).
    """
    rights.require(user, node.team, Role.MANAGER)
    hold(node)
    row = node.addresses.filter(address=address).first()
    if row is None:
        text = _("%(node)s has no address %(address)s any more: look at its page again.")
        raise ValidationError({"address": text % {"node": node, "address": address}})
    if row.confirmed_at is None:
        row.confirmed_at, row.confirmed_by = now, user
        row.save(update_fields=["confirmed_at", "confirmed_by", "updated_at"])
        node.save(update_fields=["updated_at"])
        audit.note("address-confirmed", address=address, node=node.pk, team=node.team.slug, by=user.username)
