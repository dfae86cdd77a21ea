"""Write a world as the product keeps it: inventory, facts, and a finished campaign with all its figures."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from apps.accounts.models import Team
from apps.agents.models import FactSnapshot
from apps.bench.text import Message
from apps.bench.toolkit import Flag, Tool
from apps.campaigns.models import Campaign, Experiment, ExperimentRole, Lane, Run, Trial
from apps.results.models import Result, Sample
from apps.testbeds.models import Cluster, FileSystem, Link, Mount, Node, Site, Switch, Testbed
from apps.toolbox import queries as toolbox
from benchmarks.truth.worlds.base import Cell, Setup, StatedFileSystem, World
from benchmarks.truth.worlds.base import Trial as Measured

# A trial and what comes before the next one take so long.
STEP = timedelta(seconds=12)


@dataclass(frozen=True)
class Stored:
    """A world in the database: its own campaign, its nodes by name, and which trial is which of the world's.

    `trials` are those of all its campaigns, `experiments` those of its own.
    """

    campaign: Campaign
    nodes: dict[str, Node]
    sites: dict[str, Site]
    trials: dict[int, tuple[Setup, Cell, Measured]]
    experiments: dict[int, Setup]


def store(world: World, team: Team, now: datetime) -> Stored:
    """Write a world for a team; the caller's transaction holds it."""
    sites, nodes = _nodes(world, team)
    switches = {name: Switch(team=team, name=name, site=sites[site]) for name, site in world.switches}
    Switch.objects.bulk_create(switches.values())
    Link.objects.bulk_create(_link(team, item, nodes, switches) for item in world.links)
    systems = {item.name: _file_system(team, item, nodes) for item in world.file_systems}
    # What was measured after it lies before now as well.
    ended = now - timedelta(days=max([0, *(setup.days for setup in world.setups)]))
    stored = Stored(_campaign(world, team, ended, 0), nodes, sites, {}, {})
    for days in dict.fromkeys(setup.days for setup in world.setups):
        at = ended + timedelta(days=days)
        own = stored if not days else replace(stored, campaign=_campaign(world, team, at, days), experiments={})
        began = own.campaign.launched_at or at
        for position, setup in enumerate(item for item in world.setups if item.days == days):
            began = _setup(own, position, setup, systems.get(setup.file_system), began)
    return stored


def _campaign(world: World, team: Team, ended: datetime, days: int) -> Campaign:
    """Return the campaign of the setups so many days from the world's own one."""
    count = sum(len(cell.trials) for setup in world.setups if setup.days == days for cell in setup.cells)
    return Campaign.objects.create(
        team=team,
        name=f"World {world.seed}" + (f", {days:+} days" if days else ""),
        state="finished",
        launched_at=ended - STEP * (count + 1),
        finished_at=ended,
    )


def _nodes(world: World, team: Team) -> tuple[dict[str, Site], dict[str, Node]]:
    named = dict.fromkeys([*(node.site for node in world.nodes), *(site for _name, site in world.switches)])
    sites = {name: Site(team=team, name=name) for name in named}
    Site.objects.bulk_create(sites.values())
    kinds = {(node.site, node.interconnect): node for node in world.nodes}
    testbeds = {
        key: Testbed(team=team, site=sites[key[0]], name=f"{key[0]} {place}", interconnect=key[1])
        for place, key in enumerate(kinds)
    }
    Testbed.objects.bulk_create(testbeds.values())
    nodes = {
        node.name: Node(team=team, testbed=testbeds[node.site, node.interconnect], name=node.name)
        for node in world.nodes
    }
    Node.objects.bulk_create(nodes.values())
    FactSnapshot.objects.bulk_create(
        FactSnapshot(node=nodes[node.name], digest=node.name, facts=node.facts) for node in world.nodes if node.facts
    )
    return sites, nodes


def _link(team: Team, item: Any, nodes: dict[str, Node], switches: dict[str, Switch]) -> Link:
    ends = {
        "a_node": nodes.get(item.a),
        "a_switch": switches.get(item.a),
        "b_node": nodes.get(item.b),
        "b_switch": switches.get(item.b),
    }
    return Link(team=team, name=item.name, capacity_bps=item.capacity_bps, rtt_s=item.rtt_s, mtu=item.mtu, **ends)


