"""What keeps nodes from measuring as far as their agents are concerned: each reason is one entry of a table."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from apps.agents import queries
from apps.agents.models import LOST_AFTER, Agent, Listener
from apps.agents.models.agents import AgentState
from apps.bench.text import _
from apps.testbeds.obstacles import Obstacle


@dataclass(frozen=True)
class _ObstacleKind:
    """What is said of an obstacle: a few words in a drawing, a reason to wait, a warning before a launch."""

    code: str
    label: str
    text: str
    warning: str
    is_fault: bool = False


# None stands for a node without an agent. What is not listed can take a job (`queries.ready_nodes`).
_KINDS: dict[AgentState | None, _ObstacleKind] = {
    None: _ObstacleKind(
        "no-agent",
        _("no agent"),
        _("waiting for an agent to be enrolled on %(for)s"),
        _("%(node)s has no agent: its trials wait until one is enrolled."),
    ),
    AgentState.NEVER_SEEN: _ObstacleKind(
        "agent-never-seen",
        _("agent not started"),
        _("waiting for the agent on %(for)s to be started"),
        _("The agent on %(node)s was never heard of: its trials wait until it is started."),
    ),
    AgentState.LOST: _ObstacleKind(
        "agent-lost",
        _("agent lost"),
        _("waiting for the agent on %(for)s"),
        _("The agent on %(node)s is lost: its trials wait until it is heard of again."),
        is_fault=True,
    ),
    AgentState.RETIRED: _ObstacleKind(
        "agent-retired",
        _("agent retired"),
        _("waiting for another agent on %(for)s in place of the retired one"),
        _("The agent on %(node)s is retired: its trials wait until another is enrolled."),
    ),
}
# The agent calls, and says that nothing can be measured on its node now; what it is, its troubles tell.
_TROUBLED = _ObstacleKind(
    "node-trouble",
    _("node in trouble"),
    _("waiting until the agent on %(for)s can measure again: its page tells what is wrong there"),
    "",
    is_fault=True,
)
# Nothing is measured beside what is removed.
_OWING = _ObstacleKind(
    "files-to-remove",
    _("files to remove"),
    _("waiting until the agent on %(for)s has removed what an earlier run left there"),
    _("An earlier run left files on %(node)s: its trials wait until its agent has removed them."),
)
# What troubles say themselves needs no warning beside theirs.
WARNINGS = {kind.code: kind.warning for kind in (*_KINDS.values(), _OWING)}


def obstacles_of(*, nodes: Collection[int], now: datetime) -> dict[int, Obstacle]:
    """Return {id of a node: what keeps it from measuring at `now`}, in three queries."""
    agents = {agent.node_id: agent for agent in Agent.objects.filter(node__in=nodes).annotate(late_at=Agent.late())}
    owing, lost_before = queries.owing_nodes(), Listener.lost_before(now)
    pairs = ((node, obstacle_of(agents.get(node), lost_before, owes_since=owing.get(node))) for node in nodes)
    return {node: obstacle for node, obstacle in pairs if obstacle}


def obstacle_of(agent: Agent | None, lost_before: datetime | None, *, owes_since: datetime | None) -> Obstacle | None:
    """Return what keeps a node with this agent (or without any) from measuring, None if nothing does.

    `owes_since` says since when files of an earlier run are to be removed there first, if any are.
    """
    state = agent.state(lost_before=lost_before, busy=False) if agent else None
    kind = _KINDS.get(state) or (_TROUBLED if agent and agent.set_aside_at else _OWING if owes_since else None)
    if kind is None:
        return None
    return Obstacle(
        code=kind.code,
        label=kind.label,
        text=kind.text,
        since=owes_since if kind is _OWING else _since(agent, state),
        heard_at=agent.last_seen_at if agent and kind is not _OWING else None,
        is_fault=kind.is_fault,
    )


def _since(agent: Agent | None, state: AgentState | None) -> datetime | None:
    if agent is None:
        return None
    if state == AgentState.RETIRED:
        return agent.retired_at
    if state not in _KINDS:
        return agent.set_aside_at
    if state == AgentState.LOST and agent.last_seen_at:
        return agent.last_seen_at + LOST_AFTER
    return agent.created_at
