"""Reads of agents, facts and jobs."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, Max, Min, OuterRef, Q, QuerySet

from apps.accounts import rights
from apps.accounts.models import User
from apps.agents import troubles
from apps.agents.facts import sound, with_plain_versions
from apps.agents.models import (
    DEAF_AFTER,
    MOST_TRIES,
    RIVAL_FOR,
    Agent,
    AgentInstance,
    AgentState,
    FactSnapshot,
    Job,
    Listener,
    OwedRemoval,
)
from apps.agents.models.removals import LONGEST_WAIT
from apps.agents.troubles import Trouble
from apps.core import clock
from apps.testbeds.models import Node
from apps.testbeds.queries.readers import of_own_nodes

_UNDER_WAY = (Job.State.DELIVERED, Job.State.RUNNING, Job.State.READY)


@dataclass(frozen=True)
class Credentials:
    """What is needed to know an agent by its token."""

    agent_id: int
    node_id: int
    team_id: int
    digest: str
    is_retired: bool
    # The process at work, None for a program of an earlier version, and what it last said is wrong on its node.
    instance: UUID | None = None
    troubles: frozenset[str] = frozenset()


@dataclass(frozen=True)
class NodeAgent:
    """A node with its agent, if it has one, and the agent's state."""

    node: Node
    agent: Agent | None
    state: AgentState
    # What is wrong there, and who wants to work for the node, too, but is refused.
    troubles: list[Trouble] = field(default_factory=list)
    rivals: list[AgentInstance] = field(default_factory=list)


@dataclass(frozen=True)
class FactChange:
    """One fact that changed: where in the facts, and its values before and after (None if it was not there)."""

    path: str
    before: object
    after: object


def credentials_of(prefix: str) -> Credentials | None:
    """Return the credentials of the agent whose token has this prefix."""
    columns = ("pk", "node_id", "node__team_id", "digest", "retired_at", "instance__key", "troubles")
    row = Agent.objects.filter(prefix=prefix).values_list(*columns).first()
    if row is None:
        return None
    codes = frozenset(trouble["code"] for trouble in row[6])
    return Credentials(row[0], row[1], row[2], row[3], row[4] is not None, row[5], codes)


def ready_nodes(now: datetime) -> set[int]:
    """Return the nodes that can measure now: their agents can take a job, and no removal is owed to them before."""
    return heard_nodes(now) - owing_nodes().keys()


def heard_nodes(now: datetime) -> set[int]:
    """Return the nodes whose agents can take a job now: heard, not lost, and with nothing wrong that stops them."""
    return set(_heard(now))


def _heard(now: datetime) -> QuerySet[Agent, int]:
    alive = Agent.objects.filter(
        ~_lost("", now), retired_at__isnull=True, last_seen_at__isnull=False, set_aside_at__isnull=True
    )
    return alive.order_by().values_list("node_id", flat=True)


def owing_nodes() -> dict[int, datetime]:
    """Return {node on which files of ended runs are to be removed before anything is measured there: since when}."""
    owed = OwedRemoval.objects.filter(tries__lt=MOST_TRIES).order_by().values("node_id")
    return dict(owed.annotate(since=Min("created_at")).values_list("node_id", "since"))


def removals_of(node_id: int) -> QuerySet[OwedRemoval]:
    """Return the removals that are owed to a node, the oldest first."""
    return OwedRemoval.objects.filter(node_id=node_id)


def removals_due(now: datetime) -> list[OwedRemoval]:
    """Return the removals under way, and those that an agent can begin: what a lost program writes is waited for."""
    lost = Job.objects.filter(node=OuterRef("node"), may_run_until__gt=now, presumed_ended_at=None)
    # What is to wait for longer than any is was put off by a clock that was ahead.
    come = Q(not_before=None) | Q(not_before__lte=now) | Q(not_before__gt=now + clock.AHEAD + LONGEST_WAIT)
    idle = Q(~Exists(lost), come, node__in=_heard(now))
    return list(OwedRemoval.objects.filter(Q(job__isnull=False) | idle).select_related("node"))


def even_since(now: datetime) -> datetime | None:
    """Return since when somebody has listened to agents without a gap or a step of the clock; None if not by now.

    A clock that is set ahead shows a gap, as an outage does: neither proves that so much time has passed.
    """
    heard = (now - DEAF_AFTER, now + clock.AHEAD)
    listening = Listener.objects.filter(pk=1, heard_until__range=heard, listening_since__lte=now)
    return listening.values_list("listening_since", flat=True).first()


