"""What came through the paths of a campaign in others of its team, beside the evidence of its own."""

import dataclasses
from collections.abc import Iterable, Mapping
from itertools import permutations

from apps.bench.rules.base import Evidence, PathFacts
from apps.bench.rules.tcp.elsewhere import believed
from apps.bench.rules.tcp.path import REFUTED
from apps.campaigns.models import Campaign
from apps.results.evidence.lanes import Ends, MeasuredLane, campaigns_along, pairs_of
from apps.results.evidence.passed import WayMeasured, most_along, rates_along

# Of a campaign with many clients and servers the ways between so many pairs are looked at.
MOST_PAIRS = 64


def with_passed(campaign: Campaign, evidence_by_ends: Mapping[Ends, Evidence]) -> dict[Ends, Evidence]:
    """Return evidence with the most that came through the same way in another campaign, before it or after it."""
    measured = {
        ends: WayMeasured(own.way, _links_of(own.path), _latest(own), campaign.pk, campaign.is_beyond_team)
        for ends, own in evidence_by_ends.items()
    }
    passed = most_along(campaign.team_id, measured, is_published=campaign.is_published)
    return {
        ends: dataclasses.replace(own, elsewhere=passed[ends]) if ends in passed else own
        for ends, own in evidence_by_ends.items()
    }


def with_passed_beneath(campaign: Campaign, whole: Evidence, lanes: Iterable[MeasuredLane]) -> Evidence:
    """Return a campaign's evidence with the same of the ways between the clients and servers of its file systems.

    Of links through which more came than they are said to carry nothing is known.
    """
    ids = {name: node for item in lanes for node, name in (*item.names.items(), *item.serving.items())}
    servers = {name for facts in whole.file_systems.values() for name in facts.servers}
    pairs = [pair for pair in whole.paths if servers & {*pair} and {*pair} <= ids.keys()][:MOST_PAIRS]
    at, beyond = _latest(whole), campaign.is_beyond_team
    measured = {
        way: WayMeasured((ids[way[0]], ids[way[1]]), _links_of(whole.paths[pair]), at, campaign.pk, beyond)
        for pair in pairs
        for way in (pair, pair[::-1])
    }
    passed = most_along(campaign.team_id, measured, is_published=campaign.is_published)
    if not passed:
        return whole
    paths = {
        pair: believed(path, [passed[way] for way in (pair, pair[::-1]) if way in passed], REFUTED)
        for pair, path in whole.paths.items()
    }
    return dataclasses.replace(whole, paths=paths, elsewhere_between=passed)


def hearing_of(*campaigns: Campaign, is_first: bool = False) -> set[int]:
    """Return the other campaigns of a team whose findings may rest on what these show, or showed, of their paths.

    Where one `is_first` to have results now, those along ways on which more came through than in all others; else
    all, for nobody knows what was shown before.
    """
    own, (team, is_published) = {item.pk for item in campaigns}, (campaigns[0].team_id, campaigns[0].is_published)
    pairs = pairs_of(own)
    along = campaigns_along(team, pairs, is_published=is_published)
    if is_first:
        measured = [WayMeasured(way, frozenset(), None) for pair in pairs for way in permutations(pair)]
        rates = rates_along(team, measured, is_published=is_published)
        best = [(way, max(of_way, key=lambda rate: rate.rate_bps)) for way, of_way in rates.items()]
        pairs = {frozenset(way) for way, rate in best if rate.campaign in own}
    hearing = {pk for pair in pairs for pk in along[pair]}
    return hearing if len(own) > 1 else hearing - own


def _links_of(path: PathFacts) -> frozenset[str]:
    return frozenset(link.name for link in path.links)


def _latest(own: Evidence) -> float | None:
    return max((point.at for point in own.points if point.at is not None), default=None)
