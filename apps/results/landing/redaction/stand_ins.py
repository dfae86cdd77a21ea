"""The names of a team's inventory and people, and what stands in the place of each."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from apps.accounts.models import Membership
from apps.agents.models import FactSnapshot
from apps.results.landing.redaction import people
from apps.results.landing.redaction.folding import spellings
from apps.testbeds.models import Cluster, FileSystem, Link, Node, NodeAddress, Site, Switch, Testbed

# A name of one sign, or of figures only, stands in every table: it is replaced where nothing else stands beside it.
_SHORTEST = 2
_IPV4 = 4
_LEAST_FIGURES = 8


@dataclass
class StandIns:
    """What is read instead of names and of addresses, by their folded form."""

    names: dict[str, str] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    # Addresses as hexadecimal figures with nothing between them.
    figures: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, word: str) -> None:
        """Have a word stand for a name; the first one that is given stays."""
        for spelling in spellings(name.strip()):
            if spelling:
                self.names.setdefault(spelling, word)

    def add_host(self, name: str, word: str) -> None:
        """Have a word stand for a host's name, and for the first part of one with dots."""
        self.add(name, word)
        short = name.partition(".")[0]
        if short != name and is_telling(short):
            self.add(short, word)

    def add_address(self, address: str, word: str, node: str) -> None:
        """Have a word stand for an address, in dashes as well; for a host's name without its domain, the node's."""
        try:
            ipaddress.ip_address(address)
        except ValueError:
            self.add(address, word)
            self.add_host(address, node)
            return
        self.add_plain_address(address, word)
        self.add(address.replace(".", "-").replace(":", "-"), word)

    def add_plain_address(self, address: str, word: str) -> None:
        """Have a word stand for an address of the internet, also as figures; for nothing if it is none, or local."""
        try:
            found = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return
        self.addresses.setdefault(found.compressed, word)
        if found.is_loopback or found.is_unspecified:
            return
        figures = 8 if found.version == _IPV4 else 32
        self.figures.setdefault(f"{int(found):0{figures}x}", word)
        if found.version == _IPV4:
            # As kernels print it: the other way round, and as one number.
            self.figures.setdefault(found.packed[::-1].hex(), word)
            self.figures.setdefault(str(int(found)), word)

    def add_machine(self, address: str, word: str) -> None:
        """Have a word stand for the figures of an interface's address (Ethernet, InfiniBand)."""
        figures = address.lower().replace(":", "").replace("-", "").replace(".", "")
        if len(figures) >= _LEAST_FIGURES and figures.isalnum() and len(set(figures)) > 1:
            self.figures.setdefault(figures, word)


def is_telling(name: str) -> bool:
    """Say whether a name is more than a sign or a figure, so that it is known as one in the middle of a text."""
    return len(name) >= _SHORTEST and not name.isdigit()


def stand_ins_of(team: int, first: Iterable[Node]) -> StandIns:
    """Return what stands for every name of a team; the nodes that come `first` have the first numbers."""
    words = StandIns()
    own = Node.objects.filter(team=team).order_by("pk").only("name")
    nodes = {node.pk: node.name for node in (*first, *own)}
    numbers = {pk: number for number, pk in enumerate(nodes, start=1)}
    called = {pk: _("node %(number)s") % {"number": number} for pk, number in numbers.items()}
    for pk, name in nodes.items():
        words.add(name, called[pk])
    for pk, name in nodes.items():
        words.add_host(name, called[pk])
    for pk, address in NodeAddress.objects.filter(node__in=numbers).values_list("node", "address"):
        words.add_address(address, _("address of node %(number)s") % {"number": numbers[pk]}, called[pk])
    facts = FactSnapshot.objects.filter(node__in=numbers).order_by("node", "-created_at").distinct("node")
    for pk, name, interfaces in facts.values_list("node", "facts__hostname", "facts__interfaces"):
        words.add_host(str(name or ""), called[pk])
        address = _("address of node %(number)s") % {"number": numbers[pk]}
        for interface in interfaces or ():
            words.add_machine(str(interface.get("mac") or ""), address)
            for text in interface.get("addresses") or ():
                words.add_plain_address(str(text).partition("/")[0], address)
    _add_inventory(words, team)
    members = Membership.objects.filter(team=team).order_by("pk").select_related("user")
    for number, membership in enumerate(members, start=1):
        user = membership.user
        called_so = _("user %(number)s") % {"number": number}
        for name in (user.get_username(), user.get_full_name(), *people.written(user.first_name, user.last_name)):
            words.add(name, called_so)
    return words


def _add_inventory(words: StandIns, team: int) -> None:
    kinds = (
        (Cluster, _("cluster %(number)s")),
        (FileSystem, _("file system %(number)s")),
        (Testbed, _("testbed %(number)s")),
        (Site, _("site %(number)s")),
        (Switch, _("switch %(number)s")),
        (Link, _("link %(number)s")),
    )
    for model, text in kinds:
        names = model._default_manager.filter(team=team).order_by("pk").values_list("name", flat=True)
        for number, name in enumerate(names, start=1):
            words.add(name, text % {"number": number})
    for places in (Site.objects.values_list("place", flat=True), Testbed.objects.values_list("location", flat=True)):
        for place in places.filter(team=team):
            words.add(place, _("place"))
