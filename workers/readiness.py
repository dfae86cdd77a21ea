"""What a campaign should be told of its nodes' agents."""

from collections.abc import Sequence
from datetime import datetime

from apps.agents import queries
from apps.agents.models import Agent, Listener
from apps.agents.obstacles import WARNINGS, obstacle_of
from apps.bench.text import Message, _
from apps.testbeds.models import Node

_OUTDATED = _("The agent on %(node)s is of an earlier version than this service: its page says how to update it.")
_RIVAL = _("%(host)s claims to be the agent of %(node)s, too, and is refused: the agent's page says what to do.")


def node_warnings(*, nodes: Sequence[Node], now: datetime) -> list[Message]:
    """Return a message for each node whose agent could not start a measurement at `now`, or not all of them."""
    agents = {agent.node_id: agent for agent in Agent.objects.filter(node__in=[node.pk for node in nodes])}
    troubles = queries.troubles_of(agents)
    rivals = queries.rivals_of(agents, now)
    owing, lost_before = queries.owing_nodes(), Listener.lost_before(now)
    warnings = [
        Message(WARNINGS[obstacle.code], {"node": node.name})
        for node in nodes
        if (obstacle := obstacle_of(agents.get(node.pk), lost_before, owes_since=owing.get(node.pk)))
        and obstacle.code in WARNINGS
    ]
    for node in nodes:
        warnings += [trouble.words(node.name) for trouble in troubles.get(node.pk, ())]
        warnings += [Message(_RIVAL, {"node": node.name, "host": str(rival)}) for rival in rivals.get(node.pk, ())]
    outdated = {node for node, agent in agents.items() if agent.is_outdated}
    return warnings + [Message(_OUTDATED, {"node": node.name}) for node in nodes if node.pk in outdated]
