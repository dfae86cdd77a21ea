"""Inventories for tests: single things, and two sites joined by one link as KISTI and PNU are."""

from dataclasses import dataclass
from itertools import count

from django.utils import timezone

from apps.accounts.models import Team
from apps.testbeds.models import Cluster, FileSystem, Link, Mount, Node, NodeAddress, Site, SitePair, Switch, Testbed

_numbers = count(1)


def site(team: Team, name: str = "", **fields: object) -> Site:
    """Return a site."""
    return Site.objects.create(team=team, name=name or f"site{next(_numbers)}", **fields)


def testbed(team: Team, name: str = "", **fields: object) -> Testbed:
    """Return a testbed, at a site of its own unless one is given."""
    place = fields.pop("site", None) or site(team)
    return Testbed.objects.create(team=team, name=name or f"testbed{next(_numbers)}", site=place, **fields)


testbed.__test__ = False


def node(team: Team, name: str = "", *addresses: str, **fields: object) -> Node:
    """Return a node, of a testbed of its own unless one is given, with its addresses."""
    kind = fields.pop("testbed", None) or testbed(team)
    made = Node.objects.create(team=team, name=name or f"node{next(_numbers)}", testbed=kind, **fields)
    for position, address in enumerate(addresses):
        NodeAddress.objects.create(node=made, address=address, position=position, confirmed_at=timezone.now())
    return made


def cluster(team: Team, name: str = "", *nodes: Node, **fields: object) -> Cluster:
    """Return a cluster of nodes."""
    made = Cluster.objects.create(team=team, name=name or f"cluster{next(_numbers)}", **fields)
    made.nodes.set(nodes)
    return made


def switch(team: Team, name: str = "", **fields: object) -> Switch:
    """Return a switch, at a site of its own unless one is given."""
    place = fields.pop("site", None) or site(team)
    return Switch.objects.create(team=team, name=name or f"switch{next(_numbers)}", site=place, **fields)


def link(a: Node | Switch, b: Node | Switch, capacity_bps: int | None = 10**9, **fields: object) -> Link:
    """Return a link between two ends of one team."""
    ends = {f"a_{a._meta.model_name}": a, f"b_{b._meta.model_name}": b}
    name = fields.pop("name", f"{a} – {b}")
    return Link.objects.create(team=a.team, name=name, capacity_bps=capacity_bps, **ends, **fields)


def site_pair(a: Site, b: Site, rtt_s: float) -> SitePair:
    """Return the end-to-end RTT between two sites."""
    return SitePair.objects.create(team=a.team, site_a=a, site_b=b, rtt_s=rtt_s)


def file_system(team: Team, name: str = "", *mounted_by: Cluster, **fields: object) -> FileSystem:
    """Return a file system and the clusters that mount it."""
    values = {"kind": FileSystem.Kind.GPFS, "mount_path": "/gpfs"} | fields
    made = FileSystem.objects.create(team=team, name=name or f"fs{next(_numbers)}", **values)
    for item in mounted_by:
        Mount.objects.create(file_system=made, cluster=item)
    return made


@dataclass(frozen=True)
class TwoSites:
    """Two sites joined by a line, each with a switch and nodes behind it."""

    near_site: Site
    far_site: Site
    near_testbed: Testbed
    far_testbed: Testbed
    near_switch: Switch
    far_switch: Switch
    near: list[Node]
    far: list[Node]
    line: Link


def two_sites(team: Team, nodes: int = 2, capacity_bps: int = 10**9, rtt_s: float = 0.0048) -> TwoSites:
    """Return the KISTI-PNU picture of the GFS report, with `nodes` nodes at either end."""
    near_site, far_site = site(team, "KISTI"), site(team, "PNU")
    near_testbed, far_testbed = testbed(team, "KGFS", site=near_site), testbed(team, "PGFS", site=far_site)
    near_switch, far_switch = switch(team, "KISTI", site=near_site), switch(team, "PNU", site=far_site)
    near = [node(team, f"KGFS{i:02}", f"10.0.1.{i}", testbed=near_testbed) for i in range(1, nodes + 1)]
    far = [node(team, f"PGFS{i:02}", f"10.0.2.{i}", testbed=far_testbed) for i in range(1, nodes + 1)]
    for item in near:
        link(item, near_switch, rtt_s=0, mtu=9000)
    for item in far:
        link(item, far_switch, 2 * 10**9, rtt_s=0, mtu=9000)
    line = link(near_switch, far_switch, capacity_bps, rtt_s=rtt_s, mtu=9000, name="KISTI–PNU")
    return TwoSites(near_site, far_site, near_testbed, far_testbed, near_switch, far_switch, near, far, line)
