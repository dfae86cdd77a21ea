"""How each set was measured, as far as it was recorded: who, with what, upon which system, on which way."""

import ipaddress
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from apps.agents.facts import sound
from apps.agents.models import FactSnapshot
from apps.bench import units
from apps.bench.network import routes
from apps.comparison.comparisons.facts_in_force import Periods, in_force, timelines_of
from apps.comparison.comparisons.figure_rows import FigureRow, FigureRows
from apps.results.models import Result
from apps.testbeds.models import Mount, NodeAddress

# Of each set so many first and last results are looked at for versions, routes and what was granted.
LOOKED_AT = 50
# Facts that are kept for ever may be many: the newest of a period tell it.
MOST_SNAPSHOTS = 300
_FACTS = ("os", "kernel", "cpu", "memory", "interfaces", "sysctls", "congestion_controls", "mounts")

Name = tuple[str, str]
Known = dict[Name, set[Hashable]]


@dataclass(frozen=True)
class Environments:
    """What is known of how each set was measured, and of each the names of what changed on a node meanwhile.

    `recorded` names of what something is known of every set, `unrecorded` of what not: that may differ. `for_others`
    is the same without what agents told; None where that is nothing.
    """

    known: tuple[Known, ...]
    changed: tuple[Set[Name], ...]
    recorded: tuple[str, ...]
    unrecorded: tuple[str, ...]
    for_others: "Environments | None" = None


def environments_of(figures: FigureRows) -> Environments:
    """Return what is known of all sets; what agents told is of the nodes whose facts the user may read."""
    by_set: list[Known] = [defaultdict(set) for _rows in figures.rows]
    by_agents: list[Known] = [defaultdict(set) for _rows in figures.rows]
    by_tools: list[Known] = [defaultdict(set) for _rows in figures.rows]
    for mine, rows in zip(by_set, figures.rows, strict=True):
        _setup(mine, rows, figures)
    _flags(by_set, figures)
    facts, versions = _facts(by_agents, figures), _results(by_tools, figures)
    public = [own | others for own, others in zip(by_set, by_tools, strict=True)]
    for_others = Environments(tuple(public), tuple(versions), *_recorded(public, figures))
    if not any(by_agents):
        return for_others
    whole = [own | agents | tools for own, agents, tools in zip(by_set, by_agents, by_tools, strict=True)]
    changed = tuple(own | others for own, others in zip(facts, versions, strict=True))
    return Environments(tuple(whole), changed, *_recorded(whole, figures), for_others)


def _recorded(by_set: list[Known], figures: FigureRows) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of what something is known of every set, and of what not.

    Sets of the same campaigns were measured together, by the same nodes: what nobody recorded is that of all.
    """
    names_by_topic = {
        _("Machine"): _("kernel"),
        _("Kernel settings"): _("kernel settings"),
        _("Interface"): _("interfaces"),
        _("Tool"): _("versions"),
        _("Path"): _("routes"),
    }
    if any(item.file_system for item in figures.choice.experiments.values()):
        names_by_topic[_("Mount")] = _("mounts")
    topics = [{topic for (topic, _name), values in mine.items() if values} for mine in by_set]
    common = set.intersection(*topics) if topics else set()
    recorded = [name for topic, name in names_by_topic.items() if topic in common]
    unrecorded = [name for topic, name in names_by_topic.items() if topic not in common]
    campaigns = [{figures.choice.experiments[row.experiment].campaign_id for row in rows} for rows in figures.rows]
    are_together = len(campaigns[0]) == 1 and all(own == campaigns[0] for own in campaigns) if campaigns else True
    return (_("parameters"), *recorded), () if are_together else tuple(unrecorded)


def _setup(mine: Known, rows: Sequence[FigureRow], figures: FigureRows) -> None:
    """Add what the experiments themselves say."""
    topic = _("Measurement")
    for lane in {row.lane: row for row in rows}.values():
        experiment = figures.choice.experiments[lane.experiment]
        mine[(topic, _("Tool"))].add(figures.tool_of(lane).name)
        mine[(topic, _("Origin"))].add(experiment.campaign.origin_text)
        if experiment.file_system:
            mine[(topic, _("File system"))].add(str(experiment.file_system))
            mine[(topic, _("Kind of file system"))].add(str(experiment.file_system.get_kind_display()))
        for role in figures.tool_of(lane).roles:
            ids = figures.lanes[lane.lane].roles.get(role.name, [])
            names = [figures.nodes[pk].name for pk in ids if pk in figures.nodes]
            if names:
                mine[(topic, _("Nodes (%(role)s)") % {"role": _(role.label)})].add("+".join(names))
            for pk in ids:
                if node := figures.nodes.get(pk):
                    mine[(topic, _("Testbed (%(role)s)") % {"role": _(role.label)})].add(node.testbed.name)


def _flags(by_set: list[Known], figures: FigureRows) -> None:
    """Add how many of each set's figures have which flag, where sets stand side by side."""
    trials = [[trial for row in rows for trial in row.trials] for rows in figures.rows]
    counts = [figures.doubts.names_of(own, figures.metric) for own in trials]
    for name in sorted(set().union(*counts)) if len(by_set) > 1 else ():
        for mine, counter, own in zip(by_set, counts, trials, strict=True):
            if own:
                values = {"n": counter[name], "of": len(own)}
                text = _("%(n)s of %(of)s figures") % values if counter[name] else _("no figure")
                mine[(_("Flags"), name)].add(_("every figure") if counter[name] == len(own) else text)


