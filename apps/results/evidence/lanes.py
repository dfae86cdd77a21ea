"""Who was measured: the lanes of a campaign or between two sites, with the names of their nodes."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

from django.db.models import Q, QuerySet

from apps.accounts.models import Team
from apps.bench.toolkit import Tool
from apps.campaigns.models import Campaign, Lane
from apps.results import queries as results
from apps.results.models import Result
from apps.testbeds.models import FileSystem, Node, Site
from apps.toolbox import queries as toolbox

# So many lanes of other campaigns are looked at for those of the same nodes, the latest.
MOST_LANES = 5000
# Kinds of file system that lie on the disks of the node itself.
LOCAL = (FileSystem.Kind.XFS, FileSystem.Kind.EXT)
# Who was measured: (role, node id) pairs in the order of the tool's roles.
Ends = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class MeasuredLane:
    """A lane with its tool and its nodes: {id: name} of all, `ends` the first of each role.

    `serving` {id: name} are the nodes that serve its file system.
    """

    lane: Lane
    tool: Tool
    ends: Ends
    names: Mapping[int, str]
    serving: Mapping[int, str]

    @property
    def file_system(self) -> FileSystem | None:
        """Return what the experiment writes to."""
        return self.lane.experiment.file_system

    @cached_property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """Return {role: names of its nodes}."""
        return {role: tuple(self.names[node] for node in nodes) for role, nodes in self.lane.roles.items()}

    @property
    def is_local(self) -> bool:
        """Return whether all of its nodes serve the file system themselves, or nothing is said of who does."""
        return not self.serving or self.names.keys() <= self.serving.keys()


def lanes_of_campaign(campaign: Campaign) -> dict[int, MeasuredLane]:
    """Return by id the campaign's lanes between ends of which it has results, or of which figures are printed.

    Of a campaign that waited for nodes in vain tens of thousands of others would be read for nothing.
    """
    results_of = Result.objects.filter(experiment__campaign=campaign).order_by()
    measured = dict(results_of.values_list("trial__lane", "experiment").distinct())
    printed = set(campaign.experiments.exclude(printed={}).values_list("pk", flat=True))
    experiments = printed.union(measured.values())
    if not experiments:
        return {}
    rows = list(Lane.objects.filter(experiment__in=experiments).values_list("pk", "roles", "experiment").order_by())
    ends = {_firsts(roles) for pk, roles, _experiment in rows if pk in measured}
    lanes = [pk for pk, roles, experiment in rows if experiment in printed or _firsts(roles) in ends]
    return _measured(Lane.objects.filter(pk__in=lanes))


def _firsts(roles: Mapping[str, Sequence[int]]) -> frozenset[tuple[str, int]]:
    """Return the first node of each role: what the ends of a lane are, whatever its tool calls them."""
    return frozenset((role, nodes[0]) for role, nodes in roles.items() if nodes)


def lanes_of_sites(a: Site, b: Site) -> dict[int, MeasuredLane]:
    """Return the lanes of the sites' team whose nodes, and those that serve their file systems, are all at the two.

    Campaigns that are being deleted are left out.
    """
    sites = {a.pk, b.pk}
    elsewhere = set(Node.objects.filter(team=a.team_id).exclude(testbed__site__in=sites).values_list("pk", flat=True))
    rows = _known_to_all(a.team_id)
    away = rows.filter(resources__overlap=[f"node:{node}" for node in elsewhere]) if elsewhere else rows.none()
    lanes = _measured(rows.exclude(pk__in=away.values("pk")))
    return {pk: item for pk, item in lanes.items() if item.names and not (item.serving.keys() & elsewhere)}


def lanes_of_files(team: Team) -> dict[int, MeasuredLane]:
    """Return the lanes of a team's measurements of file systems; campaigns that are being deleted are left out."""
    return _measured(_known_to_all(team.pk).filter(experiment__file_system__isnull=False))


def lanes_beneath(team: Team, lanes: Iterable[MeasuredLane]) -> dict[int, MeasuredLane]:
    """Return the lanes of what was measured between the clients and the servers of a team's file systems."""
    own = list(lanes)
    servers = {node for item in own for node in item.serving}
    clients = {node for item in own for node in item.names} - servers
    if not servers or not clients:
        return {}
    rows = _known_to_all(team.pk).filter(experiment__file_system__isnull=True)
    # What an import or an archive brought reserved nothing: whom a lane joins its roles alone tell.
    nodes = {pk: {node for own in roles.values() for node in own} for pk, roles in rows.values_list("pk", "roles")}
    return _measured(rows.filter(pk__in=[pk for pk, own in nodes.items() if own & clients and own & servers]))


