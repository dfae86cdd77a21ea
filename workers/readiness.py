"""What a campaign should be told of its nodes' agents."""

from collections.abc import Sequence
from datetime import datetime

from apps.agents.models import Agent
from apps.agents.models.agents import AgentState
from apps.bench.text import Message, _
from apps.testbeds.models import Node

_PROBLEMS = {
    None: _("%(node)s has no agent: its trials wait until one is enrolled."),
    AgentState.NEVER_SEEN: _("The agent on %(node)s was never heard of: its trials wait until it is started."),
    AgentState.LOST: _("The agent on %(node)s is lost: its trials wait until it is heard of again."),
    AgentState.RETIRED: _("The agent on %(node)s is retired: its trials wait until another is enrolled."),
}
_OUTDATED = _("The agent on %(node)s is of an earlier version than this service: its page says how to update it.")


def node_warnings(*, nodes: Sequence[Node], now: datetime) -> list[Message]:
    """Return a message for each node whose agent could not start a measurement at `now`, or not all of them."""
    agents = list(Agent.objects.filter(node__in=[node.pk for node in nodes]))
    states = {agent.node_id: agent.state(now=now, busy=False) for agent in agents}
    outdated = {agent.node_id for agent in agents if agent.is_outdated}
    warnings = [
        Message(_PROBLEMS[state], {"node": node.name})
        for node in nodes
        if (state := states.get(node.pk)) in _PROBLEMS
    ]
    return warnings + [Message(_OUTDATED, {"node": node.name}) for node in nodes if node.pk in outdated]