def _facts(by_set: list[Known], figures: FigureRows) -> list[set[Name]]:
    """Add what the agents told of the nodes when figures were measured; return what changed meanwhile, set by set."""
    periods = [_periods(rows, figures) for rows in figures.rows]
    node_ids = {pk for by_node in periods for pk in by_node}
    if team := figures.choice.team:
        node_ids = {pk for pk in node_ids if pk in figures.nodes and figures.nodes[pk].team_id == team.pk}
    chosen = in_force(periods, timelines_of(node_ids, figures, figures.choice.user), figures)
    if len(by_set) == 1:
        # What stayed as it was is of use only beside another set.
        chosen = [{node: fact_ids for node, fact_ids in chosen[0].items() if len(fact_ids) > 1}]
        node_ids = set(chosen[0])
    ids = sorted({pk for by_node in chosen for snapshots in by_node.values() for pk in snapshots})[-MOST_SNAPSHOTS:]
    fact_rows = FactSnapshot.objects.filter(pk__in=ids).values_list("pk", *(f"facts__{name}" for name in _FACTS))
    facts = {pk: dict.fromkeys(_FACTS) | sound(dict(zip(_FACTS, parts, strict=True))) for pk, *parts in fact_rows}
    addresses: dict[int, list[NodeAddress]] = defaultdict(list)
    for address in NodeAddress.objects.filter(node__in=node_ids):
        addresses[address.node_id].append(address)
    mounts = _mount_paths(figures)
    changed: list[set[Name]] = []
    for mine, by_node, period, rows in zip(by_set, chosen, periods, figures.rows, strict=True):
        paths_of = {
            path for row in rows for path in mounts.get(figures.choice.experiments[row.experiment].file_system_id, ())
        }
        names: set[Name] = set()
        for node, fact_ids in by_node.items():
            own: list[Known] = []
            for pk in fact_ids & facts.keys():
                own.append(defaultdict(set))
                for role in period[node][0]:
                    _add_facts(own[-1], facts[pk], role, addresses.get(node, []), paths_of)
            for told_then in own:
                for key, values in told_then.items():
                    mine[key] |= values
                    names |= {key} if any(other.get(key) != values for other in own) else set()
        changed.append(names)
    return changed


def _periods(rows: Sequence[FigureRow], figures: FigureRows) -> Periods:
    """Return in which roles, on which lanes and how long each node took part in a set's figures."""
    periods: Periods = {}
    lanes: dict[int, tuple[FigureRow, datetime, datetime]] = {}
    for row in rows:
        first, last = min(row.moments), max(row.moments)
        _row, low, high = lanes.get(row.lane, (row, first, last))
        lanes[row.lane] = (row, min(first, low), max(last, high))
    for lane, (row, first, last) in lanes.items():
        for role in figures.tool_of(row).roles:
            for node in figures.lanes[lane].roles.get(role.name, []):
                roles, own, low, high = periods.get(node, (set(), set(), first, last))
                periods[node] = (roles | {_(role.label)}, own | {lane}, min(first, low), max(last, high))
    return periods


def _mount_paths(figures: FigureRows) -> dict[int | None, set[str]]:
    """Return {file system: where it is mounted}, by its own path and by that of each cluster."""
    systems = {item.file_system for item in figures.choice.experiments.values() if item.file_system}
    paths: dict[int | None, set[str]] = {system.pk: {system.mount_path} for system in systems}
    if systems:
        for system, path in Mount.objects.filter(file_system__in=systems).values_list("file_system_id", "path"):
            paths[system] |= {path} if path else set()
    return paths


