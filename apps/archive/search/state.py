"""All that a search asks for, as the query of its address."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import TooManyFieldsSent
from django.http import QueryDict
from django.utils.dateparse import parse_date

from apps.archive.search.conditions import Condition, ConditionError, SearchNames, read_metric, read_parameter
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign
from apps.core import moments
from apps.results.addresses import Errors, unknown_names

# No id is larger than a column of the database.
_LARGEST_ID = 2**63 - 1
LONGEST_WORDS = 500
MOST_CONDITIONS = 10
# So many values of one facet are looked for.
MOST_VALUES = 50
SORTS = ("newest", "oldest", "name")
# Facets whose values are ids, and those whose values are texts.
NUMBERS = ("site", "testbed", "cluster", "node", "file-system")
TEXTS = ("tool", "team", "person", "tag", "origin")
FACETS = ("tool", "pair", "site", "testbed", "cluster", "node", "file-system", "team", "person", "tag", "origin")
# The page's form spells a range in three fields.
_RANGES = tuple(f"{key}{part}" for key in ("param", "metric") for part in ("", "_name", "_from", "_to"))
NAMES = ("q", *FACETS, "since", "until", *_RANGES, "sort", "page", "page_size")


@dataclass(frozen=True)
class Search:
    """What is searched for: all of it must hold, of the values of one facet any, of tags every one.

    `chosen` {facet: values} holds the texts of the address; a pair of sites is "3-7", the smaller id first.
    """

    words: str = ""
    chosen: tuple[tuple[str, tuple[str, ...]], ...] = ()
    since: date | None = None
    until: date | None = None
    parameters: tuple[Condition, ...] = field(default=())
    metrics: tuple[Condition, ...] = field(default=())
    sort: str = SORTS[0]

    def values(self, facet: str) -> tuple[str, ...]:
        """Return what is chosen of a facet."""
        return dict(self.chosen).get(facet, ())

    def numbers(self, facet: str) -> list[int]:
        """Return what is chosen of a facet whose values are ids."""
        return [int(value) for value in self.values(facet)]

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of sites chosen."""
        split = (value.split("-") for value in self.values("pair"))
        return [(int(first), int(last)) for first, last in split]

    @property
    def is_narrowed(self) -> bool:
        """Return whether anything is asked for at all."""
        return replace(self, sort=SORTS[0]) != Search()

    def without(self, facet: str) -> "Search":
        """Return the search with nothing chosen of a facet."""
        return replace(self, chosen=tuple(pair for pair in self.chosen if pair[0] != facet))

    def toggled(self, facet: str, value: str) -> "Search":
        """Return the search with a value of a facet chosen, or no more."""
        values = self.values(facet)
        toggled_values = tuple(item for item in values if item != value) if value in values else (*values, value)
        by_facet = dict(self.chosen) | {facet: toggled_values}
        facets = tuple((name, by_facet[name]) for name in FACETS if by_facet.get(name))
        return replace(self, chosen=facets)

    def without_condition(self, condition: Condition) -> "Search":
        """Return the search without a range."""
        ranges = [tuple(item for item in items if item != condition) for items in (self.parameters, self.metrics)]
        return replace(self, parameters=ranges[0], metrics=ranges[1])

    @property
    def picked(self) -> list[tuple[str, str]]:
        """Return what was picked of facets and the ranges, as pairs of the address."""
        pairs = [(facet, value) for facet, values in self.chosen for value in values]
        pairs += [("param", condition.as_text()) for condition in self.parameters]
        return pairs + [("metric", condition.as_text()) for condition in self.metrics]

    def as_query(self) -> str:
        """Return the query of the address; what is as usual is left out."""
        pairs = [("q", self.words)] if self.words else []
        pairs += self.picked
        pairs += [(name, day.isoformat()) for name, day in (("since", self.since), ("until", self.until)) if day]
        pairs += [("sort", self.sort)] if self.sort != SORTS[0] else []
        return urlencode(pairs)


