"""Add many like nodes at once."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from apps.testbeds import patterns
from apps.testbeds.models import Link, Node, Switch, Testbed
from apps.testbeds.services import items, parts

# Each has an address and a link beside itself.
MOST_NODES = patterns.MOST_NAMES // 3


@transaction.atomic
def add_nodes(
    *,
    testbed: Testbed,
    names: str,
    addresses: str = "",
    switch: Switch | None = None,
    link: Mapping[str, Any] | None = None,
) -> list[Node]:
    """Return the nodes made of a pattern such as ``kgfs[01-04]``; all or none.

    `addresses` is a pattern of as many addresses, in the same order. With a `switch` each node gets a link to it,
    which has the columns given in `link` (capacity_bps, rtt_s, mtu). ValidationError names the wrong field.
    """
    node_names = _expanded("names", names)
    if not node_names:
        raise ValidationError({"names": _("Write at least one name, for example kgfs[01-04].")})
    if len(node_names) > MOST_NODES:
        raise ValidationError(
            {"names": _("These are more than %(most)s nodes: add fewer at a time.") % {"most": MOST_NODES}}
        )
    address_list = _expanded("addresses", addresses)
    if address_list and len(address_list) != len(node_names):
        raise ValidationError(
            {
                "addresses": _("These are %(addresses)s addresses for %(nodes)s nodes: write one for each, or none.")
                % {"addresses": len(address_list), "nodes": len(node_names)}
            }
        )
    return [
        _add_node(testbed, name, [parts.Address(address)] if address else [], switch, link or {})
        for name, address in zip(node_names, address_list or [""] * len(node_names), strict=True)
    ]


def _expanded(field: str, text: str) -> list[str]:
    try:
        return patterns.expand_pattern(text)
    except ValidationError as error:
        raise ValidationError({field: error.messages}) from error


def _add_node(
    testbed: Testbed, name: str, addresses: list[parts.Address], switch: Switch | None, link: Mapping[str, Any]
) -> Node:
    try:
        node = items.create_item(
            kind=Node, team=testbed.team, values={"name": name, "testbed": testbed, "addresses": addresses}
        )
    except ValidationError as error:
        wrong = error.message_dict
        raise ValidationError(
            {
                "addresses" if field == "addresses" else "names": [f"{name}: {text}" for text in texts]
                for field, texts in wrong.items()
            }
        ) from error
    if switch is None:
        return node
    try:
        items.create_item(
            kind=Link,
            team=testbed.team,
            values={**link, "name": f"{node} – {switch}", "a_node": node, "b_switch": switch},
        )
    except ValidationError as error:
        raise ValidationError(
            {
                "switch" if field in ("name", "b_switch") else field: texts
                for field, texts in error.message_dict.items()
            }
        ) from error
    return node
