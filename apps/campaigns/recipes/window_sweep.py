"""A sweep of TCP's window around the bandwidth-delay product, which the RTT measured first tells."""

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

STREAMS = Parameter(
    "streams",
    "text",
    _("Streams"),
    help=_("One number, or several with commas between: 1, 4, 16."),
    default="1",
)
RTT = "Baseline RTT"
WINDOWS = "{0.125, 0.25, 0.5, 1, 2, 4}"
_ROLES = {"client": "client", "server": "server"}


def steps(choice: RecipeChoice) -> Sequence[Step]:
    """Return the baseline and the sweep that waits for it."""
    formula = f'=bdp({rate_text(choice.capacity())}, min("{RTT}".rtt_min)) * {WINDOWS}'
    return (
        Step(name=RTT, tool="ping", roles=_ROLES, fixed={"count": "20", "interval": "0.2 s"}, repetitions=2),
        Step(
            name="Windows around the BDP",
            tool="iperf3-tcp",
            roles=_ROLES,
            fixed={"duration": choice.text(DURATION)},
            factors={"window": formula, "streams": choice.values["streams"]},
            repetitions=choice.values["repetitions"],
            after=RTT,
        ),
    )


RECIPE = Recipe(
    slug="window-sweep",
    name=_("Window sweep around the BDP"),
    summary=_("TCP windows from an eighth of the bandwidth-delay product to four times it, the RTT measured first."),
    parts=(CLIENT, SERVER),
    parameters=(CAPACITY, STREAMS, DURATION, REPETITIONS),
    steps=steps,
)