def leftovers_of(run_refs: Collection[int], now: datetime) -> dict[int, datetime]:
    """Return {run: until when a program of it may still run}, of those lost jobs of which nobody knows the end."""
    jobs = Job.objects.filter(run_ref__in=run_refs, may_run_until__gt=now, presumed_ended_at=None)
    return dict(jobs.order_by().values_list("run_ref").annotate(until=Max("may_run_until")))


def leftover_nodes(run_refs: Collection[int], *, since: datetime, before: datetime) -> list[str]:
    """Return the names of the nodes on which a lost program of one of these runs may have run between two times."""
    jobs = Job.objects.filter(run_ref__in=run_refs, may_run_until__gt=since, ended_at__lt=before)
    return sorted(set(jobs.values_list("node__name", flat=True)))


def troubles_of(node_ids: Collection[int]) -> dict[int, list[Trouble]]:
    """Return {node: what its agent says is wrong there} of those nodes where something is."""
    serving = Agent.objects.filter(node_id__in=node_ids, retired_at=None).exclude(troubles=[])
    return {node: troubles.read(records) for node, records in serving.values_list("node_id", "troubles")}


def rivals_of(node_ids: Collection[int], now: datetime) -> dict[int, list[AgentInstance]]:
    """Return {node: the processes that want to work for it, too, and are refused now}, of nodes with any."""
    refused = AgentInstance.objects.filter(
        agent__node_id__in=node_ids, agent__retired_at=None, refused_last_at__gt=now - RIVAL_FOR
    ).exclude(pk=F("agent__instance_id"))
    rivals: dict[int, list[AgentInstance]] = {}
    for instance in refused.select_related("agent"):
        rivals.setdefault(instance.agent.node_id, []).append(instance)
    return rivals


def jobs_of_run(run_ref: int) -> QuerySet[Job]:
    """Return a run's jobs by stage, with node, output, collected files and facts."""
    jobs = Job.objects.filter(run_ref=run_ref).select_related("node", "output", "facts")
    return jobs.prefetch_related("collected")


def has_job(node_id: int, job_id: UUID) -> bool:
    """Return whether a node has a job of this id."""
    return Job.objects.filter(pk=job_id, node_id=node_id).exists()


def jobs_for(user: User) -> QuerySet[Job]:
    """Return the jobs on the nodes of the user's teams, the latest first; of their outputs only the sizes."""
    jobs = Job.objects.select_related("node").order_by("-created_at", "pk")
    sizes = {name: F(f"output__{name}") for name in ("stdout_bytes", "stderr_bytes", "truncated", "cut_on_way")}
    return of_own_nodes(jobs.annotate(**sizes), user)


def facts_for(user: User) -> QuerySet[FactSnapshot]:
    """Return the facts of the nodes of the user's teams."""
    return of_own_nodes(FactSnapshot.objects.select_related("node"), user)


def jobs_to_attend() -> dict[int, list[str]]:
    """Return {node: ids of the jobs that its agent must be called for, to be started or stopped}."""
    due = Q(state=Job.State.QUEUED) | Q(stop_requested_at__isnull=False)
    jobs: dict[int, list[str]] = {}
    for node_id, pk in Job.objects.filter(due, state__in=Job.OPEN_STATES).values_list("node_id", "pk"):
        jobs.setdefault(node_id, []).append(str(pk))
    return jobs


def agents_with_state(user: User) -> QuerySet[Agent]:
    """Return the agents of the user's teams, each with `busy`; ask `agent.state(lost_before=…, busy=agent.busy)`."""
    agents = Agent.objects.select_related("node__team", "node__testbed__site")
    return rights.visible(with_busy(agents), user, path="node__team")


def with_busy(agents: QuerySet[Agent]) -> QuerySet[Agent]:
    """Return agents annotated with `busy`: whether one of their jobs is under way; and with `late_at`."""
    return agents.annotate(busy=_under_way("node"), late_at=Agent.late())


def in_state(agents: QuerySet[Agent], state: AgentState, now: datetime) -> QuerySet[Agent]:
    """Return those agents, annotated with `busy`, that are in a state; the same rules as `Agent.state`."""
    return agents.filter(_state_filter("", "busy", state, now))


def nodes_in_state(nodes: QuerySet[Node], state: AgentState, now: datetime) -> QuerySet[Node]:
    """Return those nodes whose agents are in a state; a node without an agent counts as one never seen."""
    condition = _state_filter("agent__", "agent_is_busy", state, now)
    if state == AgentState.NEVER_SEEN:
        condition |= Q(agent__isnull=True)
    return nodes.annotate(agent_is_busy=_under_way("pk")).filter(condition)


