"""Values of facets that name nothing a person may see: REST refuses them, for an empty list would be no answer."""

from collections.abc import Callable, Iterable

from django.db.models import Model

from apps.accounts import queries as accounts
from apps.accounts import rights
from apps.accounts.models import User
from apps.archive.search.queries import entries_for, narrowed
from apps.archive.search.state import Errors, Search
from apps.bench.text import Message, _
from apps.testbeds.models import Cluster, FileSystem, Node, Site, Testbed
from apps.toolbox import queries as toolbox

_ROWS: dict[str, type[Model]] = {
    "site": Site,
    "testbed": Testbed,
    "cluster": Cluster,
    "node": Node,
    "file-system": FileSystem,
}


def unknown_values(search: Search, user: User) -> Errors:
    """Return {facet: messages} of what is chosen and neither in the archive nor of the person's teams."""
    entries = entries_for(user)
    text = _("“%(text)s” is no value of “%(facet)s”: choose one of those that the page offers.")
    errors: Errors = {}
    for facet, values in search.chosen:
        is_known = _KNOWN.get(facet, _rows)
        for value in values:
            alone = Search(chosen=((facet, (value,)),))
            if not narrowed(entries, alone).exists() and not is_known(facet, value, user):
                errors.setdefault(facet, []).append(Message(text, {"text": value[:100], "facet": facet}))
    return errors


def _rows(facet: str, value: str, user: User) -> bool:
    return _have(facet, [value], user)


def _have(facet: str, values: Iterable[str], user: User) -> bool:
    ids = set(values)
    rows = rights.visible(_ROWS[facet]._default_manager.all(), user)
    return rows.filter(pk__in=ids).count() == len(ids)


_KNOWN: dict[str, Callable[[str, str, User], bool]] = {
    "pair": lambda _facet, value, user: _have("site", value.split("-"), user),
    "tool": lambda _facet, value, user: value in {tool.slug for tool in toolbox.tools_of(user)},
    "team": lambda _facet, value, user: accounts.teams_of(user).filter(slug=value).exists(),
    "person": lambda _facet, value, user: accounts.memberships_of(user).filter(user__username=value).exists(),
    # What may be chosen at all was asked when it was read.
    "origin": lambda _facet, _value, _user: True,
    "tag": lambda _facet, _value, _user: False,
}
