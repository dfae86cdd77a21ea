"""What a file system gives to more clients than were measured, and whether one was told that it gives no more."""

from collections.abc import Mapping

from benchmarks.truth.judging.base import Case
from benchmarks.truth.worlds.storage import LOCAL, StorageWorld

# Rates nearer than this are as good as each other.
ENOUGH = 0.93
# More gain little if they have no more than the inverse of this; growth of less than this share of what the clients
# before have has bent.
LITTLE, BENT = 0.8, 0.3
# More clients than any network has room for; and so much of what one client's own way carries is no poor service.
EVERYBODY, MOST = 10**6, 0.6
SERVED = "one client has most of what its own way carries"


def metric_of(case: Case) -> str:
    """Return the metric that a finding speaks of: written or read."""
    metric = str(case.sentence["params"].get("metric") or case.statement.subject.rpartition(" ")[2])
    return "read" if "read" in metric else "write"


def further(case: Case, most: int) -> float:
    """Return the best rate (B/s) of more clients than were measured, up to eight times as many."""
    metric, world = metric_of(case), case.world
    return max(float(world.rate(metric, {"clients": factor * most})) for factor in (1, 2, 4, 8))


def stands_still(case: Case, rates: Mapping[int, float]) -> str:
    """Return why more clients than were measured gain nothing, as far as one was told; "" where they do, or may.

    One was told of a network whose links are described, of disks that were measured, and of growth that bends.
    """
    world: StorageWorld = case.world
    before, last = sorted(rates)[-2:]
    if further(case, last) >= 1.05 * rates[last]:
        return ""
    is_linked = any(link.capacity_bps for link in world.links) and bool(world.file_systems[0].servers)
    if is_linked and rates[last] >= ENOUGH * world.carried(8 * last):
        return "the network is full: more gain nothing"
    has_disk = len(world.servers) == 1 and any(setup.file_system == LOCAL for setup in world.setups)
    if has_disk and rates[last] >= ENOUGH * world.disk[metric_of(case)]:
        return "the disks are full: more gain nothing"
    if rates[last] - rates[before] < BENT * (last - before) * rates[before] / before:
        return f"growth has ended: {rates[before] / 1e6:.4g} MB/s, then {rates[last] / 1e6:.4g} MB/s"
    return ""


def is_poor(case: Case) -> bool:
    """Return whether one client has less than most of what its own way carries."""
    return bool(case.world.rate(metric_of(case), {"clients": 1}) < MOST * case.world.carried(1))
