"""Addresses as texts, and those of a node's interfaces by what its agent told."""

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any


def plain(text: object) -> str:
    """Return an address as Python writes it, without the size of its network; "" for anything else, as a name."""
    try:
        return str(ipaddress.ip_interface(str(text)).ip)
    except ValueError:
        return ""


def of_interfaces(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the addresses of the interfaces in a node's facts, each as Python writes it, whatever else these hold."""
    interfaces = facts.get("interfaces")
    for interface in interfaces if isinstance(interfaces, list | tuple) else ():
        texts = interface.get("addresses") if isinstance(interface, Mapping) else ()
        yield from filter(None, map(plain, texts if isinstance(texts, list | tuple) else ()))