def lanes_along(
    team: int,
    ways: Iterable[tuple[int, ...]],
    *,
    is_published: bool,
    besides: Iterable[int] = (),
) -> dict[int, MeasuredLane]:
    """Return the latest lanes of a team's campaigns that join the two nodes of any of some ways.

    Either of published figures alone or of none; the campaigns `besides` are left out, and private ones.
    """
    pairs = {frozenset(way) for way in ways}
    rows = _published(_known_to_all(team), is_published).filter(experiment__file_system__isnull=True)
    rows = rows.exclude(experiment__campaign__in=[*besides])
    # What an import or an archive brought reserved nothing: whom a lane joins its roles alone tell.
    latest = rows.order_by("-pk").values_list("pk", "roles")[:MOST_LANES] if pairs else ()
    own = [pk for pk, roles in latest if any(pair <= {node for _role, node in _firsts(roles)} for pair in pairs)]
    return _measured(Lane.objects.filter(pk__in=own)) if own else {}


def pairs_of(campaigns: Collection[int]) -> set[frozenset[int]]:
    """Return the pairs of nodes between which campaigns measure the network."""
    rows = Lane.objects.filter(experiment__campaign__in=campaigns, experiment__file_system__isnull=True)
    return {pair for roles in rows.order_by().values_list("roles", flat=True) for pair in _pairs(roles)}


def campaigns_along(
    team: int, pairs: Collection[frozenset[int]], *, is_published: bool
) -> dict[frozenset[int], set[int]]:
    """Return by pair of nodes a team's campaigns, private ones too, that may rest on what comes through between them.

    Those of file systems are among them, whose clients and servers are such a pair.
    """
    fields = ("experiment__campaign", "experiment__file_system", "roles")
    rows = _published(_of_team(team), is_published).order_by().values_list(*fields).distinct()
    casts = list(rows) if pairs else []
    servers = serving(FileSystem.objects.filter(pk__in={file_system for _pk, file_system, _roles in casts}))
    along: dict[frozenset[int], set[int]] = defaultdict(set)
    for campaign, file_system, roles in casts:
        nodes = {node for own in roles.values() for node in own} if file_system else ()
        beneath = {frozenset(pair) for pair in product(nodes, servers.get(file_system, ()))}
        for pair in beneath.union(_pairs(roles)).intersection(pairs):
            along[pair].add(campaign)
    return along


def _pairs(roles: Mapping[str, Sequence[int]]) -> list[frozenset[int]]:
    return [frozenset(pair) for pair in combinations({node for _role, node in _firsts(roles)}, 2)]


def _published(lanes: QuerySet[Lane], is_published: bool) -> QuerySet[Lane]:
    published = Q(experiment__campaign__origin=Campaign.Origin.PUBLISHED)
    return lanes.filter(published if is_published else ~published)


def _known_to_all(team_id: int) -> QuerySet[Lane]:
    """Return the lanes of a team's campaigns without those that one person keeps to themselves."""
    return _of_team(team_id).exclude(experiment__campaign__visibility=Campaign.Visibility.PRIVATE)


def _of_team(team_id: int) -> QuerySet[Lane]:
    return Lane.objects.filter(experiment__campaign__team=team_id, experiment__campaign__deleting_at=None)


def _measured(lanes: QuerySet[Lane]) -> dict[int, MeasuredLane]:
    rows = list(
        lanes.select_related("experiment__file_system__server_cluster", "experiment__campaign").order_by("pk")
    )
    tools = {slug: toolbox.get_tool(slug) for slug in {lane.experiment.tool for lane in rows}}
    node_ids = {node for lane in rows for nodes in lane.roles.values() for node in nodes}
    names = dict(Node.objects.filter(pk__in=node_ids).values_list("pk", "name"))
    servers_of = serving({lane.experiment.file_system for lane in rows} - {None})
    lanes_measured = {}
    for lane in rows:
        own = {node: names[node] for nodes in lane.roles.values() for node in nodes if node in names}
        tool = tools[lane.experiment.tool]
        servers = servers_of.get(lane.experiment.file_system_id, {})
        if own:
            lanes_measured[lane.pk] = MeasuredLane(lane, tool, results.ends_of(lane, tool), own, servers)
    return lanes_measured


def serving(file_systems: Iterable[FileSystem | None]) -> dict[int | None, dict[int, str]]:
    """Return {file system: {id: name} of the nodes that serve it}."""
    clusters = {item.pk: item.server_cluster_id for item in file_systems if item and item.server_cluster_id}
    members: dict[int, dict[int, str]] = {}
    rows = Node.objects.filter(clusters__in=set(clusters.values())).order_by("name")
    for cluster, node, name in rows.values_list("clusters", "pk", "name"):
        members.setdefault(cluster, {})[node] = name
    return {pk: members.get(cluster, {}) for pk, cluster in clusters.items()}
