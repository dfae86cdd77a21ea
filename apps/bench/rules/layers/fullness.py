"""Whether a file system's rate fills what a layer beneath gives, leaves room there, or is more than that can give."""

from apps.bench.rules.base import DISK, NETWORK
from apps.bench.rules.layers.beneath import Beneath
from apps.bench.rules.layers.questions import Level

# A rate of this share of what a layer gives alone fills it (a network: of what its links carry, which is known to a
# percent or so); below the other the layer is not the limit.
FULL, ROOM = 0.85, 0.70
FULL_NETWORK = 0.90
# A network of which so much is used is full, whatever else was at its limit.
SURELY_FULL = 0.95
# Disks that were not measured with as many tasks at once may lose so much of their rate by each further one.
LOST_BY_TASK = 0.05
# A rate above what lies beneath by this much did not come from there; of a figure that nobody repeated by this much.
BEYOND, BEYOND_ONCE = 1.05, 1.15


def is_chance(level: Level, beneath: Beneath) -> bool:
    """Return whether a rate that an end held may have come near a layer's by chance: not where a network is full."""
    return beneath.layer != NETWORK or level.value < SURELY_FULL * beneath.value


def is_filled(level: Level, beneath: Beneath) -> bool:
    """Return whether a rate is all that a layer gives, and no more than it can.

    What may give more than measured (to more tasks at once, too), or is only said of disks (of which direction, with
    how many tasks?), can be ruled out as the limit, and not be found to be it.
    """
    if beneath.is_floor or (beneath.is_stated and beneath.layer == DISK) or not is_alike(level, beneath):
        return False
    if beneath.swing and not beneath.is_stated:
        # Which of its levels it had meanwhile nobody knows.
        return False
    if beneath.times > 1 and level.value < FULL_NETWORK * beneath.links:
        # One client's rate times their number is nobody's measurement: the links as described must say so, too.
        return False
    threshold = FULL_NETWORK if beneath.layer == NETWORK else FULL
    # The best of several settings comes near a line by chance: it must lie beyond it whatever was looked at.
    low = level.surely or (level.interval[0] if level.interval else level.value)
    return min(level.value, low) >= threshold * beneath.value and not is_over(level, beneath)


def is_near_full(level: Level, network: Beneath | None, disk: Beneath | None) -> bool:
    """Return whether a rate comes to what network or disk need to be called full at their lower level."""
    layers = ((network, FULL_NETWORK), (disk, FULL))
    return any(item is not None and level.value >= least * item.least for item, least in layers)


def has_room(level: Level, beneath: Beneath) -> bool:
    """Return whether a layer surely gives more than a rate, whichever of its levels it has."""
    if beneath.is_other_way:
        return False
    more = 0 if is_alike(level, beneath) else level.tasks - (beneath.tasks or level.tasks)
    room = ROOM / (1 + LOST_BY_TASK * more)
    high = level.interval[1] if level.interval else level.value
    return level.value < room * beneath.sure and high < FULL * beneath.sure


def is_over(level: Level, beneath: Beneath) -> bool:
    """Return whether a rate is more than a layer's figure, which therefore is no share of what that gives."""
    return level.value > BEYOND * beneath.most


def is_over_all(level: Level, beneath: Beneath | None) -> bool:
    """Return whether a rate is more than the figure of a layer of which not only a part was measured."""
    return beneath is not None and not beneath.is_part and is_over(level, beneath)


def is_alike(level: Level, beneath: Beneath | None) -> bool:
    """Return whether a layer was measured with as many tasks at once as a file system."""
    return beneath is None or beneath.tasks is None or level.tasks <= beneath.tasks


def exceeds(level: Level, *beneath: Beneath | None) -> bool:
    """Return whether a rate is surely more than some layer beneath can give, so that a cache gave it.

    What a disk is only said to give, or with fewer tasks gave, may be exceeded; what a link is said to carry may not.
    """
    ceilings = [layer for layer in beneath if layer and not layer.is_floor and is_alike(level, layer)]
    return any(_is_beyond(level, layer) for layer in ceilings if layer.layer == NETWORK or not layer.is_stated)


def _is_beyond(level: Level, layer: Beneath) -> bool:
    # What one client had, times their number, others with wider links may exceed.
    max_rate = max(layer.most, layer.links) if layer.times > 1 else layer.most
    if level.interval is None:
        return level.value > BEYOND_ONCE * max_rate
    high = max(max_rate, layer.interval[1]) if layer.interval and not layer.is_stated else max_rate
    return level.value > BEYOND * max_rate and level.interval[0] > high
