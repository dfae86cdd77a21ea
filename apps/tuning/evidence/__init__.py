"""Gather what rules read: of a campaign by pair of ends or as a whole, of two sites or all files over the archive."""

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db.models import QuerySet

from apps.accounts.models import Team
from apps.agents import queries as agents
from apps.bench.rules.base import Evidence, Point
from apps.bench.toolkit import Tool
from apps.campaigns.models import Campaign, Run
from apps.results.evidence import points, ways
from apps.results.evidence.lanes import (
    Ends,
    MeasuredLane,
    lanes_beneath,
    lanes_of_campaign,
    lanes_of_files,
    lanes_of_sites,
)
from apps.testbeds.models import Site
from apps.tuning.evidence import elsewhere, paths, printed, storage
from apps.tuning.evidence.elsewhere import hearing_of

# The roles between which data go where another node starts them.
THIRD_PARTY = ("source", "destination")

__all__ = ["Ends", "between_sites", "by_ends", "hearing_of", "of_campaign", "of_files"]


def by_ends(campaign: Campaign) -> dict[Ends, Evidence]:
    """Return what the campaign measured (or, of published figures, prints), by the nodes it was measured between.

    Who sends comes first: what data had from the second role to the first is evidence of its own.
    """
    lanes = lanes_of_campaign(campaign)
    pairs = points.of_lanes(lanes)
    cells: dict[Ends, list[tuple[Tool, Point]]] = defaultdict(list)
    for pk, point in pairs:
        cells[lanes[pk].ends].append((lanes[pk].tool, point))
    members: dict[Ends, list[MeasuredLane]] = defaultdict(list)
    for item in lanes.values():
        if item.ends in cells or printed.has_any(item.lane.experiment):
            members[item.ends].append(item)
    network = paths.TeamNetwork(campaign.team_id, campaign)
    network.load(node for own in members.values() for item in own for node in (*item.names, *item.serving))
    facts = agents.facts_of_runs({node for ends in members for _role, node in ends}, _runs_of(campaign))
    found_by_ends = {}
    for ends, own in members.items():
        whole = Evidence(
            points=(),
            path=network.path_of(ends),
            facts={role: facts[node] for role, node in ends if node in facts},
            paths=network.paths_of(own),
            file_systems=storage.file_systems_of(own, facts),
            **printed.of_lanes(own),
        )
        for side in ways.sides_of(ends, cells[ends]):
            found_by_ends[side.ends] = dataclasses.replace(
                whole, points=side.points, way=side.way, is_back=side.is_back, told_beside=side.told_beside
            )
    return _beside(elsewhere.with_passed(campaign, found_by_ends))


def _beside(evidence_by_ends: dict[Ends, Evidence]) -> dict[Ends, Evidence]:
    """Return evidence with what was measured between the same two nodes otherwise: they have one path.

    The ends with the most trials on the network come first, of equals those that were measured first.
    """
    groups: dict[frozenset[int], list[Ends]] = defaultdict(list)
    for ends in evidence_by_ends:
        # A transfer that a third node starts goes between the other two.
        nodes = frozenset(node for role, node in ends if len(ends) == 2 or role in THIRD_PARTY)
        if len(nodes) == 2:
            groups[nodes].append(ends)
    joined = dict(evidence_by_ends)
    for group in groups.values():
        ranked = sorted(group, key=lambda ends: -_trials_of(evidence_by_ends[ends]))
        for place, ends in enumerate(ranked):
            others = tuple(evidence_by_ends[other] for other in ranked if other != ends)
            joined[ends] = dataclasses.replace(evidence_by_ends[ends], beside=others, elder=place)
    return joined


def _trials_of(evidence: Evidence) -> int:
    return sum(len(point.trials("goodput")) for point in evidence.points)


def of_campaign(campaign: Campaign) -> Evidence:
    """Return all that the campaign measured or prints, between whichever nodes."""
    lanes = lanes_of_campaign(campaign)
    network = paths.TeamNetwork(campaign.team_id, campaign)
    whole = _whole(lanes, points.of_lanes(lanes), network, _runs_of(campaign))
    return elsewhere.with_passed_beneath(campaign, whole, lanes.values()) if whole.file_systems else whole


def between_sites(a: Site, b: Site, *, most_results: int = points.MOST_RESULTS) -> Evidence:
    """Return what the team of two sites measured between them or at either, of all campaigns: the latest results.

    Published figures count if there are such; invalid results and warm-ups never do. A site with itself is its own.
    """
    lanes = lanes_of_sites(a, b)
    pairs = points.of_lanes(lanes, most_results=most_results)
    return _whole(lanes, pairs, paths.TeamNetwork(a.team_id))


def of_files(team: Team, *, most_results: int = points.MOST_RESULTS) -> Evidence:
    """Return what a team measured of its file systems and of the network to them, in all campaigns: the latest.

    So many of either: what the network carries tells which figures of a file system are not believable.
    """
    lanes = lanes_of_files(team)
    beneath = lanes_beneath(team, lanes.values())
    pairs = [pair for own in (lanes, beneath) if own for pair in points.of_lanes(own, most_results=most_results)]
    return _whole(lanes | beneath, pairs, paths.TeamNetwork(team.pk))


def _runs_of(campaign: Campaign) -> QuerySet[Run, int]:
    return Run.objects.filter(trial__campaign=campaign).order_by().values_list("pk", flat=True)


def _whole(
    lanes: dict[int, MeasuredLane],
    pairs: Sequence[tuple[int, Point]],
    network: paths.TeamNetwork,
    runs: Iterable[int] = (),
) -> Evidence:
    """Return the evidence of lanes; `runs` are those of one campaign, of which an archive may have brought facts."""
    lane_ids = {pk for pk, _point in pairs}
    own = [item for pk, item in lanes.items() if pk in lane_ids or printed.has_any(item.lane.experiment)]
    names = {node: name for item in own for node, name in item.names.items()}
    facts = agents.facts_of_runs(names, runs)
    return Evidence(
        points=tuple(point for _lane, point in pairs),
        facts={names[node]: facts_of_node for node, facts_of_node in facts.items()},
        paths=network.paths_of(own),
        interconnects=network.interconnects_of(own),
        file_systems=storage.file_systems_of(own, facts),
        **printed.of_lanes(own),
    )
