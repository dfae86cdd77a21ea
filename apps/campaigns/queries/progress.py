"""How far campaigns are, and what their nodes are busy with."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Sum

from apps.campaigns.estimation import longest_use
from apps.campaigns.models import Campaign, Lane, Run, Trial
from apps.testbeds.models import Node


@dataclass(frozen=True)
class Progress:
    """How many trials of a campaign are in each state."""

    pending: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0

    @property
    def total(self) -> int:
        """Return how many trials there are."""
        return self.pending + self.running + self.succeeded + self.failed + self.cancelled

    @property
    def done(self) -> int:
        """Return how many will not be carried out any more."""
        return self.succeeded + self.failed + self.cancelled

    @property
    def percent(self) -> int:
        """Return the share done, 0 to 100, 100 only if all are."""
        return 100 * self.done // self.total if self.total else 0


@dataclass(frozen=True)
class Activity:
    """What is under way: a run, who plays its roles, and the trial's place in its experiment."""

    run: Run
    players: tuple[tuple[str, tuple[Node, ...]], ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return every node that takes part."""
        return tuple(node for _role, members in self.players for node in members)


def progress_of(campaign_ids: Iterable[int]) -> dict[int, Progress]:
    """Return the progress of each campaign, in one query."""
    counts: dict[int, dict[str, int]] = {pk: {} for pk in campaign_ids}
    rows = Trial.objects.filter(campaign__in=counts).order_by().values_list("campaign", "state").annotate(Count("pk"))
    for campaign, state, count in rows:
        counts[campaign][state] = count
    return {campaign: Progress(**states) for campaign, states in counts.items()}


def time_left_s(campaign: Campaign) -> float:
    """Return the estimated time (s) until the last trial ends: the open trials of the busiest resource."""
    open_trials = Trial.objects.filter(campaign=campaign, state__in=("pending", "running"))
    by_lane = dict(open_trials.order_by().values_list("lane").annotate(Sum("estimate_s")))
    seconds: dict[str, float] = defaultdict(float)
    for pk, resources in Lane.objects.filter(pk__in=by_lane).values_list("pk", "resources"):
        for resource in resources:
            seconds[resource] += by_lane[pk]
    return longest_use(seconds)


def activities_of(campaign: Campaign, limit: int = 100) -> list[Activity]:
    """Return what is under way, the longest running first, with the nodes that do it."""
    runs = list(
        Run.objects.filter(trial__campaign=campaign, state__in=Run.OPEN_STATES)
        .select_related("trial__experiment", "trial__lane")
        .defer("plan")
        .order_by("started_at")[:limit]
    )
    wanted = {pk for run in runs for members in run.trial.lane.roles.values() for pk in members}
    nodes = Node.objects.in_bulk(wanted)
    return [
        Activity(
            run,
            tuple(
                (role, tuple(nodes[pk] for pk in members if pk in nodes))
                for role, members in run.trial.lane.roles.items()
            ),
        )
        for run in runs
    ]
