"""Facts: a new row whenever something about a node changed."""

import hashlib
import logging
from typing import Any

from django.db import transaction

from apps.agents.models import Agent, FactSnapshot
from apps.bench import strict_json
from apps.bench.network import addresses
from apps.core.limits import policies
from apps.testbeds.services import note_reports

logger = logging.getLogger(__name__)


@transaction.atomic
def record_facts(*, agent_id: int, facts: dict[str, Any], version: str) -> bool:
    """Keep what an agent said of its node; return whether it differs from what it said last."""
    text = strict_json.dumps(facts, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    agent = Agent.objects.select_for_update(of=("self",)).select_related("facts", "node").get(pk=agent_id)
    changed = agent.facts is None or agent.facts.digest != digest
    if changed and _are_too_many(agent, size=len(text.encode())):
        return False
    if changed:
        agent.facts = FactSnapshot.objects.create(node_id=agent.node_id, digest=digest, facts=facts)
        note_reports(node=agent.node_id, addresses={*addresses.of_interfaces(facts)})
    if changed or agent.version != version:
        agent.version = version
        agent.save(update_fields=["facts", "version", "updated_at"])
    return changed


def _are_too_many(agent: Agent, size: int) -> bool:
    """Say whether a team's agents, or this one in bytes, told so much that it is not kept now.

    The agent is answered as ever, so that it goes on measuring, and its next report tells it again: one that was
    refused would gather facts anew beside what it measures.
    """
    who = {"facts": f"team:{agent.node.team_id}", "fact-bytes": f"node:{agent.node_id}"}
    exceeded = [state.policy for state in policies.charge(who, {"fact-bytes": size}) if state.is_exceeded]
    if exceeded:
        text = "Facts of node %s are not kept (%s): more was told that is new than is kept in the time"
        logger.warning(text, agent.node_id, ", ".join(exceeded))
    return bool(exceeded)
