"""Reads: which sites were measured together, and the layers between two of them."""

import logging
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from apps.accounts import rights
from apps.accounts.models import User
from apps.bench import rules
from apps.bench.rules import folding, layers, runner
from apps.bench.rules.base import FindingDraft
from apps.bench.rules.layers import Table
from apps.bench.rules.runner import Failure
from apps.campaigns.models import Lane
from apps.campaigns.queries.visibility import counted
from apps.testbeds.models import Node, Site
from apps.tuning import evidence

logger = logging.getLogger(__name__)

# What the tables of layers are called where they fail.
TABLES = "layers-table"


@dataclass
class Together:
    """Two sites (or one with itself) whose nodes were measured together, in how many campaigns, and when last."""

    a: Site
    b: Site
    campaigns: int
    last_at: datetime | None


@dataclass(frozen=True)
class Layers:
    """What two sites show: a table for each file system, metric and group of clients; findings; trials read.

    `failures` are the rules that failed, among them the tables by the name TABLES; what the others say is complete.
    """

    a: Site
    b: Site
    tables: tuple[Table, ...]
    findings: tuple[FindingDraft, ...]
    results: int
    failures: tuple[Failure, ...] = ()

    @property
    def has_tables(self) -> bool:
        """Return whether the tables could be computed, even if there are none."""
        return all(failure.rule != TABLES for failure in self.failures)


def pairs_for(user: User) -> list[Together]:
    """Return the pairs of sites measured in campaigns that count for the user, the last measured first."""
    rows = counted(Lane.objects.all(), user, path="experiment__campaign")
    rows = rows.filter(experiment__campaign__deleting_at=None, experiment__campaign__launched_at__isnull=False)
    lanes = list(
        rows.values_list("roles", "experiment__campaign")
        .annotate(at=Max("experiment__campaign__launched_at"))
        .order_by()
    )
    node_ids = {node for roles, _campaign, _at in lanes for nodes in roles.values() for node in nodes}
    nodes = Node.objects.select_related("testbed__site").in_bulk(node_ids)
    measured_at: dict[tuple[int, int], list[tuple[int, datetime]]] = defaultdict(list)
    for roles, campaign, at in lanes:
        sites = sorted({nodes[node].testbed.site_id for ids in roles.values() for node in ids if node in nodes})
        if 1 <= len(sites) <= 2:
            measured_at[sites[0], sites[-1]].append((campaign, at))
    sites_by_id = Site.objects.in_bulk({pk for pair in measured_at for pk in pair})
    rights.attach_foreign_teams(sites_by_id.values(), user)
    pairs = [
        Together(
            sites_by_id[a],
            sites_by_id[b],
            len({campaign for campaign, _at in measurements}),
            max(at for _campaign, at in measurements),
        )
        for (a, b), measurements in measured_at.items()
    ]
    return sorted(pairs, key=lambda pair: pair.last_at or datetime.min, reverse=True)


def sites_for(user: User, *names: int) -> list[Site] | None:
    """Return the sites of these ids, all of one team of the user; None if one is not, or not to be seen."""
    sites_by_id = rights.visible(Site.objects.select_related("team"), user).in_bulk(set(names))
    rights.attach_foreign_teams(sites_by_id.values(), user)
    sites = [sites_by_id[pk] for pk in names if pk in sites_by_id]
    return sites if len(sites) == len(names) and len({site.team_id for site in sites}) == 1 else None


def layers_of(a: Site, b: Site) -> Layers:
    """Return the layers between two sites, from the latest results of all campaigns there."""
    between = evidence.between_sites(a, b)
    results = {trial for point in between.points for values in point.metrics.values() for trial in values}
    tables, broken = runner.attempt(TABLES, lambda: runner.of_known(layers.table, between))
    answers = rules.ask_whole(between)
    failures = (*([broken] if broken else []), *runner.failures_of(answers))
    for failure in failures:
        logger.error(
            "Rule %s failed between %s and %s: %s", failure.rule, a, b, failure.error, exc_info=failure.cause
        )
    return Layers(a, b, tables or (), tuple(folding.fold(runner.drafts_of(answers))), len(results), failures)