def node_agents(nodes: Iterable[Node], now: datetime) -> list[NodeAgent]:
    """Return the nodes with their agents and states; a node without an agent has one that was never seen."""
    nodes = list(nodes)
    agent_rows = with_busy(Agent.objects.filter(node__in=nodes)).select_related("instance")
    agents = {agent.node_id: agent for agent in agent_rows}
    rivals, lost_before = rivals_of(agents, now), Listener.lost_before(now)
    rows = [NodeAgent(node, agents.get(node.pk), _state(agents.get(node.pk), lost_before)) for node in nodes]
    for row in rows:
        row.troubles.extend(troubles.read(row.agent.troubles) if row.agent else ())
        row.rivals.extend(rivals.get(row.node.pk, ()))
    return rows


def leftover_jobs(node_id: int, now: datetime) -> QuerySet[Job]:
    """Return the lost jobs of a node whose programs may still run, the one that may run longest first."""
    jobs = Job.objects.filter(node_id=node_id, may_run_until__gt=now, presumed_ended_at=None)
    return jobs.order_by("-may_run_until")


def _under_way(node: str) -> Exists:
    return Exists(Job.objects.filter(node=OuterRef(node), state__in=_UNDER_WAY))


def _lost(path: str, now: datetime) -> Q:
    lost_before = Listener.lost_before(now)
    return Agent.silent(path, lost_before) if lost_before else Q(pk__in=())


def _state_filter(path: str, busy: str, state: AgentState, now: datetime) -> Q:
    if state == AgentState.RETIRED:
        return Q(**{f"{path}retired_at__isnull": False})
    serving = Q(**{f"{path}retired_at__isnull": True, f"{path}isnull" if path else "pk__isnull": False})
    if state == AgentState.NEVER_SEEN:
        return serving & Q(**{f"{path}last_seen_at__isnull": True})
    lost = _lost(path, now)
    if state == AgentState.LOST:
        return serving & lost
    return serving & ~lost & Q(**{f"{path}last_seen_at__isnull": False, busy: state == AgentState.BUSY})


def latest_facts(node_ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return {node: what its own agent said last} of those nodes whose agents said anything."""
    rows = FactSnapshot.objects.own().filter(node_id__in=list(node_ids)).order_by("node_id", "-created_at")
    return {node: sound(facts) for node, facts in rows.distinct("node_id").values_list("node_id", "facts")}


def facts_of_runs(node_ids: Iterable[int], run_refs: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return {node: facts} for conclusions on these runs: what their archive brought, else its agent's latest."""
    nodes = list(node_ids)
    brought = FactSnapshot.objects.brought(run_refs).filter(node_id__in=nodes).order_by("node_id", "-created_at")
    snapshots = brought.distinct("node_id").values_list("node_id", "facts")
    return latest_facts(nodes) | {node: sound(facts) for node, facts in snapshots}


def fact_history(node: Node, limit: int = 50) -> list[tuple[FactSnapshot, list[FactChange]]]:
    """Return a node's facts, the newest first, each with what changed against the one before."""
    snapshots = list(FactSnapshot.objects.own().filter(node=node)[: limit + 1])
    history = []
    for place, snapshot in enumerate(snapshots):
        older = snapshots[place + 1].facts if place + 1 < len(snapshots) else None
        history.append((snapshot, [] if older is None else changes_between(older, snapshot.facts)))
    return history[:limit]


def changes_between(before: dict[str, Any], after: dict[str, Any]) -> list[FactChange]:
    """Return what differs, by path; members of lists are known by their name, target or place."""
    old, new = (dict(_flattened(with_plain_versions(facts))) for facts in (before, after))
    paths = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    return [FactChange(path, old.get(path), new.get(path)) for path in paths]


def _flattened(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flattened(inner, f"{path} › {name}" if path else str(name))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for place, item in enumerate(value):
            name = (item.get("name") or item.get("target") if isinstance(item, dict) else None) or place
            yield from _flattened(item, f"{path} › {name}")
    elif isinstance(value, list):
        yield path, ", ".join(map(str, value))
    else:
        yield path, value


def _state(agent: Any, lost_before: datetime | None) -> AgentState:
    return agent.state(lost_before=lost_before, busy=agent.busy) if agent else AgentState.NEVER_SEEN
