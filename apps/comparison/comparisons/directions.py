"""Between which nodes the data of each lane of a comparison went, and which way."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from apps.bench.toolkit import Tool, goes_back
from apps.campaigns.models import Lane
from apps.results import ways


class DirectedFigures(Protocol):
    """A row of figures: on which lane, and with which parameters."""

    @property
    def lane(self) -> int:
        """Return the lane's id."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Return {name: value} of the trial, as its experiment fixed or swept them."""


Item = TypeVar("Item", bound=DirectedFigures)


def pairs_of(
    rows: Iterable[Item],
    lanes: Mapping[int, Lane],
    tool_of: Callable[[Item], Tool],
    metric: str,
    named: Callable[[int], str],
) -> dict[int, str]:
    """Return {lane: "sender → receiver"} by the names of nodes, "client ↔ server" where data went both ways."""
    sides: dict[int, set[bool]] = defaultdict(set)
    tools: dict[int, Tool] = {}
    for row in rows:
        tool = tools.setdefault(row.lane, tool_of(row))
        sides[row.lane].add(goes_back(tool, row.parameters, metric))
    ends = {}
    for lane, backs in sides.items():
        roles = lanes[lane].roles
        names = {pk: named(pk) for members in roles.values() for pk in members}
        arrow = ways.ONE_WAY if len(backs) == 1 else ways.BOTH_WAYS
        ends[lane] = ways.lane_ends(roles, tools[lane], names, is_back=backs == {True}, arrow=arrow)
    return ends
