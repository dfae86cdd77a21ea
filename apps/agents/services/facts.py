"""Facts: a new row whenever something about a node changed."""

import hashlib
import json
from typing import Any

from django.db import transaction

from apps.agents.models import Agent, FactSnapshot


@transaction.atomic
def record_facts(*, agent_id: int, facts: dict[str, Any], version: str) -> bool:
    """Keep what an agent said of its node; return whether it differs from what it said last."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    agent = Agent.objects.select_for_update(of=("self",)).select_related("facts").get(pk=agent_id)
    changed = agent.facts is None or agent.facts.digest != digest
    if changed:
        agent.facts = FactSnapshot.objects.create(node_id=agent.node_id, digest=digest, facts=facts)
    if changed or agent.version != version:
        agent.version = version
        agent.save(update_fields=["facts", "version", "updated_at"])
    return changed
