"""What agents say is wrong on their nodes; a node that cannot measure for its own reason is set aside meanwhile."""

import logging
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.agents import troubles, wake
from apps.agents.models import Agent
from apps.agents.troubles import Trouble
from apps.core import queue

logger = logging.getLogger(__name__)


@transaction.atomic
def record_troubles(*, agent_id: int, agent_troubles: Sequence[Trouble], now: datetime) -> bool:
    """Keep what is wrong on an agent's node now, with since when; return whether that is news.

    Once nothing keeps the node from measuring any more, what waits for it is started.
    """
    agent = Agent.objects.select_for_update(no_key=True, of=("self",)).select_related("node").get(pk=agent_id)
    before = troubles.read(agent.troubles)
    if troubles.are_same(before, agent_troubles):
        return False
    since = {trouble.code: trouble.since for trouble in before}
    after = [Trouble(one.code, one.detail, since.get(one.code) or now) for one in agent_troubles]
    was_aside, is_aside = agent.set_aside_at is not None, any(one.stops_measuring for one in after)
    agent.troubles = [one.as_json() for one in after]
    agent.set_aside_at = (agent.set_aside_at or now) if is_aside else None
    agent.save(update_fields=["troubles", "set_aside_at", "updated_at"])
    for one in after:
        if one.code not in since:
            logger.warning("%s", one.words(agent.node.name))
    if was_aside and not is_aside:
        logger.warning("The agent on %s can measure again", agent.node.name)
        queue.send(queue.SCHEDULE)
    wake.look_again(agent.node_id)
    return True
