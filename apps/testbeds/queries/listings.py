"""The rows of lists and pages, with the figures they show, in a bounded number of queries."""

from collections.abc import Iterable
from datetime import datetime

from django.contrib.postgres.aggregates import ArrayAgg
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, F, IntegerField, Model, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from apps.accounts.models import Team
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Site, SitePair, Switch, Testbed


def _count_of(model: type[Model], path: str) -> Coalesce:
    """Return how many rows of `model` lead by `path` to the outer row; joins would multiply several counts."""
    rows = model._default_manager.filter(**{path: OuterRef("pk")}).order_by().values(path)
    counted = Subquery(rows.annotate(number=Count("pk")).values("number"), output_field=IntegerField())
    return Coalesce(counted, Value(0))


def sites() -> QuerySet[Site]:
    """Return sites with `testbed_count`, `node_count` and `switch_count`."""
    return Site.objects.select_related("team").annotate(
        testbed_count=_count_of(Testbed, "site"),
        node_count=_count_of(Node, "testbed__site"),
        switch_count=_count_of(Switch, "site"),
    )


def testbeds() -> QuerySet[Testbed]:
    """Return testbeds with `node_count`."""
    return Testbed.objects.select_related("team", "site").annotate(node_count=_count_of(Node, "testbed"))


def nodes() -> QuerySet[Node]:
    """Return nodes with their testbed, site, addresses and clusters."""
    return Node.objects.select_related("team", "testbed__site").prefetch_related(
        "addresses__confirmed_by", "clusters"
    )


def node_ids() -> ArraySubquery:
    """Return the ids of a cluster's nodes, by name: of thousands of nodes no more is read."""
    parts = Cluster.nodes.through._default_manager.filter(cluster=OuterRef("pk"))
    return ArraySubquery(parts.order_by("node__name", "node").values("node"))


def clusters() -> QuerySet[Cluster]:
    """Return clusters with `node_count`, `testbed_names` and `site_names`."""
    return (
        Cluster.objects.select_related("team")
        .annotate(
            node_count=Count("nodes", distinct=True),
            testbed_names=_names("nodes__testbed"),
            site_names=_names("nodes__testbed__site"),
        )
        .order_by("name")
    )


def switches() -> QuerySet[Switch]:
    """Return switches with `link_count`."""
    return Switch.objects.select_related("team", "site").annotate(
        link_count=_count_of(Link, "a_switch") + _count_of(Link, "b_switch")
    )


def links_described(team: int, names: Iterable[str]) -> list[tuple[str, datetime]]:
    """Return (name, when it was last described) of a team's links of these names."""
    return list(Link.objects.filter(team=team, name__in=set(names)).values_list("name", "updated_at"))


def links() -> QuerySet[Link]:
    """Return links with their ends and the ends' sites."""
    return Link.objects.select_related(
        "team", "a_node__testbed__site", "a_switch__site", "b_node__testbed__site", "b_switch__site"
    )


def links_at(end: Node | Switch) -> QuerySet[Link]:
    """Return the links that end at a node or a switch."""
    kind = end._meta.model_name
    return links().filter(Q(**{f"a_{kind}": end}) | Q(**{f"b_{kind}": end}))


def links_elsewhere(site: Site) -> list[Link]:
    """Return the links that join the site to others."""
    near = (
        Q(a_switch__site=site)
        | Q(a_node__testbed__site=site)
        | Q(b_switch__site=site)
        | Q(b_node__testbed__site=site)
    )
    return [link for link in links().filter(near) if link.end_a.site != link.end_b.site]


def file_systems() -> QuerySet[FileSystem]:
    """Return file systems with their server cluster and the clusters that mount them."""
    return FileSystem.objects.select_related("team", "server_cluster").prefetch_related("mounts__cluster")


def site_pairs() -> QuerySet[SitePair]:
    """Return end-to-end RTTs with their sites."""
    return SitePair.objects.select_related("team", "site_a", "site_b")


def counts(team: Team) -> dict[type[Model], int]:
    """Return how many of each kind a team has."""
    kinds = (Site, Testbed, Node, Cluster, Switch, Link, SitePair, FileSystem)
    return {kind: kind._default_manager.filter(team=team).count() for kind in kinds}


def _names(path: str) -> ArrayAgg:
    return ArrayAgg(
        F(f"{path}__name"), distinct=True, filter=Q(**{f"{path}__isnull": False}), default=Value([]), ordering=None
    )
