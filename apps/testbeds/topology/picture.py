"""What a drawing of a network shows: boxes of nodes and switches, lines of links, and which line limits the paths."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from apps.accounts.models import Team
from apps.bench import network
from apps.testbeds import patterns, queries
from apps.testbeds.models import Link, Node, Site, Switch
from apps.testbeds.queries import paths
from apps.testbeds.topology.parts import DrawnBox, DrawnLinks, Picture

# As many like nodes as this share one box.
COLLAPSE_FROM = 3
# Of larger drawings no bottleneck is looked for: there would be one for each of many pairs.
MOST_ENDS = 40
# What is larger nobody could read: it is not drawn.
MOST_BOXES = 400
MOST_LINES = 2000


class TooLargeError(Exception):
    """A drawing would have more boxes or lines than anybody could read."""


def of_team(team: Team, busy: Collection[int] = (), bottleneck: str = "") -> Picture:
    """Return the picture of all that a team has; TooLargeError if that is too much."""
    _bound(Switch.objects.filter(team=team).count(), MOST_BOXES)
    nodes = list(queries.nodes().prefetch_related(None).filter(team=team))
    switches = list(queries.switches().filter(team=team))
    return _picture(nodes, switches, _links_of(team.pk), busy, bottleneck)


def of_site(site: Site, busy: Collection[int] = (), bottleneck: str = "") -> Picture:
    """Return the picture of a site: its nodes and switches, and what they are linked to elsewhere.

    TooLargeError if that is too much.
    """
    _bound(Switch.objects.filter(site=site).count(), MOST_BOXES)
    own = {paths.node_key(node) for node in Node.objects.filter(testbed__site=site)}
    own |= {paths.switch_key(switch) for switch in Switch.objects.filter(site=site)}
    links = [link for link in _links_of(site.team_id) if link.a_key in own or link.b_key in own]
    ends = own | {key for link in links for key in (link.a_key, link.b_key)}
    return _picture(*_ends(ends), links, busy, bottleneck)


def of_nodes(nodes: Sequence[Node], busy: Collection[int] = (), bottleneck: str = "") -> Picture:
    """Return the picture of nodes of one team and of the links on the paths between every two of them.

    TooLargeError if that is too much.
    """
    if not nodes:
        return Picture()
    team_id = nodes[0].team_id
    keys = {paths.node_key(node) for node in nodes if node.team_id == team_id}
    links = _links_of(team_id)
    # Like nodes have like paths: one of each kind will do, two where the kind has two.
    kinds = _alike(keys, links)
    _bound(len(kinds), MOST_BOXES)
    chosen = [member for members in kinds for member in members[:2]]
    fabric = _fabric(links)
    crossed = {
        key for number, first in enumerate(chosen) for key in fabric.ways(first).links_to(chosen[number + 1 :])
    }
    reached = {key for link in links if link.key in crossed for key in (link.a_key, link.b_key)}
    inner = [link for link in links if link.key in crossed or _joins(link, keys, reached)]
    return _picture(*_ends(keys | reached), inner, busy, bottleneck)


def _bound(count: int, most: int) -> None:
    if count > most:
        raise TooLargeError


def _fabric(links: Iterable[Link]) -> network.Fabric:
    return network.Fabric(map(paths.as_network_link, links), paths.is_switch)


def _joins(link: Link, keys: set[str], reached: set[str]) -> bool:
    """Say whether a link leads from one of the nodes to a switch that the paths pass."""
    ends = {link.a_key, link.b_key}
    return bool(ends & keys) and any(paths.is_switch(key) for key in ends & reached)


def _links_of(team_id: int) -> list[Link]:
    return list(queries.links().filter(team=team_id).order_by("name", "pk"))


def _ends(keys: Iterable[str]) -> tuple[list[Node], list[Switch]]:
    ids = defaultdict(list)
    for key in keys:
        kind, _, number = key.partition(":")
        ids[kind].append(int(number))
    nodes = queries.nodes().prefetch_related(None).filter(pk__in=ids["node"])
    return list(nodes), list(queries.switches().filter(pk__in=ids["switch"]))


def _alike(keys: Iterable[str], links: Iterable[Link]) -> list[list[str]]:
    """Return the ends in groups whose links lead to the same places with the same figures."""
    reach: dict[str, list[tuple[object, ...]]] = {key: [] for key in sorted(keys, key=_by_number)}
    for link in links:
        figures = (link.capacity_bps, link.rtt_s, link.mtu)
        for one, other in ((link.a_key, link.b_key), (link.b_key, link.a_key)):
            if one in reach:
                reach[one].append((other, *figures))
    groups: dict[tuple[object, ...], list[str]] = {}
    for key, neighbours in reach.items():
        groups.setdefault(tuple(sorted(neighbours, key=str)), []).append(key)
    return list(groups.values())


def _by_number(key: str) -> int:
    return int(key.partition(":")[2])


def _picture(
    nodes: list[Node], switches: list[Switch], links: list[Link], busy: Collection[int], bottleneck: str
) -> Picture:
    boxes = {box.key: box for box in [*_switch_boxes(switches), *_node_boxes(nodes, links, set(busy))]}
    _bound(len(boxes), MOST_BOXES)
    box_of = {member: box.key for box in boxes.values() for member in box.members}
    lines = _lines(links, box_of)
    _bound(len(lines), MOST_LINES)
    limiting = {bottleneck} if bottleneck else _bottlenecks(boxes, links)
    marked = tuple(
        DrawnLinks(**{**vars(line), "is_bottleneck": not limiting.isdisjoint(line.keys)}) for line in lines
    )
    return Picture(boxes, marked)


def _switch_boxes(switches: list[Switch]) -> list[DrawnBox]:
    return [
        DrawnBox(
            key=paths.switch_key(switch),
            name=switch.name,
            detail="",
            site=switch.site.name,
            url=switch.get_absolute_url(),
            members=(paths.switch_key(switch),),
            is_switch=True,
        )
        for switch in switches
    ]


def _node_boxes(nodes: list[Node], links: list[Link], busy: set[int]) -> list[DrawnBox]:
    by_key = {paths.node_key(node): node for node in nodes}
    boxes = []
    for alike in _alike(by_key, links):
        by_testbed: dict[int, list[Node]] = defaultdict(list)
        for key in alike:
            by_testbed[by_key[key].testbed_id].append(by_key[key])
        for members in by_testbed.values():
            if len(members) >= COLLAPSE_FROM:
                boxes.append(_group(members, busy))
            else:
                boxes += [_group([node], busy) for node in members]
    return sorted(boxes, key=lambda box: box.name)


def _group(members: list[Node], busy: set[int]) -> DrawnBox:
    first = members[0]
    single = len(members) == 1
    return DrawnBox(
        key=paths.node_key(first),
        name=first.name if single else f"{first.testbed.name} × {len(members)}",
        detail=_unless(first.testbed.name, first.name)
        if single
        else patterns.compress_names(node.name for node in members),
        site=first.testbed.site.name,
        url=first.get_absolute_url() if single else first.testbed.get_absolute_url(),
        members=tuple(paths.node_key(node) for node in members),
        is_switch=False,
        busy=sum(node.pk in busy for node in members),
    )


def _unless(text: str, label: str) -> str:
    return "" if text == label else text


def _lines(links: list[Link], box_of: Mapping[str, str]) -> list[DrawnLinks]:
    between: dict[tuple[object, ...], list[Link]] = {}
    for link in links:
        if (a := box_of.get(link.a_key)) and (b := box_of.get(link.b_key)) and a != b:
            between.setdefault((*sorted((a, b)), link.capacity_bps, link.rtt_s), []).append(link)
    return [
        DrawnLinks(
            a=box_of[same[0].a_key],
            b=box_of[same[0].b_key],
            name=same[0].name if len(same) == 1 else patterns.compress_names(link.name for link in same),
            url=same[0].get_absolute_url() if len(same) == 1 else "",
            capacity_bps=same[0].capacity_bps,
            rtt_s=same[0].rtt_s,
            count=len(same),
            keys=tuple(link.key for link in same),
        )
        for same in between.values()
    ]


def _bottlenecks(boxes: Mapping[str, DrawnBox], links: list[Link]) -> set[str]:
    """Return the keys of the links that limit the paths between the boxes of nodes, and to where the drawing ends.

    A drawing in which every line stands out says nothing. So of more than two boxes only the paths that lead from
    one switch to another count, and of their limits, in each connected part, those that limit the most.
    """
    graph = [paths.as_network_link(link) for link in links]
    degree = Counter(key for link in graph for key in (link.a, link.b))
    ends = [box.members[0] for box in boxes.values() if not box.is_switch or degree[box.key] == 1]
    if len(ends) > MOST_ENDS:
        return set()
    part_of = _parts(graph)
    near: dict[str, Counter[str]] = defaultdict(Counter)
    far: dict[str, Counter[str]] = defaultdict(Counter)
    fabric = network.Fabric(graph, paths.is_switch)
    for number, first in enumerate(ends):
        ways = fabric.ways(first)
        for path in filter(None, map(ways.to, ends[number + 1 :])):
            if not path.unknown_capacities:
                limit = min(path.links, key=lambda link: (link.capacity_bps, not _joins_switches(link)))
                is_far = any(map(_joins_switches, path.links))
                (far if is_far else near)[part_of[first]][str(limit.key)] += 1
    limits = far or (near if len(ends) == 2 else {})
    return {key for part in limits.values() for key, times in part.items() if times == max(part.values())}


def _parts(graph: list[network.PathLink]) -> dict[object, str]:
    """Return for each end the first end, by name, of the connected part it belongs to."""
    part_of: dict[object, str] = {}
    neighbours: dict[object, set[str]] = defaultdict(set)
    for link in graph:
        neighbours[link.a].add(str(link.b))
        neighbours[link.b].add(str(link.a))
    for first in sorted(map(str, neighbours)):
        waiting = [] if first in part_of else [first]
        while waiting:
            key = waiting.pop()
            part_of[key] = first
            waiting += [other for other in neighbours[key] if other not in part_of]
    return part_of


def _joins_switches(link: network.PathLink) -> bool:
    return paths.is_switch(link.a) and paths.is_switch(link.b)
