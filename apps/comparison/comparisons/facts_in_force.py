"""Which facts of the nodes held when the figures of a comparison were measured."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.agents.models import FactSnapshot
from apps.campaigns.models import Trial
from apps.comparison.comparisons.figure_rows import FigureRows
from apps.testbeds.queries.readers import of_own_nodes

# The label of each role that a node plays, and when: {node: (labels, its lanes, first and last moment)}.
Periods = dict[int, tuple[set[str], set[int], datetime, datetime]]
# {node: its snapshots in the order of time}.
Timelines = dict[int, list[tuple[datetime, int]]]


def timelines_of(nodes: Iterable[int], figures: FigureRows, user: User) -> list[Timelines]:
    """Return {node: its snapshots in the order of time} for each set, of the nodes whose facts the user may read.

    Figures that archives brought are told by what these brought with them, all others by what the agents said here.
    """
    rows = of_own_nodes(FactSnapshot.objects.filter(node__in=nodes), user)
    by_source: dict[str, Timelines] = defaultdict(lambda: defaultdict(list))
    fact_rows = rows.order_by("node", "created_at").values_list("archive_ref", "node_id", "created_at", "pk")
    for source, node, moment, pk in fact_rows:
        by_source[source][node].append((moment, pk))
    by_set = []
    for own in figures.rows:
        campaigns = {figures.choice.experiments[row.experiment].campaign.permanent_id for row in own}
        timelines: Timelines = by_source[""]
        if campaigns and campaigns <= by_source.keys():
            timelines = defaultdict(list)
            for source in sorted(campaigns):
                for node, snapshots in by_source[source].items():
                    timelines[node] = sorted([*timelines[node], *snapshots])
        by_set.append(timelines)
    return by_set


def in_force(periods: list[Periods], timelines: list[Timelines], figures: FigureRows) -> list[dict[int, set[int]]]:
    """Return {node: snapshots} that held when a figure was measured, set by set.

    What a node was only between two figures says nothing of them. When each was measured is read only of sets in
    whose time a node told something new.
    """
    by_set, unsure = [], set()
    for place, period in enumerate(periods):
        mine = {}
        for node, (_roles, _lanes, first, last) in period.items():
            own = timelines[place].get(node, [])
            mine[node] = {pk for moment, pk in own if first < moment <= last} | _last_before(own, first)
            unsure |= {place} if len(mine[node]) > 1 else set()
        by_set.append(mine)
    if not unsure:
        return by_set
    trials = {place: {trial for row in figures.rows[place] for trial in row.trials} for place in unsure}
    moment = Coalesce("finished_at", "updated_at")
    rows = Trial.objects.filter(pk__in=set().union(*trials.values())).values_list("pk", "lane_id", moment)
    measured = list(rows)
    for place, own_trials in trials.items():
        for node, snapshots in by_set[place].items():
            if len(snapshots) > 1:
                lanes = periods[place][node][1]
                moments = {at for pk, lane, at in measured if pk in own_trials and lane in lanes}
                by_set[place][node] = {pk for at in moments for pk in _last_before(timelines[place][node], at)}
    return by_set


def _last_before(timeline: list[tuple[datetime, int]], moment: datetime) -> set[int]:
    """Return the snapshot that held at a moment; none before the first was taken."""
    place = bisect_right(timeline, moment, key=lambda item: item[0])
    return {timeline[place - 1][1]} if place else set()
