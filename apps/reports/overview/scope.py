"""Which measurements a management report is over: the lanes of a team's campaigns in a period, read once."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Q

from apps.accounts.models import Team
from apps.bench import tools
from apps.bench.toolkit import Metric, Tool
from apps.campaigns.models import Campaign, Lane
from apps.campaigns.queries.visibility import for_whole_team
from apps.reports.overview.selection import Period, Selection
from apps.results import queries as results
from apps.testbeds.models import Cluster, Node, Site
from apps.toolbox import queries as toolbox


@dataclass(frozen=True)
class ScopeLane:
    """A lane: its nodes by role, and of what it is a part.

    `file_system` is "" where none was measured, `served` the sites that serve it, none where nobody says.
    """

    pk: int
    roles: dict[str, list[int]]
    experiment: int
    campaign: int
    tool: str
    file_system: str
    served: tuple[str, ...] = ()

    @property
    def nodes(self) -> set[int]:
        """Return the ids of all nodes that play a role."""
        return {node for members in self.roles.values() for node in members}


@dataclass(frozen=True)
class Scope:
    """What is looked at: whatever each member of the team sees, of nodes at the sites if any were chosen.

    Published figures are no work of the team, and so are in no such report.
    """

    team: Team
    period: Period
    sites: tuple[Site, ...]
    campaigns: dict[int, Campaign]
    lanes: dict[int, ScopeLane]
    nodes: dict[int, Node]

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """Return the tools of the lanes by their slugs, without those that are gone."""
        by_slug = {}
        for slug in sorted({lane.tool for lane in self.lanes.values()}):
            try:
                by_slug[slug] = toolbox.get_tool(slug)
            except tools.UnknownTool:
                continue
        return by_slug

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """Return the primary metric of each tool."""
        return {slug: results.metrics_of(tool)[0] for slug, tool in self.tools.items() if tool.metrics}

    def campaign_of(self, lane: ScopeLane) -> Campaign:
        """Return the campaign that a lane is a part of."""
        return self.campaigns[lane.campaign]

    def ends_of(self, lane: ScopeLane) -> tuple[Node, ...]:
        """Return the first node of each of the tool's roles, in their order."""
        tool = self.tools.get(lane.tool)
        firsts = [lane.roles[role.name][0] for role in tool.roles if lane.roles.get(role.name)] if tool else []
        return tuple(self.nodes[pk] for pk in firsts if pk in self.nodes)

    def within(self, lanes: Iterable[int]) -> list[ScopeLane]:
        """Return the lanes of these ids."""
        return [self.lanes[pk] for pk in lanes if pk in self.lanes]


def read(team: Team, selection: Selection, period: Period) -> Scope:
    """Return the lanes of a team's campaigns that may have been under way in the period, in five queries."""
    sites = tuple(Site.objects.filter(team=team, pk__in=selection.sites).order_by("name"))
    # What was brought here was measured before it was launched here.
    brought = Q(origin=Campaign.Origin.IMPORTED)
    campaigns = (
        Campaign.objects.filter(for_whole_team(), team=team, deleting_at=None, launched_at__isnull=False)
        .filter(brought | Q(origin=Campaign.Origin.MEASURED, launched_at__lt=period.end))
        .filter(brought | Q(finished_at=None) | Q(finished_at__gte=period.start))
        .select_related("created_by")
        .in_bulk()
    )
    rows = Lane.objects.filter(experiment__campaign__in=campaigns).order_by("pk")
    fields = (
        "pk",
        "roles",
        "experiment",
        "experiment__campaign",
        "experiment__tool",
        "experiment__file_system__name",
        "experiment__file_system__server_cluster",
    )
    records = list(rows.values_list(*fields))
    served = _served({row[-1] for row in records if row[-1] is not None})
    lanes = [_measured(row, served) for row in records]
    node_ids = {node for lane in lanes for node in lane.nodes}
    nodes = Node.objects.select_related("testbed__site").in_bulk(node_ids)
    site_ids = {site.pk for site in sites}
    of_sites = [lane for lane in lanes if not site_ids or any(_site(nodes, pk) in site_ids for pk in lane.nodes)]
    return Scope(team, period, sites, campaigns, {lane.pk: lane for lane in of_sites}, nodes)


def _measured(row: tuple[Any, ...], served: Mapping[int, tuple[str, ...]]) -> ScopeLane:
    pk, roles, experiment, campaign, tool, file_system, cluster = row
    return ScopeLane(pk, roles, experiment, campaign, tool, file_system or "", served.get(cluster, ()))


def _served(clusters: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Return {cluster: the names of the sites at which its nodes stand}."""
    rows = Cluster.objects.filter(pk__in=clusters, nodes__testbed__isnull=False).order_by(
        "nodes__testbed__site__name"
    )
    sites_by_cluster: dict[int, dict[str, None]] = {}
    for pk, site in rows.values_list("pk", "nodes__testbed__site__name"):
        sites_by_cluster.setdefault(pk, {})[site] = None
    return {pk: tuple(sites) for pk, sites in sites_by_cluster.items()}


def _site(nodes: dict[int, Node], pk: int) -> int | None:
    return nodes[pk].testbed.site_id if pk in nodes else None
