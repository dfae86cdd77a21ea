"""Figures of reading that a file system's servers may have given from their memory, whatever the clients did."""

from collections.abc import Collection

from apps.agents.models import Agent
from apps.bench.toolkit import Reading
from apps.bench.validity import add_flags, caches
from apps.campaigns.models import Lane
from apps.testbeds import queries as inventory
from apps.testbeds.models import FileSystem


def memory_of(file_system: FileSystem | None, clients: Collection[int]) -> int | None:
    """Return the memory (B) that a file system's servers have together, as far as their agents' facts tell.

    None where they tell nothing, or where none of those who measure (ids of nodes) does so from elsewhere.
    """
    servers = {node.pk for node in inventory.servers(file_system)} if file_system else set()
    if not servers or set(clients) <= servers:
        return None
    facts = Agent.objects.filter(node__in=servers, facts__isnull=False).values_list("facts__facts", flat=True)
    return sum(caches.ram_of(own) or 0 for own in facts) or None


def judge(reading: Reading, lane: Lane) -> Reading:
    """Return the reading of a lane, flagged if its files were just written and fit into the servers' memory."""
    clients = {pk for members in lane.roles.values() for pk in members}
    return add_flags(reading, caches.server_flags(reading, memory_of(lane.experiment.file_system, clients)), {})