def _add_facts(
    mine: Known, facts: Mapping[str, Any], role: str, addresses: list[NodeAddress], mounts: set[str]
) -> None:
    """Add what one node told, as one of those that play a role."""

    def add(topic: str, name: str, value: object, unit: str = "") -> None:
        if value not in (None, "", [], {}):
            text = units.format_quantity(value, unit) if unit and isinstance(value, int | float) else str(value)
            mine[(topic, f"{name} ({role})")].add(text)

    machine, network = _("Machine"), _("Interface")
    add(machine, _("Kernel"), (facts["kernel"] or {}).get("release"))
    add(machine, _("Operating system"), (facts["os"] or {}).get("name"))
    add(machine, _("CPU"), (facts["cpu"] or {}).get("model"))
    add(machine, _("Hardware threads"), (facts["cpu"] or {}).get("threads"))
    add(machine, _("RAM"), (facts["memory"] or {}).get("ram_bytes"), "B")
    add(_("Kernel settings"), _("Congestion control"), (facts["congestion_controls"] or {}).get("current"))
    for key, value in (facts["sysctls"] or {}).items():
        if key != "net.ipv4.tcp_congestion_control":
            add(_("Kernel settings"), key, value)
    for interface in _data_plane(facts["interfaces"] or [], addresses):
        add(network, _("MTU"), interface.get("mtu"), "B")
        add(network, _("Speed"), interface.get("speed_bps"), "bit/s")
        add(network, _("Duplex"), interface.get("duplex"))
        add(network, _("Driver"), interface.get("driver"))
        add(network, _("Bond"), (interface.get("bond") or {}).get("mode"))
    for mount in facts["mounts"] or []:
        if mount.get("target") in mounts:
            add(_("Mount"), _("Type"), mount.get("type"))
            add(_("Mount"), _("Options"), mount.get("options"))
            add(_("Mount"), _("Source"), mount.get("source"))


def _data_plane(interfaces: list[dict[str, Any]], addresses: list[NodeAddress]) -> list[dict[str, Any]]:
    """Return the interfaces that carry a node's first address; by the name given with it where no address fits."""
    if not addresses:
        return []
    usual = addresses[0]
    fitting = [
        item for item in interfaces if any(_is_same(text, usual.address) for text in item.get("addresses", []))
    ]
    return fitting or [item for item in interfaces if usual.interface and item.get("name") == usual.interface]


def _is_same(with_length: str, address: str) -> bool:
    try:
        return ipaddress.ip_interface(with_length).ip == ipaddress.ip_address(address)
    except ValueError:
        return False


def _results(by_set: list[Known], figures: FigureRows) -> list[set[Name]]:
    """Add what the first and last results of each set tell: versions, what was granted, the routes.

    Return the versions that changed meanwhile between the same nodes, set by set.
    """
    looked: list[dict[int, str]] = []
    for rows in figures.rows:
        players = {trial: who for row in rows for who in [figures.pairs[row.lane]] for trial in row.trials}
        trials = sorted(players)
        looked.append({trial: players[trial] for trial in (*trials[:LOOKED_AT], *trials[-LOOKED_AT:])})
    result_rows = Result.objects.filter(trial__in=set().union(*looked)).values_list(
        "trial_id", "tool", "tool_version", "granted", "observed__route", "observed__context__before__route"
    )
    sightings: list[tuple[int, routes.Route]] = []
    versions: list[dict[tuple[Name, str], set[str]]] = [defaultdict(set) for _rows in looked]
    for trial, slug, version, granted, own, before in result_rows:
        tool = figures.choice.tools[slug].name
        for place, by_trial in enumerate(looked):
            if trial in by_trial:
                if version:
                    name = (_("Tool"), _("Version of %(tool)s") % {"tool": tool})
                    by_set[place][name].add(version)
                    versions[place][name, by_trial[trial]].add(version)
                _add_granted(by_set[place], granted)
                if route := routes.from_json(own) or routes.from_json(before):
                    sightings.append((place, route))
    # Hops among which traffic is spread make no other route.
    for way in routes.variants([route for _place, route in sightings]):
        for sighting in way.sightings:
            text = " → ".join("/".join(hop) or "*" for hop in way.route)
            by_set[sightings[sighting][0]][(_("Path"), _("Route"))].add(text)
    return [{name for (name, _players), values in mine.items() if len(values) > 1} for mine in versions]


def _add_granted(mine: Known, granted: Any) -> None:
    for name, value in granted.items() if isinstance(granted, dict) else ():
        # Numbers follow from the parameters, which are shown themselves.
        if isinstance(value, str) and value:
            mine[(_("Tool"), _("Granted: %(name)s") % {"name": name})].add(value)
