"""Whether what an experiment is about to measure has been measured before: with the same settings, or much alike."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet

from apps.accounts.models import User
from apps.archive.search.models import SearchEnd, SearchEntry
from apps.archive.search.queries import Hit, entries_for, hits_of, with_details
from apps.archive.search.state import Search
from apps.bench import strict_json
from apps.bench.toolkit import Metric
from apps.campaigns.expansion import Cast, Expansion
from apps.campaigns.models import Experiment, Lane
from apps.campaigns.queries import visibility
from apps.results import doubts, means, queries
from apps.results.doubts import Doubts, Mark
from apps.results.models import Sample
from apps.testbeds.models import Node

# Of larger experiments the first points and sets of nodes are looked for, in so many of the newest experiments.
MOST_POINTS = 200
MOST_CASTS = 50
MOST_LANES = 50
SHOWN = 5
NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Earlier:
    """An experiment that measured points with the same settings between the same nodes: so many of them, from `low`
    to `high` (means of the points, base unit) with `n` figures, last at `at`; `mark` tells which are flagged.
    """

    experiment: Experiment
    points: int
    n: int
    low: float
    high: float
    at: datetime | None
    mark: Mark | None


@dataclass(frozen=True)
class Already:
    """What there is: of `points` looked for (`is_all` the experiment has), `measured` have been.

    `alike` ran the same tool between the same nodes or, if there are none, between nodes of the same sites.
    """

    metric: Metric
    points: int
    is_all: bool
    measured: int
    earlier: tuple[Earlier, ...]
    alike: tuple[Hit, ...]
    same_nodes: bool


def already(expansion: Expansion, user: User) -> Already:
    """Return what of an experiment has been measured already, of all that counts for the user."""
    casts, points = expansion.casts[:MOST_CASTS], expansion.points[:MOST_POINTS]
    metric = queries.metrics_of(expansion.tool)[0]
    lanes = _lanes(expansion, casts, user)
    rows = _figures(lanes, points, metric)
    grouped: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        grouped.setdefault(row["experiment_id"], []).append(row)
    experiments = Experiment.objects.select_related("campaign").in_bulk(grouped)
    newest = sorted(grouped, key=lambda pk: _last(grouped[pk]) or NEVER, reverse=True)[:SHOWN]
    raised = doubts.doubts_of_figures(_trials([row for pk in newest for row in grouped[pk]]), metric.name)
    earlier = [_earlier(experiments[pk], grouped[pk], metric, raised) for pk in newest]
    settings = {(strict_json.dumps(lanes[row["trial__lane_id"]]), _key(row["trial__parameters"])) for row in rows}
    alike, same_nodes = _alike(expansion, casts, user, besides=grouped)
    return Already(
        metric=metric,
        points=len(casts) * len(points),
        is_all=len(casts) == len(expansion.casts) and len(points) == len(expansion.points),
        measured=len(settings),
        earlier=tuple(earlier),
        alike=tuple(hits_of(with_details(alike)[:SHOWN], Search())),
        same_nodes=same_nodes,
    )


def _earlier(experiment: Experiment, rows: list[dict[str, Any]], metric: Metric, raised: Doubts) -> Earlier:
    kind = means.mean_of_experiments([experiment], metric)
    centres = [means.value_of(row["values"], kind) for row in rows]
    trials = _trials(rows)
    return Earlier(
        experiment,
        points=len(rows),
        n=len(trials),
        low=min(centres),
        high=max(centres),
        at=_last(rows),
        mark=raised.about(trials, metric.name),
    )


def _last(rows: list[dict[str, Any]]) -> datetime | None:
    return max((row["at"] for row in rows if row["at"]), default=None)


def _trials(rows: list[dict[str, Any]]) -> list[int]:
    return [trial for row in rows for trial in row["trials"]]


def _lanes(expansion: Expansion, casts: Iterable[Cast], user: User) -> dict[int, dict[str, list[int]]]:
    """Return {lane: roles} of the newest lanes on which the same tool ran between the same nodes."""
    lanes = Lane.objects.filter(
        roles__in=[cast.as_ids() for cast in casts],
        experiment__tool=expansion.tool.slug,
        experiment__file_system=expansion.file_system,
        experiment__campaign__deleting_at=None,
        experiment__campaign__launched_at__isnull=False,
    )
    newest = visibility.counted(lanes, user, path="experiment__campaign").order_by(
        "-experiment__campaign__launched_at", "-pk"
    )
    return dict(newest.values_list("pk", "roles")[:MOST_LANES])


def _figures(lanes: Iterable[int], points: Iterable[Any], metric: Metric) -> list[dict[str, Any]]:
    """Return the figures that count of the points that were measured with exactly these settings."""
    rows: Iterable[Any] = (
        Sample.objects.filter(
            trial__lane__in=list(lanes),
            trial__parameters__in=[dict(point) for point in points],
            metric=metric.name,
            counts=True,
        )
        .order_by()
        .values("experiment_id", "trial__lane_id", "trial__parameters")
        .annotate(values=ArrayAgg("value"), trials=ArrayAgg("trial_id"), at=Max("trial__finished_at"))
    )
    return list(rows)


def _alike(
    expansion: Expansion, casts: Iterable[Cast], user: User, besides: Iterable[int]
) -> tuple[QuerySet[SearchEntry], bool]:
    """Return what the same tool measured between the same nodes, if anything, or else between their sites."""
    entries = (
        visibility.counted(entries_for(user), user, path="experiment__campaign")
        .filter(experiment__tool=expansion.tool.slug)
        .exclude(pk__in=list(besides))
        .order_by(F("last_at").desc(nulls_last=True), "-pk")
    )
    played = {node.pk for cast in casts for node in cast.nodes}
    sites = dict(Node.objects.filter(pk__in=played).values_list("pk", "testbed__site"))
    firsts = {tuple(members[0].pk for members in cast.roles.values())[:2] for cast in casts}
    if all(len(pair) == 2 for pair in firsts):
        ends = SearchEnd.objects.filter(entry=OuterRef("pk"))
        same = entries.filter(Exists(ends.filter(_any({"a": a, "b": b} for a, b in firsts))))
        pairs = {(sites[a], sites[b]) for a, b in firsts}
        near = _any({"a__testbed__site": here, "b__testbed__site": there} for here, there in pairs)
        nearby = entries.filter(Exists(ends.filter(near)))
    else:
        parts = SearchEntry.objects.filter(pk=OuterRef("pk"))
        same = entries.filter(Exists(parts.filter(nodes__in=played)))
        nearby = entries.filter(Exists(parts.filter(nodes__testbed__site__in=set(sites.values()))))
    is_same = bool(besides) or same.exists()
    return (same if is_same else nearby), is_same


def _any(pairs: Iterable[dict[str, int]]) -> Q:
    condition = Q()
    for item in pairs:
        condition |= Q(**item)
    return condition


def _key(parameters: dict[str, Any]) -> str:
    return strict_json.dumps(parameters, sort_keys=True)
