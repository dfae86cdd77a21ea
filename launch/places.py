"""How many connections a web process keeps open: so many of an address, and no more than it has descriptors for."""

import ipaddress
import resource
from collections.abc import Callable, Sequence

# What else a web process opens: its files, its connections to the database and the broker, what it starts.
OWN_DESCRIPTORS = 256
# One household or one machine has a whole network of this length.
_IPV6_PREFIX = 64
End = Callable[[], object]


class Places:
    """The connections of a process, by address.

    An address has `of_address` at most. Where all are taken, the newest connection of the address that has most is
    ended for one of an address that has fewer. Addresses of `proxies` speak for many: they have as many as there are.
    """

    def __init__(self, of_all: int, of_address: int = 0, proxies: Sequence[str] = ()) -> None:
        self.of_all, self.of_address = of_all, of_address or of_all
        self._proxies = [ipaddress.ip_network(text) for text in proxies]
        self._held: dict[str, dict[object, End]] = {}
        self.taken = 0

    def take(self, whose: object, address: str, end: End) -> bool:
        """Keep a place for a connection of an address; False if there is none. `end` ends the connection."""
        key = self._key_of(address)
        own = len(self._held.get(key, ()))
        if key and own >= self.of_address:
            return False
        if self.taken >= self.of_all and not self._make_room(own):
            return False
        self._held.setdefault(key, {})[whose] = end
        self.taken += 1
        return True

    def give_back(self, whose: object, address: str) -> None:
        """Give back the place of a connection, if it has one."""
        key = self._key_of(address)
        if self._held.get(key, {}).pop(whose, None) is not None:
            self.taken -= 1
            if not self._held[key]:
                del self._held[key]

    def _make_room(self, own: int) -> bool:
        """End a connection of the address that has most, if that is more than one who has `own` would have."""
        greediest = max((key for key in self._held if key), key=lambda key: len(self._held[key]), default="")
        if not greediest or len(self._held[greediest]) <= own + 1:
            return False
        newest = next(reversed(self._held[greediest]))
        end = self._held[greediest].pop(newest)
        self.taken -= 1
        end()
        return True

    def _key_of(self, text: str) -> str:
        """Return what an address is counted by: of IPv6 the network, "" for a proxy's and for none."""
        try:
            address = ipaddress.ip_address(text.partition("%")[0])
        except ValueError:
            return ""
        if address.version == 6 and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if any(address in network for network in self._proxies):
            return ""
        if address.version == 4:
            return str(address)
        return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))


def of_process(of_address: int, proxies: Sequence[str]) -> Places:
    """Return the places that the descriptors of this process allow."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Places(max(soft - OWN_DESCRIPTORS, soft // 2), of_address, proxies)
