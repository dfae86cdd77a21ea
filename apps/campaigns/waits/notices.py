"""Tell the viewers of campaigns when nodes that these need are ready no more, or again."""

from collections import defaultdict
from datetime import datetime

from apps.campaigns import live
from apps.campaigns.models import Campaign, ExperimentRole
from apps.testbeds.obstacles import obstacles


def tell_waits(*, now: datetime) -> list[int]:
    """Tell the viewers of each campaign under way whose nodes changed since the last look; return which ones.

    An agent that falls silent does nothing that could be told of, so that somebody has to look.
    """
    nodes = _nodes_of_open_campaigns()
    keeping = obstacles(nodes={pk for members in nodes.values() for pk in members}, now=now)
    present = {f"{pk}:{obstacle.code}" for pk, obstacle in keeping.items()}
    changed = {int(entry.partition(":")[0]) for entry in present ^ live.swap("obstacles", present)}
    concerned = [pk for pk, members in nodes.items() if members & changed]
    for campaign_id in concerned:
        live.publish(campaign_id, "waits")
    return concerned


def _nodes_of_open_campaigns() -> dict[int, set[int]]:
    """Return {campaign under way: the nodes that may play a role in it}."""
    roles = ExperimentRole.objects.filter(experiment__campaign__state__in=Campaign.OPEN_STATES).order_by()
    rows = roles.values_list("experiment__campaign", "node", "cluster__nodes").distinct()
    nodes: dict[int, set[int]] = defaultdict(set)
    for campaign, *members in rows:
        nodes[campaign].update(pk for pk in members if pk is not None)
    return nodes
