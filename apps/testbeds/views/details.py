"""One thing, with everything it touches one click away."""

from collections import defaultdict
from typing import Any

from django.db.models import Q
from django.utils import timezone

from apps.accounts import pages, rights
from apps.accounts.models import Role
from apps.accounts.queries import managers_of
from apps.testbeds import patterns, queries, topology
from apps.testbeds.models import Cluster, FileSystem, Node, Site, Switch, Testbed
from apps.testbeds.obstacles import obstacles

# Of very many nodes the first are listed; the rest are behind a link.
MOST_NODES = 200


class SiteDetail(pages.DetailPage):
    """A site: its network, its testbeds as a specification table, its switches."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add what stands at the site."""
        site: Site = self.object
        return super().get_context_data(**kwargs) | {
            "drawing": topology.topology_svg(site=site),
            "testbeds": queries.testbeds().filter(site=site),
            "switches": queries.switches().filter(site=site),
            "links": queries.links_elsewhere(site),
            "site_pairs": queries.site_pairs().filter(Q(site_a=site) | Q(site_b=site)),
        }


class TestbedDetail(pages.DetailPage):
    """A testbed: its specification and its nodes."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the nodes."""
        testbed: Testbed = self.object
        return super().get_context_data(**kwargs) | {
            "testbeds": [testbed],
            "nodes": queries.nodes().filter(testbed=testbed)[:MOST_NODES],
            "clusters": queries.clusters().filter(pk__in=Cluster.objects.filter(nodes__testbed=testbed).values("pk")),
        }


class NodeDetail(pages.DetailPage):
    """A node: its addresses, links and clusters."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add what the node is linked to and belongs to."""
        node: Node = self.object
        return super().get_context_data(**kwargs) | {
            "links": queries.links_at(node),
            "clusters": queries.clusters().filter(pk__in=node.clusters.values("pk")),
            "grants": queries.grants_on(node).filter(revoked_at=None),
            "addresses": node.addresses.all(),
            "managers": managers_of(node.team),
            "can_confirm": rights.can(self.request.user, node.team, Role.MANAGER),
            "obstacle": obstacles(nodes=[node.pk], now=timezone.now()).get(node.pk),
        }


class ClusterDetail(pages.DetailPage):
    """A cluster: its nodes by testbed, and the file systems it serves and mounts."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the nodes and file systems."""
        cluster: Cluster = self.object
        by_testbed: dict[Testbed, list[Node]] = defaultdict(list)
        nodes = cluster.nodes.select_related("testbed__site").order_by("testbed__name", "name")
        for node in nodes:
            by_testbed[node.testbed].append(node)
        return super().get_context_data(**kwargs) | {
            "groups": [
                (testbed, members, patterns.compress_names(node.name for node in members))
                for testbed, members in by_testbed.items()
            ],
            "listed": len(nodes) <= MOST_NODES,
            "served": queries.file_systems().filter(server_cluster=cluster),
            "mounts": cluster.mounts.select_related("file_system").order_by("file_system__name"),
        }


class SwitchDetail(pages.DetailPage):
    """A switch and the links that meet there."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the links."""
        switch: Switch = self.object
        return super().get_context_data(**kwargs) | {"links": queries.links_at(switch)[:MOST_NODES]}


class FileSystemDetail(pages.DetailPage):
    """A file system and who mounts it."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the mounts."""
        file_system: FileSystem = self.object
        return super().get_context_data(**kwargs) | {"mounts": file_system.mounts.select_related("cluster")}
