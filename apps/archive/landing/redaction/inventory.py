"""What stands for the names of a team's inventory and people, those that they have and those that they had."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from apps.accounts.models import Membership, User
from apps.archive.landing.models import FormerName
from apps.archive.landing.redaction.named import INVENTORY, OF_NODES, PLACES
from apps.archive.landing.redaction.stand_ins import Entry, StandIns, listed
from apps.testbeds.models import Node, NodeAddress

K = FormerName.Kind
_TEXTS: dict[str, str] = {
    K.NODE: gettext_noop("node %(number)s"),
    K.ADDRESS: gettext_noop("address of node %(number)s"),
    K.CLUSTER: gettext_noop("cluster %(number)s"),
    K.FILE_SYSTEM: gettext_noop("file system %(number)s"),
    K.TESTBED: gettext_noop("testbed %(number)s"),
    K.SITE: gettext_noop("site %(number)s"),
    K.SWITCH: gettext_noop("switch %(number)s"),
    K.LINK: gettext_noop("link %(number)s"),
    K.USER: gettext_noop("user %(number)s"),
}


_OF_INVENTORY = (*INVENTORY, *PLACES)


class _Former(NamedTuple):
    """One of a team's former names; of a person `name` is the given one."""

    owner: int
    name: str
    family: str


# By their kind, the latest first: it is the likelier one where two things had a name one after the other.
_FormerNames = Mapping[str, list[_Former]]


class _Entries(list[Entry]):
    """The names of a team, as they are read."""

    def add(self, how: Callable[..., None], *texts: str) -> None:
        """Add a name, and what `how` takes with it."""
        self.append((how, texts))


def entries_of(team: int, first: Iterable[Node], foreign: Iterable[Entry] = ()) -> tuple[Entry, ...]:
    """Return every name of a team with what stands for it; the nodes that come `first` have the first numbers.

    What is gone keeps its number, so that none moves. Where a name was given again it stands for who has it now;
    those of `foreign` stand for what others had only where nothing of the team has them.
    """
    entries = _Entries()
    played = list(first)
    former = _former_names(team, played)
    nodes = _add_nodes(entries, team, played, former)
    inventory = _add_inventory(entries, team, former)
    members = _add_members(entries, team, former)
    _add_former_nodes(entries, nodes, former)
    for kind, numbers in inventory.items():
        for item in former[kind]:
            entries.add(StandIns.add, item.name, _word(kind, numbers[item.owner]))
    for item in former[K.PLACE]:
        entries.add(StandIns.add, item.name, _("place"))
    for item in former[K.USER]:
        entries.add(StandIns.add, item.name, _word(K.USER, members[item.owner]))
    for item in former[K.PERSON]:
        entries.add(StandIns.add_person, item.name, item.family, _word(K.USER, members[item.owner]))
    entries += foreign
    hosts = [texts[0] for how, texts in entries if how is StandIns.add_host]
    for stem in dict.fromkeys(stem for host in hosts for stem in listed(host)):
        entries.add(StandIns.add_host, stem, _("nodes"))
    return tuple(entries)


def _former_names(team: int, played: list[Node]) -> _FormerNames:
    """Return the team's former names, and those of another team's nodes that its campaign was measured on."""
    rows = _former_rows(team, played)
    former = defaultdict(list)
    for kind, owner, name, family in rows.values_list("kind", "owner", "name", "family"):
        former[kind].append(_Former(owner, name, family))
    return former


def _former_rows(team: int, played: list[Node]) -> QuerySet[FormerName]:
    others = {node.team_id for node in played} - {team}
    of_others = Q(team__in=others, kind__in=OF_NODES, owner__in=[node.pk for node in played])
    return FormerName.objects.filter(Q(team=team) | of_others if others else Q(team=team)).order_by("-pk")


