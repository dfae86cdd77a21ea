"""Mail addresses in one form, by which they are compared."""

from collections.abc import Iterable

from django.utils.encoding import punycode

# Longer names of domains there are none: RFC 1035, 2.3.4.
_LONGEST_DOMAIN = 255


def normal_form(address: str) -> str:
    """Return what is the same for all spellings of an address: small letters, the domain as it stands in DNS."""
    local, at, domain = address.strip().lower().rpartition("@")
    return f"{local}{at}{normal_domain(domain)}"


def normal_domain(domain: str) -> str:
    """Return a domain in small letters of ASCII (IDNA), or as it is if it is none."""
    try:
        name = punycode(domain.lower())
    except UnicodeError:
        return domain
    return name if len(name) <= _LONGEST_DOMAIN else domain


def each_once(addresses: Iterable[str], without: Iterable[str] = ()) -> list[str]:
    """Return addresses as they are first spelt, but for those that are among others."""
    seen = {normal_form(address) for address in without}
    spellings: list[str] = []
    for address in addresses:
        if normal_form(address) not in seen:
            seen.add(normal_form(address))
            spellings.append(address)
    return spellings
