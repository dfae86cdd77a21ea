"""The names of a team's inventory and people, and what stands in the place of each."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from apps.accounts.models import Membership
from apps.agents.models import FactSnapshot
from apps.results.landing.redaction.folding import fold
from apps.testbeds.models import Cluster, FileSystem, Link, Node, NodeAddress, Site, Switch, Testbed

# A name of one sign, or of figures only, stands in every table: it is replaced where nothing else stands beside it.
_SHORTEST = 2


@dataclass
class StandIns:
    """What is read instead of names and of addresses, by their folded form."""

    names: dict[str, str] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, word: str) -> None:
        """Have a word stand for a name; the first one that is given stays."""
        if folded := fold(name.strip()).text:
            self.names.setdefault(folded, word)

    def add_host(self, name: str, word: str) -> None:
        """Have a word stand for a host's name, and for the first part of one with dots."""
        self.add(name, word)
        short = name.partition(".")[0]
        if short != name and is_telling(short):
            self.add(short, word)

    def add_address(self, address: str, word: str, node: str) -> None:
        """Have a word stand for an address, in dashes as well; for a host's name without its domain, the node's."""
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            self.add(address, word)
            self.add_host(address, node)
            return
        self.addresses.setdefault(found.compressed, word)
        self.add(address.replace(".", "-").replace(":", "-"), word)


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
    for pk, name in facts.values_list("node", "facts__hostname"):
        words.add_host(str(name or ""), called[pk])
    _add_inventory(words, team)
    people = Membership.objects.filter(team=team).order_by("pk").select_related("user")
    for number, membership in enumerate(people, start=1):
        for name in (membership.user.get_username(), membership.user.get_full_name()):
            words.add(name, _("user %(number)s") % {"number": number})
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