def rows_of(team: int, played: list[Node]) -> list[QuerySet[Any]]:
    """Return all rows that `entries_of` reads names from."""
    keys = [node.pk for node in played]
    return [
        _former_rows(team, played),
        Node.objects.filter(Q(team=team) | Q(pk__in=keys)),
        NodeAddress.objects.filter(Q(node__team=team) | Q(node__in=keys)),
        *(model._default_manager.filter(team=team) for model in dict.fromkeys(row.model for row in _OF_INVENTORY)),
        Membership.objects.filter(team=team),
        User.objects.filter(memberships__team=team),
    ]


def _numbered(living: Iterable[int], *gone: list[_Former], first: Iterable[int] = ()) -> dict[int, int]:
    """Return the number of each key: in the order of their making, whether the thing lives or is gone."""
    keys = {*living, *(item.owner for items in gone for item in items)}
    return {key: number for number, key in enumerate(dict.fromkeys((*first, *sorted(keys))), start=1)}


def _add_nodes(entries: _Entries, team: int, played: list[Node], former: _FormerNames) -> dict[int, int]:
    """Add what nodes are called, and what their programs ever said; return the nodes' numbers."""
    own = Node.objects.filter(team=team).order_by("pk").values_list("pk", "name")
    names = {node.pk: node.name for node in played} | dict(own)
    numbers = _numbered(names, *(former[kind] for kind in OF_NODES), first=[node.pk for node in played])
    for pk, name in names.items():
        entries.add(StandIns.add, name, _word(K.NODE, numbers[pk]))
    for pk, name in names.items():
        entries.add(StandIns.add_host, name, _word(K.NODE, numbers[pk]))
    for pk, address in NodeAddress.objects.filter(node__in=names).order_by("pk").values_list("node", "address"):
        entries.add(StandIns.add_address, address, _word(K.ADDRESS, numbers[pk]), _word(K.NODE, numbers[pk]))
    for host in former[K.HOST]:
        entries.add(StandIns.add_host, host.name, _word(K.NODE, numbers[host.owner]))
    for machine in former[K.MACHINE]:
        entries.add(StandIns.add_machine, machine.name, _word(K.ADDRESS, numbers[machine.owner]))
    for interface in former[K.INTERFACE]:
        entries.add(StandIns.add_plain_address, interface.name, _word(K.ADDRESS, numbers[interface.owner]))
    return numbers


def _add_former_nodes(entries: _Entries, numbers: Mapping[int, int], former: _FormerNames) -> None:
    for node in former[K.NODE]:
        entries.add(StandIns.add_host, node.name, _word(K.NODE, numbers[node.owner]))
    for address in former[K.ADDRESS]:
        number = numbers[address.owner]
        entries.add(StandIns.add_address, address.name, _word(K.ADDRESS, number), _word(K.NODE, number))


def _add_inventory(entries: _Entries, team: int, former: _FormerNames) -> dict[str, dict[int, int]]:
    """Add the names of what stands beside the nodes, and places; return the numbers by kind."""
    numbers = {}
    for model, field, kind in INVENTORY:
        names = dict(model._default_manager.filter(team=team).values_list("pk", field))
        numbers[kind] = _numbered(names, former[kind])
        for pk, name in sorted(names.items()):
            entries.add(StandIns.add, name, _word(kind, numbers[kind][pk]))
    for model, field, _kind in PLACES:
        for place in model._default_manager.filter(team=team).values_list(field, flat=True):
            entries.add(StandIns.add, place, _("place"))
    return numbers


def _add_members(entries: _Entries, team: int, former: _FormerNames) -> dict[int, int]:
    """Add the names of the members; return their memberships' numbers."""
    members = Membership.objects.filter(team=team).order_by("pk").select_related("user")
    people = {membership.pk: membership.user for membership in members}
    numbers = _numbered(people, former[K.USER], former[K.PERSON])
    for pk, user in people.items():
        entries.add(StandIns.add, user.get_username(), _word(K.USER, numbers[pk]))
        entries.add(StandIns.add_person, user.first_name, user.last_name, _word(K.USER, numbers[pk]))
    return numbers


def _word(kind: str, number: int) -> str:
    return _(_TEXTS[kind]) % {"number": number}
