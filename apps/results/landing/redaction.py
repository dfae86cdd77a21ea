"""What strangers read in the place of names and addresses."""

import ipaddress
import re
from collections.abc import Iterable

from django.db.models import Q
from django.utils.translation import gettext as _

from apps.campaigns.models import Campaign, Tombstone
from apps.testbeds.models import Cluster, FileSystem, Link, Node, NodeAddress, Site, Switch, Testbed

# What looks like an address: groups of figures with dots, groups of hexadecimal figures with colons, names with dots.
_ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7})(?![\w:])")
_HOST = re.compile(r"(?<![\w.-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.){2,}[a-z]{2,24}(?![\w.-])", re.IGNORECASE)


class Names:
    """Texts as they stand: what the campaign's own people read."""

    hidden = False

    def text(self, text: str) -> str:
        """Return the text as a reader may see it."""
        return text


class Hidden(Names):
    """Texts in which the team's nodes, sites and so on are numbered, and addresses are taken out."""

    hidden = True

    def __init__(self, team_id: int, first: Iterable[Node] = ()) -> None:
        """Take the names from the team's inventory; the nodes that come `first` have the first numbers."""
        self._stand_ins = _stand_ins(team_id, first)
        longest_first = sorted(self._stand_ins, key=len, reverse=True)
        # People write names in small and in capital letters.
        names = r"(?<!\w)(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)"
        self._names = re.compile(names, re.IGNORECASE) if longest_first else None

    def text(self, text: str) -> str:
        """Return the text without names and addresses."""
        if self._names:
            text = self._names.sub(lambda found: self._stand_ins.get(found.group().lower(), _("name")), text)
        text = _ADDRESS.sub(lambda found: _("address") if _is_address(found.group()) else found.group(), text)
        return _HOST.sub(_("host"), text)


def names_for(shared: Campaign | Tombstone, *, whole: bool) -> Names:
    """Return how texts are shown to someone who sees the campaign whole, or only what is public of it."""
    if whole or not shared.redacted:
        return Names()
    first: Iterable[Node] = ()
    if isinstance(shared, Campaign):
        played = Q(experiment_roles__experiment__campaign=shared)
        members = Q(clusters__experiment_roles__experiment__campaign=shared)
        first = Node.objects.filter(played | members).distinct().order_by("pk")
    return Hidden(shared.team_id, first)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _stand_ins(team: int, first: Iterable[Node]) -> dict[str, str]:
    """Return {name or address: what stands for it}."""
    nodes = _in_order(first, Node.objects.filter(team=team).order_by("pk"))
    found: dict[str, str] = {}
    numbers: dict[int, int] = {}
    for number, (pk, name) in enumerate(nodes, start=1):
        numbers[pk] = number
        found.setdefault(name.lower(), _("node %(number)s") % {"number": number})
    addresses = NodeAddress.objects.filter(node__in=numbers).values_list("node", "address")
    for pk, address in addresses:
        found.setdefault(address.lower(), _("address of node %(number)s") % {"number": numbers[pk]})
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
            found.setdefault(name.lower(), text % {"number": number})
    found.pop("", None)
    return found


def _in_order(*lists: Iterable[Node]) -> list[tuple[int, str]]:
    return list({node.pk: (node.pk, node.name) for nodes in lists for node in nodes}.values())
