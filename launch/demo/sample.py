"""The sample campaign: a path's RTT and MTU, a sweep of the TCP window, and a sweep of the streams."""

from typing import Any

Json = dict[str, Any]

NAME = "Sample: how to fill a long fat network"
# The window that nobody asks for, which is there at present: what others gain is a gain over it.
AUTOMATIC = 0
GOAL = "Find the TCP window and the number of streams that fill the path, and what limits it before."


def experiments(client: int, server: int) -> list[Json]:
    """Return the experiments as REST bodies (less the campaign) between two nodes, by their ids."""
    roles = [{"role": "client", "node": client}, {"role": "server", "node": server}]
    iperf3 = {"tool": "iperf3-tcp", "roles": roles, "order": "randomised", "seed": 20090401}
    return [
        {
            "name": "Baseline RTT",
            "tool": "ping",
            "roles": roles,
            "fixed": {"count": "10", "interval": "0.2 s"},
            "repetitions": 2,
        },
        {"name": "Path MTU", "tool": "tracepath", "roles": roles, "repetitions": 1},
        {
            **iperf3,
            "name": "Window sweep",
            "fixed": {"duration": "2 s", "omit": "1 s"},
            "factors": [{"name": "window", "expression": f"{AUTOMATIC}, 32KiB..4MiB x2"}],
            "repetitions": 3,
        },
        {
            **iperf3,
            "name": "Stream sweep at a small window",
            "fixed": {"duration": "2 s", "omit": "1 s", "window": "64 KiB"},
            "factors": [{"name": "streams", "expression": "1..16 x2"}],
            "repetitions": 3,
        },
    ]