def _file_system(team: Team, item: StatedFileSystem, nodes: dict[str, Node]) -> FileSystem:
    servers = _cluster(team, f"{item.name} servers", item.servers, nodes) if item.servers else None
    system = FileSystem.objects.create(
        team=team,
        name=item.name,
        kind=item.kind,
        server_cluster=servers,
        mount_path=f"/{item.name}",
        block_size_bytes=item.block_bytes,
        disks=item.disks,
    )
    if item.mounted_by:
        Mount.objects.create(
            file_system=system, cluster=_cluster(team, f"{item.name} clients", item.mounted_by, nodes)
        )
    return system


def _cluster(team: Team, name: str, members: Iterable[str], nodes: dict[str, Node]) -> Cluster:
    cluster = Cluster.objects.create(team=team, name=name)
    cluster.nodes.set([nodes[member] for member in members])
    return cluster


@functools.cache
def _tool(slug: str) -> tuple[Tool, dict[str, Any]]:
    tool = toolbox.get_tool(slug)
    return tool, tool.clean({})


def _setup(stored: Stored, position: int, setup: Setup, system: FileSystem | None, began: datetime) -> datetime:
    tool, defaults = _tool(setup.tool)
    texts = {name: ", ".join(str(cell.parameters[name]) for cell in setup.cells) for name in setup.factors}
    experiment = Experiment.objects.create(
        campaign=stored.campaign,
        position=position,
        name=setup.name,
        tool=setup.tool,
        factors=[{"name": name, "expression": text} for name, text in texts.items()],
        zips=[list(setup.factors)] if len(setup.factors) > 1 else [],
        repetitions=max(len(cell.trials) for cell in setup.cells),
        file_system=system,
        context=False,
        expanded_at=began,
    )
    stored.experiments[experiment.pk] = setup
    roles = {role: [stored.nodes[name].pk for name in names] for role, names in setup.roles.items()}
    ExperimentRole.objects.bulk_create(
        ExperimentRole(experiment=experiment, role=role, node_id=pk) for role, pks in roles.items() for pk in pks
    )
    lane = Lane.objects.create(experiment=experiment, roles=roles, resources=[])
    known: list[tuple[Cell, Measured]] = []
    trials: list[Trial] = []
    for turn in range(experiment.repetitions):
        for place, cell in enumerate(setup.cells):
            if turn >= len(cell.trials):
                continue
            began += STEP
            known.append((cell, cell.trials[turn]))
            trials.append(
                Trial(
                    campaign=stored.campaign,
                    experiment=experiment,
                    lane=lane,
                    position=len(trials),
                    point=place,
                    repetition=turn + 1,
                    parameters={**defaults, **cell.parameters},
                    state="succeeded",
                    attempts=1,
                    finished_at=began,
                )
            )
    Trial.objects.bulk_create(trials)
    runs = Run.objects.bulk_create(
        Run(
            trial=trial,
            experiment=experiment,
            attempt=1,
            state="succeeded",
            started_at=trial.finished_at or began,
            ended_at=trial.finished_at,
        )
        for trial in trials
    )
    results = Result.objects.bulk_create(
        _result(run, tool, measured) for run, (_cell, measured) in zip(runs, known, strict=True)
    )
    Sample.objects.bulk_create(
        Sample(result=result, trial=result.trial, experiment=experiment, metric=metric, value=value)
        for result, (_cell, measured) in zip(results, known, strict=True)
        for metric, value in measured.figures.items()
    )
    stored.trials.update({trial.pk: (setup, *pair) for trial, pair in zip(trials, known, strict=True)})
    return began


def _result(run: Run, tool: Tool, measured: Measured) -> Result:
    assert measured.figures.keys() <= {metric.name for metric in tool.metrics}, tool.slug
    return Result(
        run=run,
        trial=run.trial,
        experiment=run.experiment,
        tool=tool.slug,
        requested=run.trial.parameters,
        observed=measured.observed,
        flags=[
            Flag(name, severity, Message("A judge saw it."), metrics).as_json()
            for name, severity, metrics in measured.flags
        ],
        recorded_at=run.started_at,
    )
