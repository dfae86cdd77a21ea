"""Layers that were measured one after the other: what one gave then it need not give now."""

from collections.abc import Sequence

from apps.bench.rules.base import DISK, NETWORK
from apps.bench.rules.layers.beneath import Beneath
from apps.bench.rules.layers.questions import Level
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# So sure it is at most that a layer has room which was not measured in turn with what stands on it, nor around it.
MOST_NOT_IN_TURN = 0.6
# The same where one layer beneath is only described, or two: less sure than what was measured at another time.
MOST_DESCRIBED = {1: 0.55, 2: 0.5}
_EARLIER = {
    NETWORK: _(
        "The network alone was measured before this, not in turn with it: what it carried then, such as by the credit"
        " of a shaper, may have been used up since."
    ),
    DISK: _(
        "The disks alone were measured before this, not in turn with it: what they gave then, such as by the credit"
        " of a cloud disk or from a cache, may have been used up since."
    ),
}
_LATER = {
    NETWORK: _(
        "The network alone was measured after this, not in turn with it: it may have carried less or more meanwhile."
    ),
    DISK: _(
        "The disks alone were measured after this, not in turn with it: they may have given less or more meanwhile."
    ),
}
# What nobody measured may give less than it is described to.
_DESCRIBED = {
    NETWORK: _("What the network carries is only described: if it carries less, it may be the limit."),
    DISK: _("What the disks give is only described: if they give less, they may be the limit."),
}
_ANOTHER = _(
    "The disks alone had %(earlier)s before this and %(value)s after it: what was measured after it is what counts."
)


def not_in_turn(level: Level, layers: Sequence[Beneath | None]) -> tuple[Beneath, ...]:
    """Return the layers that were measured in other experiments than a rate, all of it before or all of it after."""
    return tuple(
        layer
        for layer in layers
        if layer is not None
        and layer.trials
        and layer.when.is_apart_from(level.when)
        and not layer.when.is_around(level.when)
    )


def of_order(level: Level, layers: Sequence[Beneath | None]) -> list[Message]:
    """Return that layers were measured before or after a rate, where that is known."""
    return [
        Message((_LATER if layer.when.is_after(level.when) else _EARLIER)[layer.layer])
        for layer in not_in_turn(level, layers)
    ]


def of_another_level(layers: Sequence[Beneath | None]) -> list[Message]:
    """Return that disks had another rate before than right after the file system was measured."""
    return [
        Message(
            _ANOTHER,
            {"earlier": format_quantity(layer.earlier, "B/s"), "value": format_quantity(layer.value, "B/s")},
        )
        for layer in layers
        if layer is not None and layer.earlier
    ]


def of_described(layers: Sequence[Beneath | None]) -> list[Message]:
    """Return that layers are only described."""
    return [Message(_DESCRIBED[layer.layer]) for layer in layers if layer is not None and layer.is_stated]
