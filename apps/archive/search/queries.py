"""Reads of the archive: the experiments that a search finds, the newest first, with their figures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any

from django.contrib.postgres.search import SearchQuery
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.accounts import rights
from apps.accounts.models import User
from apps.archive.search import lines
from apps.archive.search.conditions import Condition
from apps.archive.search.entries import words_of
from apps.archive.search.models import SavedSearch, SearchEnd, SearchEntry, SearchMetric, SearchValue
from apps.archive.search.state import Search
from apps.bench import tools
from apps.bench.toolkit import Metric, Tool, goes_back
from apps.bench.toolkit.ways import BOTH, in_order
from apps.campaigns.models import Experiment
from apps.campaigns.queries import visibility
from apps.results import queries
from apps.results.models import Sample
from apps.testbeds import patterns
from apps.toolbox import queries as toolbox

# A list shows so many patterns of the names in a role.
MOST_PIECES = 3
_ORDERS: dict[str, tuple[Any, ...]] = {
    "newest": (F("last_at").desc(nulls_last=True), "-pk"),
    "oldest": (F("last_at").asc(nulls_last=True), "pk"),
    "name": ("experiment__campaign__name", "experiment__name", "pk"),
}
_PATHS = {
    "tool": "experiment__tool",
    "file-system": "experiment__file_system",
    "team": "experiment__campaign__team__slug",
    "person": "experiment__campaign__created_by__username",
    "origin": "experiment__campaign__origin",
}
# From an entry to what its nodes belong to.
NODE_PATHS = {
    "site": "nodes__testbed__site",
    "testbed": "nodes__testbed",
    "cluster": "nodes__clusters",
    "node": "nodes",
}


@dataclass(frozen=True)
class MetricFigure:
    """A metric's figures in an experiment, in base units: the means of its points from `low` to `high`, and the best
    of them, None where neither direction is better. So many of its `n` figures are `flagged`.
    """

    metric: Metric
    n: int
    low: float
    high: float
    flagged: int = 0

    @property
    def best(self) -> float | None:
        """Return the best mean."""
        better = self.metric.higher_is_better
        return None if better is None else self.high if better else self.low


@dataclass(frozen=True)
class Hit:
    """An experiment that was found, with its tool (None if that is gone) and what it measured."""

    entry: SearchEntry
    tool: Tool | None
    figures: tuple[MetricFigure, ...]

    @property
    def experiment(self) -> Experiment:
        """Return the experiment that the entry describes."""
        return self.entry.experiment

    @property
    def varied(self) -> list[tuple[str, str]]:
        """Return the label and the values of each parameter that was varied."""
        return lines.varied_of(self.experiment, self.tool)

    @property
    def players(self) -> str:
        """Return "sender → receiver" with the names of the nodes and clusters of its roles, "↔" of both ways."""
        return patterns.told_ends(self._roles, ["+".join(names) for names in self._cast], self._arrow)

    @property
    def ends(self) -> str:
        """Return the same for a narrow cell: many names as patterns, of very many the first."""
        names = [patterns.shorten_names(names, most=MOST_PIECES) for names in self._cast]
        return patterns.told_ends(self._roles, names, self._arrow)

    @cached_property
    def _sides(self) -> set[bool]:
        """Return whether data went back from the second role to the first, as far as the experiment asks for it."""
        if self.tool is None:
            return {False}
        experiment = self.experiment
        name, _value = self.tool.backwards_at
        is_varied = any(factor["name"] == name for factor in experiment.factors)
        both = is_varied or experiment.fixed.get(name) == BOTH
        return {False, True} if both else {goes_back(self.tool, experiment.fixed)}

    @property
    def _arrow(self) -> str:
        return " ↔ " if len(self._sides) > 1 else " → "

    @property
    def _roles(self) -> list[str]:
        return [role for role, names in self._played.items() if names]

    @cached_property
    def _cast(self) -> list[list[str]]:
        """Return the names of each role: who sends, who receives, and the other roles."""
        return in_order((names for names in self._played.values() if names), is_back=self._sides == {True})

    @cached_property
    def _played(self) -> dict[str, list[str]]:
        """Return the names of each role, in the order of the tool's roles."""
        parts: dict[str, list[str]] = {role.name: [] for role in self.tool.roles} if self.tool else {}
        for part in self.experiment.roles.all():
            parts.setdefault(part.role, []).append(str(part.node or part.cluster))
        return parts


def entries_for(user: User) -> QuerySet[SearchEntry]:
    """Return the entries of what the user may see."""
    entries = SearchEntry.objects.filter(experiment__campaign__deleting_at=None)
    return visibility.visible(entries, user, path="experiment__campaign")


def searches_for(user: User) -> QuerySet[SavedSearch]:
    """Return the saved searches of the user's teams."""
    return rights.visible(SavedSearch.objects.select_related("team", "created_by"), user)


def find(search: Search, user: User) -> QuerySet[SearchEntry]:
    """Return the entries for which all that is searched for holds, in the order asked for."""
    return narrowed(entries_for(user), search).order_by(*_ORDERS[search.sort])


