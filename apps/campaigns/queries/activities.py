"""What the nodes of a campaign are busy with, and how long what is left will take."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum

from apps.campaigns.estimation import longest_use
from apps.campaigns.models import Campaign, Lane, Run, Trial
from apps.testbeds.models import Node


@dataclass(frozen=True)
class RunUnderWay:
    """What is under way: a run, who plays its roles, and the trial's place in its experiment."""

    run: Run
    players: tuple[tuple[str, tuple[Node, ...]], ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return every node that takes part."""
        return tuple(node for _role, members in self.players for node in members)


def is_estimable(campaign: Campaign, *, has_known_end: bool, has_stages: bool) -> bool:
    """Say whether one can say how long a campaign takes still.

    Not of what waits for nobody knows what (`has_known_end` of its waits), nor of trials that are not known yet, for
    an experiment has not started (`has_stages`).
    """
    return campaign.state == Campaign.State.RUNNING and has_known_end and not has_stages


def time_left_s(campaign: Campaign, *, now: datetime) -> float:
    """Return the estimated time (s) from `now` until the last trial ends: the open trials of the busiest resource.

    Of what is under way the time that has passed is taken off; what takes longer than was expected has nothing left.
    """
    open_trials = Trial.objects.filter(campaign=campaign, state__in=("pending", "running"))
    by_lane = dict(open_trials.order_by().values_list("lane").annotate(Sum("estimate_s")))
    under_way = Run.objects.filter(trial__campaign=campaign, trial__state="running", state__in=Run.OPEN_STATES)
    for lane, estimate_s, started_at in under_way.values_list("trial__lane", "trial__estimate_s", "started_at"):
        passed_s = (now - started_at).total_seconds()
        by_lane[lane] = max(by_lane.get(lane, 0.0) - min(max(passed_s, 0.0), estimate_s), 0.0)
    seconds: dict[str, float] = defaultdict(float)
    for pk, resources in Lane.objects.filter(pk__in=by_lane).values_list("pk", "resources"):
        for resource in resources:
            seconds[resource] += by_lane[pk]
    return longest_use(seconds)


def activities_of(campaign: Campaign, limit: int = 100) -> list[RunUnderWay]:
    """Return what is under way, the longest running first, with the nodes that do it."""
    runs = list(
        Run.objects.filter(trial__campaign=campaign, state__in=Run.OPEN_STATES)
        .select_related("trial__experiment", "trial__lane")
        .defer("plan")
        .order_by("started_at")[:limit]
    )
    node_ids = {pk for run in runs for members in run.trial.lane.roles.values() for pk in members}
    nodes = Node.objects.in_bulk(node_ids)
    return [
        RunUnderWay(
            run,
            tuple(
                (role, tuple(nodes[pk] for pk in members if pk in nodes))
                for role, members in run.trial.lane.roles.items()
            ),
        )
        for run in runs
    ]
