"""UDP loss against offered load: rates swept up to a share of the capacity, loss and jitter drawn, the knee found."""

from collections.abc import Sequence

from apps.bench.text import _
from apps.bench.toolkit import Parameter
from apps.campaigns.recipes.base import (
    CAPACITY,
    CLIENT,
    DURATION,
    REPETITIONS,
    SERVER,
    Recipe,
    RecipeChoice,
    Step,
    rate_text,
)

HIGHEST = Parameter(
    "highest",
    "float",
    _("Highest load"),
    help=_("As a share of the capacity; above 1 only where the owners of the links allow it."),
    default=1.0,
    minimum=0.1,
    maximum=2.0,
)
LOADS = Parameter("loads", "integer", _("Loads"), default=10, unit="count", minimum=2, maximum=100)
LENGTH = Parameter(
    "length",
    "size",
    _("Datagram payload"),
    help=_("At most the path's MTU less 48 bytes, so that nothing is fragmented."),
    default=1448,
    unit="B",
    minimum=16,
    maximum=65507,
)


def steps(choice: RecipeChoice) -> Sequence[Step]:
    """Return the one experiment: equal steps of the load up to the highest."""
    top, count = choice.capacity() * choice.values["highest"], choice.values["loads"]
    rates = ", ".join(rate_text(top * index / count) for index in range(1, count + 1))
    return (
        Step(
            name="Loss against load",
            tool="iperf3-udp",
            roles={"client": "client", "server": "server"},
            fixed={"duration": choice.text(DURATION), "length": choice.text(LENGTH)},
            factors={"rate": rates},
            repetitions=choice.values["repetitions"],
        ),
    )


RECIPE = Recipe(
    slug="udp-load",
    name=_("UDP loss against offered load"),
    summary=_("Loss and jitter of datagrams from a light load up to the path's capacity, and where loss begins."),
    parts=(CLIENT, SERVER),
    parameters=(CAPACITY, HIGHEST, LOADS, LENGTH, DURATION, REPETITIONS),
    steps=steps,
)
