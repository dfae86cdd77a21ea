"""The tables of what was measured on: testbeds, clusters, file systems, links; and the drawing of the network."""

from collections.abc import Iterable
from dataclasses import replace

from django.db.models import Q
from django.utils.translation import gettext as _

from apps.bench import units
from apps.reports.campaign import hosts
from apps.reports.campaign.material import Material
from apps.reports.columns import scale_of
from apps.reports.document import Block, Column, Drawing, Paragraph, Section, Table, Value, others_read
from apps.testbeds import patterns, topology
from apps.testbeds import queries as testbeds
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Testbed

# A drawing of more nodes than this helps nobody on paper.
MOST_DRAWN = 200
# Of the network as many links are listed.
MOST_LINKS = 200


def section(material: Material) -> Section:
    """Return the section on what was measured on."""
    places = sorted({node.testbed for node in _all_nodes(material)}, key=lambda item: (item.site.name, item.name))
    links = _links(material)
    blocks: list[Block] = _with_note(_testbeds_table(places), _notes(material, places))
    if any(map(material.is_own, material.clusters)):
        blocks += others_read([_clusters(material)], ())
    if systems := _file_systems(material):
        blocks += _with_note(_systems_table(systems), _notes(material, systems))
    if links:
        blocks += _with_note(_links_table(links), _notes(material, links))
    blocks += others_read(hosts.tables_of(material), ())
    blocks += _drawing(material)
    return Section("testbed", _("What was measured on"), tuple(blocks))


def _all_nodes(material: Material) -> list[Node]:
    """Return the nodes that played a role, and the others of their clusters."""
    nodes = dict(material.nodes)
    for cluster in material.clusters:
        nodes |= {node.pk: node for node in cluster.nodes.all()}
    return sorted(nodes.values(), key=lambda node: node.name)


def _testbeds_table(rows: list[Testbed]) -> Table:
    scale = scale_of([item.ram_bytes for item in rows], "B")
    columns = (
        Column(_("Testbed")),
        Column(_("CPU")),
        Column(_("RAM"), scale.unit, "number"),
        Column(_("Operating system")),
        Column(_("Network interfaces")),
        Column(_("MTU"), "B", "number"),
        Column(_("Site")),
    )
    cells = [
        (item.name, item.cpu, scale.of(item.ram_bytes), item.os, _interfaces(item), item.mtu, item.site.name)
        for item in rows
    ]
    return Table("testbeds", _("Testbeds"), columns, cells)


def _interfaces(testbed: Testbed) -> str:
    rate = units.format_quantity(testbed.nic_bps, "bit/s") if testbed.nic_bps else ""
    parts = [
        f"{testbed.nic_count} × {rate}" if testbed.nic_count and rate else rate,
        testbed.nic,
        testbed.interconnect,
    ]
    return ", ".join(part for part in parts if part)


def _clusters(material: Material) -> Table:
    columns = (
        Column(_("Cluster")),
        Column(_("Nodes")),
        Column(_("Number of nodes"), kind="number"),
        Column(_("Site")),
    )
    rows = []
    clusters = list(filter(material.is_own, material.clusters))
    for cluster in clusters:
        members = list(cluster.nodes.all())
        sites = sorted({node.site.name for node in members})
        names = patterns.compress_names(node.name for node in members)
        rows.append((cluster.name, names, len(members), ", ".join(sites)))
    note = _notes(material, clusters)
    return Table("clusters", _("Clusters"), columns, rows, note=note)


def _file_systems(material: Material) -> list[FileSystem]:
    systems = {item.file_system.pk: item.file_system for item in material.experiments if item.file_system}
    return sorted(systems.values(), key=lambda item: item.name)


def _systems_table(systems: list[FileSystem]) -> Table:
    columns = (
        Column(_("File system")),
        Column(_("Kind")),
        Column(_("Served by")),
        Column(_("Block size")),
        Column(_("Disks")),
    )
    rows = [
        (
            item.name,
            str(item.get_kind_display()),
            item.server_cluster.name if item.server_cluster else "",
            units.format_quantity(item.block_size_bytes, "B") if item.block_size_bytes else "",
            item.disks,
        )
        for item in systems
    ]
    return Table("file-systems", _("File systems"), columns, rows)


def _links(material: Material) -> list[Link]:
    """Return the links that the measured paths took, and those of the nodes that measured."""
    keys = {
        int(name.partition(":")[2])
        for lanes in material.lanes.values()
        for lane in lanes
        for name in lane.resources
        if name.startswith("link:")
    }
    teams = {node.team_id for node in material.nodes.values()}
    on_way = set(keys)
    for team in teams:
        graph = testbeds.graph(team)
        for pair in _pairs(material, team):
            if path := graph.path(*pair):
                on_way |= {int(str(link.key).partition(":")[2]) for link in path.links}
    own = Q(a_node__in=material.nodes) | Q(b_node__in=material.nodes)
    rows = testbeds.links().filter(Q(pk__in=on_way) | own, team__in=teams)
    return list(rows.order_by("name", "pk")[:MOST_LINKS])


def _pairs(material: Material, team: int) -> set[tuple[Node, Node]]:
    """Return the first nodes of the two roles of each lane."""
    pairs = set()
    for lanes in material.lanes.values():
        for lane in lanes:
            roles = [material.nodes[ids[0]] for ids in lane.roles.values() if ids and ids[0] in material.nodes]
            if len(roles) == 2 and all(node.team_id == team for node in roles):
                pairs.add((roles[0], roles[1]))
    return pairs


def _links_table(links: list[Link]) -> Table:
    capacity = scale_of([link.capacity_bps for link in links], "bit/s")
    rtt = scale_of([link.rtt_s for link in links], "s")
    columns = (
        Column(_("Link")),
        Column(_("From")),
        Column(_("To")),
        Column(_("Capacity"), capacity.unit, "number"),
        Column(_("RTT"), rtt.unit, "number"),
        Column(_("MTU"), "B", "number"),
    )
    rows: list[tuple[Value, ...]] = [
        (
            link.name,
            str(link.end_a),
            str(link.end_b),
            capacity.of(link.capacity_bps),
            rtt.of(link.rtt_s),
            link.mtu,
        )
        for link in links
    ]
    return Table("links", _("Links"), columns, rows)


def _drawing(material: Material) -> list[Block]:
    if not material.nodes:
        return []
    if len(material.nodes) > MOST_DRAWN:
        text = _("The network of %(number)s nodes is not drawn: that of its sites is on the page of the inventory.")
        return [Paragraph((text % {"number": len(material.nodes)},), key="drawing-left-out")]
    svg, words = topology.standalone_svg(list(material.nodes.values()))
    if words and not svg:
        return [Paragraph((words,), key="drawing-left-out")]
    return [Drawing("topology", _("The network between the nodes that measured"), svg, words)] if svg else []


def _with_note(table: Table, note: str) -> list[Block]:
    return others_read([replace(table, note=note)], [table])


def _notes(material: Material, items: Iterable[Testbed | Cluster | FileSystem | Link]) -> str:
    """Return what the team's inventory remarks of things, one after the other."""
    own = (item for item in items if material.is_own(item) and item.notes.strip())
    return " ".join(f"{item.name}: {item.notes.strip().rstrip('.')}." for item in own)