def experiments_found(search: Search, user: User) -> QuerySet[Experiment]:
    """Return the experiments that a search finds."""
    return Experiment.objects.filter(pk__in=narrowed(entries_for(user), search).values("pk")).order_by("pk")


def narrowed(entries: QuerySet[SearchEntry], search: Search) -> QuerySet[SearchEntry]:
    """Return those of the entries for which all that is searched for holds."""
    words = words_of(search.words)
    if search.words.strip() and not words:
        # Of signs only, such as an emoji: no entry has a word of them.
        return entries.none()
    if words:
        # Each word may be the beginning of one.
        text = " & ".join(f"'{word}':*" for word in words)
        entries = entries.filter(words=SearchQuery(text, search_type="raw", config="simple"))
    for facet, values in search.chosen:
        if facet in _PATHS:
            entries = entries.filter(**{f"{_PATHS[facet]}__in": values})
        elif facet == "tag":
            entries = entries.filter(experiment__campaign__tags__contains=list(values))
        elif facet in NODE_PATHS:
            inner = SearchEntry.objects.filter(pk=OuterRef("pk"), **{f"{NODE_PATHS[facet]}__in": values})
            entries = entries.filter(Exists(inner))
    if pairs := search.pairs():
        entries = entries.filter(Exists(_between(pairs).filter(entry=OuterRef("pk"))))
    if search.since:
        entries = entries.filter(last_at__gte=_midnight(search.since))
    if search.until:
        entries = entries.filter(first_at__lt=_midnight(search.until + timedelta(days=1)))
    for condition in search.parameters:
        entries = entries.filter(Exists(_values(condition).filter(entry=OuterRef("pk"))))
    for condition in search.metrics:
        entries = entries.filter(Exists(_figures(condition).filter(entry=OuterRef("pk"))))
    return entries


def hits_of(entries: Iterable[SearchEntry], search: Search) -> list[Hit]:
    """Return entries with what a list shows: the figures of the metrics searched for, or of the tool's usual one."""
    rows = list(entries)
    tools_by_slug = {slug: _tool(slug) for slug in {entry.experiment.tool for entry in rows}}
    metric_names = [condition.name for condition in search.metrics]
    metrics_of_tools = {slug: _metrics_of(tool, metric_names) for slug, tool in tools_by_slug.items()}
    names = {metric.name for metrics in metrics_of_tools.values() for metric in metrics}
    figures = {
        (row.entry_id, row.name): row
        for row in SearchMetric.objects.filter(entry__in=[entry.pk for entry in rows], name__in=names)
    }
    return [
        Hit(
            entry,
            tools_by_slug[entry.experiment.tool],
            tuple(
                MetricFigure(metric, row.n, row.low_mean, row.high_mean, row.flagged)
                for metric in metrics_of_tools[entry.experiment.tool]
                if (row := figures.get((entry.pk, metric.name)))
            ),
        )
        for entry in rows
    ]


def with_details(entries: QuerySet[SearchEntry]) -> QuerySet[SearchEntry]:
    """Return the entries with what a list shows of their experiments, in a few queries however many they are."""
    return entries.defer("words").select_related(
        "experiment__campaign__team", "experiment__campaign__created_by", "experiment__file_system"
    ).prefetch_related("experiment__roles__node", "experiment__roles__cluster")  # fmt: skip


def _tool(slug: str) -> Tool | None:
    try:
        return toolbox.get_tool(slug)
    except tools.UnknownTool:
        return None


def _metrics_of(tool: Tool | None, metric_names: Sequence[str]) -> list[Metric]:
    if tool is None:
        return []
    metrics = queries.metrics_of(tool)
    return [metric for metric in metrics if metric.name in metric_names] or metrics[:1]


def _between(pairs: Iterable[tuple[int, int]]) -> QuerySet[SearchEnd]:
    condition = Q()
    for here, there in pairs:
        for a, b in ((here, there), (there, here)):
            condition |= Q(a__testbed__site=a, b__testbed__site=b)
    return SearchEnd.objects.filter(condition)


def _values(condition: Condition) -> QuerySet[SearchValue]:
    rows = SearchValue.objects.filter(name=condition.name)
    if condition.text:
        return rows.filter(text=condition.text)
    rows = rows.filter(number__isnull=False)
    if condition.low is not None:
        rows = rows.filter(number__gte=condition.low)
    return rows if condition.high is None else rows.filter(number__lte=condition.high)


def _figures(condition: Condition) -> QuerySet[SearchMetric]:
    """Return the metrics of experiments with a figure in a range."""
    rows = SearchMetric.objects.filter(name=condition.name)
    if condition.low is not None:
        rows = rows.filter(high__gte=condition.low)
    if condition.high is not None:
        rows = rows.filter(low__lte=condition.high)
    if condition.low is None or condition.high is None:
        return rows
    # Lowest and highest figure may lie on both sides of the range with none in it: then the samples tell.
    within = Sample.objects.filter(
        experiment=OuterRef("entry"),
        metric=condition.name,
        value__range=(condition.low, condition.high),
        counts=True,
    )
    return rows.filter(Q(low__gte=condition.low) | Q(high__lte=condition.high) | Exists(within))


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))
