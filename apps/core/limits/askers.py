"""Who is asking, as limits know them."""

import ipaddress

from django.http import HttpRequest

# Who restarts what hangs asks these every second or so, and must get an answer.
HEALTH = "/health/"
# One household or one machine has a whole network of this length.
_IPV6_PREFIX = 64


def address_of(request: HttpRequest) -> str:
    """Return the address that a request comes from, of IPv6 the network; "" if there is none."""
    return address_in(str(request.META.get("REMOTE_ADDR") or ""))


def address_in(text: str) -> str:
    """Return the same of an address as it is written."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
