"""RFC 6349: path MTU, baseline RTT, bottleneck bandwidth both ways, then TCP with windows taken from these.

Framework for TCP Throughput Testing, sections 3.1 (MTU), 3.2 (RTT and bandwidth, with stateless traffic) and 3.3.
"""

from collections.abc import Sequence

from apps.bench.text import _
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

# Shares of the capacity offered: the bottleneck is found by what arrives, whatever is stated of it.
LOADS = (0.5, 0.8, 0.9, 0.95, 1.0)
# Windows around the bandwidth-delay product, as in section 3.3.1.
WINDOWS = "{0.25, 0.5, 1, 2}"
# IPv6 and UDP headers: a datagram of this much less than the path MTU is never fragmented.
HEADERS = 48
# What a datagram may hold; a loopback's MTU is larger.
DATAGRAM = 65507

PATH_MTU, RTT = "Path MTU", "Baseline RTT"
FORWARD, REVERSE = "Bottleneck forward", "Bottleneck reverse"
_ROLES = {"client": "client", "server": "server"}


def steps(choice: RecipeChoice) -> Sequence[Step]:
    """Return the stages of the procedure, each waiting for the one before it."""
    capacity, duration = choice.capacity(), choice.text(DURATION)
    repetitions = choice.values["repetitions"]
    loads = ", ".join(rate_text(capacity * load) for load in LOADS)

    def bottleneck(name: str, direction: str, after: str) -> Step:
        fixed = {
            "direction": direction,
            "duration": duration,
            "length": f'=min("{PATH_MTU}".path_mtu) - {HEADERS}',
        }
        return Step(name=name, tool="iperf3-udp", roles=_ROLES, fixed=fixed, factors={"rate": loads}, after=after)

    def windows(name: str, direction: str, measured: str, after: str) -> Step:
        formula = f'=bdp(max("{measured}".goodput), min("{RTT}".rtt_min)) * {WINDOWS}'
        fixed = {"direction": direction, "duration": duration}
        return Step(
            name=name,
            tool="iperf3-tcp",
            roles=_ROLES,
            fixed=fixed,
            factors={"window": formula},
            repetitions=repetitions,
            after=after,
        )

    return (
        Step(name=PATH_MTU, tool="tracepath", roles=_ROLES),
        Step(
            name=RTT,
            tool="ping",
            roles=_ROLES,
            fixed={"count": "20", "interval": "0.2 s"},
            repetitions=3,
            after=PATH_MTU,
        ),
        bottleneck(FORWARD, "forward", RTT),
        bottleneck(REVERSE, "reverse", FORWARD),
        windows("TCP windows forward", "forward", FORWARD, REVERSE),
        windows("TCP windows reverse", "reverse", REVERSE, "TCP windows forward"),
    )


RECIPE = Recipe(
    slug="rfc6349",
    name=_("RFC 6349: TCP throughput"),
    summary=_(
        "Path MTU, baseline RTT, bottleneck bandwidth both ways by UDP, then TCP windows taken from what those "
        "measured; each TCP run has its transfer-time ratio, efficiency and buffer delay."
    ),
    parts=(CLIENT, SERVER),
    parameters=(CAPACITY, DURATION, REPETITIONS),
    steps=steps,
)