def read_search(query: QueryDict, names: SearchNames) -> tuple[Search, Errors]:
    """Return the search that a query means, and what of it could not be read: {field: messages}.

    What cannot be read is left out, so that a page can show the rest.
    """
    errors: Errors = {}
    words = query.get("q", "").replace("\0", "").strip()
    if len(words) > LONGEST_WORDS:
        errors["q"] = [Message(_("At most %(most)s characters are searched for."), {"most": LONGEST_WORDS})]
        words = words[:LONGEST_WORDS]
    pairs = [(facet, tuple(dict.fromkeys(_values(facet, query.getlist(facet), errors)))) for facet in FACETS]
    sort = query.get("sort", "") or SORTS[0]
    if sort not in SORTS:
        errors["sort"] = [Message(_("Choose one of: %(choices)s."), {"choices": ", ".join(SORTS)})]
        sort = SORTS[0]
    search = Search(
        words=words,
        chosen=tuple(pair for pair in pairs if pair[1]),
        since=_day(query, "since", errors),
        until=_day(query, "until", errors),
        parameters=_conditions(query, "param", read_parameter, names, errors),
        metrics=_conditions(query, "metric", read_metric, names, errors),
        sort=sort,
    )
    return search, errors


def read_text(text: str, names: SearchNames) -> tuple[Search, Errors]:
    """Return the same of a query written as text."""
    try:
        query = QueryDict(text.removeprefix("?"))
    except (TooManyFieldsSent, UnicodeError):
        return Search(), {"query": [Message(_("This is no address of a search."))]}
    search, errors = read_search(query, names)
    return search, errors | unknown_names(query, NAMES)


def _values(facet: str, texts: list[str], errors: Errors) -> list[str]:
    values = []
    if len(texts) > MOST_VALUES:
        errors[facet] = [Message(_("Choose at most %(most)s."), {"most": MOST_VALUES})]
    for text in (text.replace("\0", "").strip() for text in texts[:MOST_VALUES]):
        if not text:
            continue
        if value := _read(facet, text):
            values.append(value)
            continue
        problem = _("“%(text)s” is no value of “%(facet)s”: choose one of those that the page offers.")
        errors.setdefault(facet, []).append(Message(problem, {"text": text[:100], "facet": facet}))
    return values


def _read(facet: str, text: str) -> str:
    """Return a facet's value as it is kept, "" if it is none."""
    if facet == "pair":
        ends = sorted(end for part in text.split("-", 2) if (end := _number(part)) is not None)
        return f"{ends[0]}-{ends[1]}" if len(ends) == 2 and text.count("-") == 1 else ""
    if facet in NUMBERS:
        number = _number(text)
        return "" if number is None else str(number)
    if facet == "origin":
        return text if text in Campaign.Origin.values else ""
    return text[:200]


def _number(text: str) -> int | None:
    if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) > _LARGEST_ID:
        return None
    return int(text)


def _day(query: QueryDict, name: str, errors: Errors) -> date | None:
    text = query.get(name, "").strip()
    if not text:
        return None
    try:
        if (day := parse_date(text)) and moments.is_reasonable_day(day):
            return day
    except ValueError:
        pass
    message = Message(_("“%(part)s” is no date: write for example %(form)s."), {"part": text, "form": "2026-11-21"})
    errors.setdefault(name, []).append(message)
    return None


def _conditions(
    query: QueryDict, key: str, reader: Callable[[str, SearchNames], Condition], names: SearchNames, errors: Errors
) -> tuple[Condition, ...]:
    """Return the conditions of an address, and the one that the page's form spells in three fields."""
    texts: list[Any] = [text for text in query.getlist(key) if text.strip()]
    name, low, high = (query.get(f"{key}_{part}", "").strip() for part in ("name", "from", "to"))
    if name and (low or high):
        texts.append(f"{name}:{low}" if low == high else f"{name}:{low}..{high}")
    elif low or high:
        errors.setdefault(key, []).append(Message(_("Choose what the range is of.")))
    conditions: dict[Condition, None] = {}
    for text in texts[:MOST_CONDITIONS]:
        try:
            conditions[reader(text, names)] = None
        except ConditionError as error:
            errors.setdefault(key, []).append(error.message)
    return tuple(conditions)
