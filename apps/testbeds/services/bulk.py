"""Add many like nodes at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.core.errors import ConflictError
from apps.testbeds import patterns
from apps.testbeds.models import Link, Node, Switch, Testbed
from apps.testbeds.services import items, parts, sets
from apps.testbeds.services.confirmations import Confirmation, confirmed

# Each has an address and a link beside itself.
MOST_NODES = patterns.MOST_NAMES // 3
_Wrong = dict[str, list[str]]
# What the form says of {column: texts} that are wrong with values.
_Told = Callable[[Mapping[str, Any], _Wrong], _Wrong]


@transaction.atomic
def add_nodes(
    *,
    testbed: Testbed,
    names: str,
    addresses: str = "",
    switch: Switch | None = None,
    link: Mapping[str, Any] | None = None,
    confirmation: Confirmation | None = None,
) -> list[Node]:
    """Return the nodes made of a pattern such as ``kgfs[01-04]``; all or none.

    `addresses` is a pattern of as many addresses, in the same order. With a `switch` each node gets a link to it,
    which has the columns given in `link` (capacity_bps, rtt_s, mtu). The addresses have the `confirmation`.
    ValidationError names the wrong field.
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
    addresses_of = [[parts.Address(address)] if address else [] for address in address_list] or [[]] * len(node_names)
    nodes: list[Node] = _create(
        Node,
        testbed,
        [
            confirmed({"name": name, "testbed": testbed, "addresses": own}, confirmation)
            for name, own in zip(node_names, addresses_of, strict=True)
        ],
        _told_of_node,
    )
    if switch is not None:
        ends = [{"name": f"{node} – {switch}", "a_node": node, "b_switch": switch} for node in nodes]
        _create(Link, testbed, [{**(link or {}), **end} for end in ends], _told_of_link)
    return nodes


def _expanded(field: str, text: str) -> list[str]:
    try:
        return patterns.expand_pattern(text)
    except ValidationError as error:
        raise ValidationError({field: error.messages}) from error


def _create(kind: type[Any], testbed: Testbed, wanted: Sequence[Mapping[str, Any]], told: _Told) -> list[Any]:
    """Return stored items of these values; ValidationError has of what is wrong what is `told` of it."""
    prepared = []
    for values in wanted:
        with _explained(values, told):
            prepared.append(sets.prepare_item(kind=kind, team=testbed.team, values=values))
    return _store(prepared, told)


def _store(prepared: Sequence[sets.Prepared], told: _Told) -> list[Any]:
    """Store items all at once; what the database refuses is looked for by halves, and asked what is wrong with it."""
    try:
        sets.store_items(prepared)
    except (IntegrityError, DataError):
        if len(prepared) > 1:
            half = len(prepared) // 2
            return _store(prepared[:half], told) + _store(prepared[half:], told)
        [one] = prepared
        with _explained(one.values, told):
            return [items.create_item(kind=type(one.item), team=one.item.team, values=one.values)]
    return [one.item for one in prepared]


@contextmanager
def _explained(values: Mapping[str, Any], told: _Told) -> Iterator[None]:
    try:
        yield
    except ConflictError:
        raise
    except ValidationError as error:
        raise ValidationError(told(values, error.message_dict)) from error


def _told_of_node(values: Mapping[str, Any], wrong: _Wrong) -> _Wrong:
    return {
        "addresses" if field == "addresses" else "names": [f"{values['name']}: {text}" for text in texts]
        for field, texts in wrong.items()
    }


def _told_of_link(_values: Mapping[str, Any], wrong: _Wrong) -> _Wrong:
    return {"switch" if field in ("name", "b_switch") else field: texts for field, texts in wrong.items()}
