"""What a search can be narrowed by: the values there are in what it finds, with how many experiments have each."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import CharField, Count, F, Func, QuerySet
from django.db.models.functions import Greatest, Least
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import User
from apps.archive.search import queries
from apps.archive.search.conditions import SearchNames
from apps.archive.search.models import SearchEnd, SearchEntry
from apps.archive.search.state import FACETS, Search
from apps.bench import tools
from apps.campaigns.models import Campaign
from apps.testbeds.models import Site
from apps.toolbox import queries as toolbox

# So many values of a facet are looked at, and so many of these shown, the most frequent first.
MOST, SHOWN = 200, 10
LABELS = {
    "tool": gettext_lazy("Tool"),
    "pair": gettext_lazy("Between sites"),
    "site": gettext_lazy("Site"),
    "testbed": gettext_lazy("Testbed"),
    "cluster": gettext_lazy("Cluster"),
    "node": gettext_lazy("Node"),
    "file-system": gettext_lazy("File system"),
    "team": gettext_lazy("Team"),
    "person": gettext_lazy("Person"),
    "tag": gettext_lazy("Tag"),
    "origin": gettext_lazy("Origin"),
}
# From an entry to the value of a facet, and to how it is called.
_PATHS = {
    "file-system": ("experiment__file_system", "experiment__file_system__name"),
    "team": ("experiment__campaign__team__slug", "experiment__campaign__team__name"),
    "person": ("experiment__campaign__created_by__username", "experiment__campaign__created_by__username"),
    "site": ("nodes__testbed__site", "nodes__testbed__site__name"),
    "testbed": ("nodes__testbed", "nodes__testbed__name"),
    "cluster": ("nodes__clusters", "nodes__clusters__name"),
    "node": ("nodes", "nodes__name"),
    "tool": ("experiment__tool", "experiment__tool"),
    "origin": ("experiment__campaign__origin", "experiment__campaign__origin"),
}


@dataclass(frozen=True)
class FacetChoice:
    """A value of a facet: how the address names it, its label, how many experiments have it, and the search with it
    chosen, or no more if it is.
    """

    value: str
    label: str
    count: int
    is_chosen: bool
    query: str


@dataclass(frozen=True)
class Facet:
    """A facet with its values, those chosen first; `rest` of them are not shown."""

    name: str
    label: str
    choices: tuple[FacetChoice, ...]
    rest: int


@dataclass(frozen=True)
class Chip:
    """Something that a search is narrowed by, and the search without it."""

    label: str
    text: str
    query: str


def facets_of(search: Search, user: User) -> list[Facet]:
    """Return the facets that have something to choose, each counted as if nothing were chosen of it; a query each."""
    visible = queries.entries_for(user)
    facets = []
    for name in FACETS:
        values = _values(name, queries.narrowed(visible, search.without(name)))
        if facet := _facet(name, values, search):
            facets.append(facet)
    return facets


def chips_of(search: Search, facets: Iterable[Facet], names: SearchNames) -> list[Chip]:
    """Return all that a search is narrowed by, each with the search without it."""
    chips = [
        Chip(facet.label, choice.label, choice.query)
        for facet in facets
        for choice in facet.choices
        if choice.is_chosen
    ]
    labels = {name: parameter.label for name, (parameter, _kinds) in names.parameters.items()}
    labels |= {name: metric.label for name, (metric, _kinds) in names.metrics.items()}
    for condition in (*search.parameters, *search.metrics):
        query = search.without_condition(condition).as_query()
        label = labels.get(condition.name)
        chips.append(Chip(_(label) if label else condition.name, condition.written.replace("..", " … "), query))
    return chips


def _facet(name: str, values: list[tuple[str, str, int]], search: Search) -> Facet | None:
    chosen_values = search.values(name)
    there = {value for value, _label, _count in values}
    values += [(value, value, 0) for value in chosen_values if value not in there]
    values.sort(key=lambda item: (item[0] not in chosen_values, -item[2], item[1].lower()))
    if not values or (len(values) == 1 and not chosen_values and name in ("origin", "team")):
        return None
    choices = [
        FacetChoice(value, label, count, value in chosen_values, search.toggled(name, value).as_query())
        for value, label, count in values[: max(SHOWN, len(chosen_values))]
    ]
    return Facet(name, str(LABELS[name]), tuple(choices), len(values) - len(choices))


def _values(name: str, entries: QuerySet[SearchEntry]) -> list[tuple[str, str, int]]:
    """Return (value, label, count) of a facet's most frequent values."""
    if name == "pair":
        return _pairs(entries)
    if name == "tag":
        return _tags(entries)
    key, label = _PATHS[name]
    rows = (
        SearchEntry.objects.filter(pk__in=entries.order_by().values("pk"))
        .filter(**{f"{key}__isnull": False})
        .values_list(key, label)
        .annotate(count=Count("pk", distinct=True))
        .order_by("-count", label)[:MOST]
    )
    return [(str(value), _said(name, text), count) for value, text, count in rows]


def _pairs(entries: QuerySet[SearchEntry]) -> list[tuple[str, str, int]]:
    here, there = "a__testbed__site", "b__testbed__site"
    rows = list(
        SearchEnd.objects.filter(entry__in=entries.order_by().values("pk"))
        .exclude(**{here: F(there)})
        .values_list(Least(here, there), Greatest(here, there))
        .annotate(count=Count("entry", distinct=True))
        .order_by("-count")[:MOST]
    )
    names = dict(Site.objects.filter(pk__in={pk for row in rows for pk in row[:2]}).values_list("pk", "name"))
    return [
        (f"{first}-{last}", " – ".join(sorted((names[first], names[last]))), count) for first, last, count in rows
    ]


def _tags(entries: QuerySet[SearchEntry]) -> list[tuple[str, str, int]]:
    tag: Any = Func(F("experiment__campaign__tags"), function="unnest", output_field=CharField())
    tag.set_returning = True
    rows = entries.order_by().annotate(tag=tag).values_list("tag").annotate(count=Count("pk"))
    return [(value, value, count) for value, count in rows.order_by("-count", "tag")[:MOST]]


def _said(name: str, text: str) -> str:
    if name == "origin":
        return str(Campaign.Origin(text).label)
    if name == "tool":
        try:
            return toolbox.get_tool(text).name
        except tools.UnknownTool:
            return _("%(tool)s (gone)") % {"tool": text}
    return text
