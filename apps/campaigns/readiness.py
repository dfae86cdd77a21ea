"""What is to be said of nodes that can not measure now; who knows it is named in the settings."""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.utils.module_loading import import_string

from apps.bench.text import Message
from apps.campaigns.expansion import Expansion


def warnings(*, expansions: Sequence[Expansion], now: datetime) -> list[Message]:
    """Return a message for each node that could not start a measurement at `now`, and for what nodes will refuse.

    Campaigns know nothing of agents: NODE_READINESS (nodes, now) and PLAN_READINESS (expansions) name functions that
    do.
    """
    nodes = {node.pk: node for expansion in expansions for cast in expansion.casts for node in cast.nodes}
    unready = import_string(settings.NODE_READINESS)(nodes=list(nodes.values()), now=now)
    return [*unready, *import_string(settings.PLAN_READINESS)(expansions=expansions)]


def refusals(*, expansions: Sequence[Expansion]) -> list[Message]:
    """Return a message for each thing for which nothing of it may begin, as PLAN_REFUSALS (expansions) knows it."""
    messages: list[Message] = import_string(settings.PLAN_REFUSALS)(expansions=expansions)
    return messages
