"""Which way the data of a figure went: from the tool's first role to its second, or back.

`Tool.backwards_at` and `Tool.second_sends` declare it; whoever sets figures of two directions apart asks here.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from apps.bench.toolkit.tool import Tool

Item = TypeVar("Item")

# A figure of the way back, measured while data went forth, has the name of the other and this.
BACK = "_reverse"
# The value of a direction with which data goes both ways at once.
BOTH = "both"
# A figure is of one way if its unit is one of these, or it counts what was lost or sent again on that way.
_RATES = frozenset({"bit/s", "B/s"})
_COUNTS = frozenset({"retransmits", "out_of_order"})


def goes_back(tool: Tool | None, parameters: Mapping[str, Any], metric: str = "") -> bool:
    """Return whether the data of a metric's figure went from the second role to the first.

    Of a tool that is gone (None) its parameters tell as iperf3's do. A round trip is taken for a way forth.
    """
    name, value = tool.backwards_at if tool else Tool.backwards_at
    is_back = parameters.get(name) == value
    sends = bool(tool and tool.second_sends)
    return (is_back != sends) != metric.endswith(BACK)


def base_of(metric: str) -> str:
    """Return what a metric of the way back is called where data goes forth."""
    return metric.removesuffix(BACK)


def has_way(tool: Tool, metrics: Iterable[str]) -> bool:
    """Return whether any of these metrics is of data that goes one way; times of round trips are of both."""
    names = set(metrics)
    return any(item.name in names and (item.unit in _RATES or base_of(item.name) in _COUNTS) for item in tool.metrics)


def in_order(names: Iterable[Item], *, is_back: bool) -> list[Item]:
    """Return what is said of the roles in the order of the data: who sends, who receives, and others behind them."""
    listed = list(names)
    return [listed[1], listed[0], *listed[2:]] if is_back and len(listed) > 1 else listed
